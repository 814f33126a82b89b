import { uuidOf } from '../../core/ids.ts';
import { type Expecting, invalid, pathsIn, Refusal } from '../../core/refusal.ts';
import type { Account, Quote } from '../../infra/database/rows.ts';
import { statement } from '../../infra/database/statement.ts';
import { type Caller, tokenOf } from '../access/caller.ts';
import { sharedForCallers, visibleRow } from '../access/visible.ts';
import { type CommandPlan, command, type Payments } from '../commands/command.ts';
import { mergePlans } from '../ledger/plan.ts';
import { orderIdOfQuote } from '../orders/order-ids.ts';
import { checkScenario, checkStep, type GivenScenario } from '../orders/scenario.ts';
import { payingRail, requirements, spendOfQuote, start } from './execution.ts';
import { quoteEnd } from './expiry.ts';
import { quotedDestination } from './quote-destination.ts';

interface ExecuteQuote extends Expecting {
  readonly quoteId: string;
  readonly sandboxScenario?: GivenScenario | null | undefined;
}

const at = pathsIn<ExecuteQuote>();

/**
 * Executes a quote before its expiry (specification 4.3). The source is debited, or the rail pulls from an external
 * source, and the payment is PROCESSING; if a policy requires an approval, the payment waits for it as CREATED. The
 * database checks the quote's status and expiry (prisma/functions/commit/check_quotes.sql).
 * @throws Refusal QUOTE_NOT_FOUND, QUOTE_EXPIRED, CONFLICT (already executed), INVALID_INPUT (real-time funded),
 *   INSUFFICIENT_BALANCE, LIMIT_EXCEEDED, USER_NOT_READY, CUSTOMER_FROZEN, ACCOUNT_FROZEN, INVALID_BANK_ACCOUNT,
 *   AMOUNT_OUT_OF_RANGE (the receiving account cannot take it), FORBIDDEN (scenario in production), and those of every
 *   command (runCommand)
 */
export const executeQuote = command((payments, caller, input: ExecuteQuote) => ({
  operation: 'executeQuote',
  readsOnly: true,
  type: 'Quote',
  plan: () => planExecution(payments, caller, input),
  path: at('quoteId'),
}));

const executableStatement = sharedForCallers(
  statement<{ quote: Quote | null; source: Account | null; destination: Account | null }>(
    'executable_quote',
    `select to_jsonb(q) as quote,
     (select account_snapshot(a) from public.account a where a.platform_id = q.platform_id and a.id = q.source_account_id) as source,
     (select account_snapshot(a) from public.account a where a.platform_id = q.platform_id and a.id = q.destination_account_id) as destination
   from unnest($4::uuid[]) with ordinality as named (id, place)
     left join quote q on ${visibleRow('quote', 'q')} and q.id = named.id
   order by named.place`,
    { quote: 'Quote', source: 'Account', destination: 'Account' },
  ),
);

async function readQuote({ database }: Payments, caller: Caller, { quoteId }: ExecuteQuote) {
  const found = await executableStatement(database.pool, caller, uuidOf(quoteId, 'Quote') ?? null);
  const { quote } = found;
  if (!quote) throw new Refusal('QUOTE_NOT_FOUND', 'no such quote', at('quoteId'));
  return { ...found, quote };
}

async function planExecution(payments: Payments, caller: Caller, input: ExecuteQuote): Promise<CommandPlan> {
  const scenario = checkScenario(payments, caller, input.sandboxScenario, { step: 'PULL' });
  const { quote, source, destination } = await readQuote(payments, caller, input);
  if (!source) {
    const message =
      'this quote is executed by its deposit: pay by one of its payment instructions, with the exact reference';
    throw invalid(message, at('quoteId'));
  }
  checkStep(scenario, source.kind === 'EXTERNAL' ? 'PULL' : undefined);
  const to = quotedDestination(quote, destination);
  const payment = start(quote, source, {
    orderId: orderIdOfQuote(quote),
    rail: payingRail(payments, caller, source),
    target: to.target,
    scenario: scenario ?? quote.scenario,
    reason: 'executed',
    createdBy: tokenOf(caller),
  });
  const checks = {
    spend: spendOfQuote(caller, quote, destination),
    ...requirements({ sender: quote.customerId, source }, to, quote),
  };
  return { ...mergePlans(checks, payment), result: quote.id };
}

/**
 * Cancels a quote that has been neither executed nor paid: it is EXPIRED immediately, as is its transaction (decision
 * 67). A deposit that arrives afterwards is credited, as it is after an expiry.
 * @throws Refusal QUOTE_NOT_FOUND, QUOTE_EXPIRED (also if it was cancelled before), CONFLICT (executed or paid),
 *   IDEMPOTENCY_MISMATCH
 */
export const cancelQuote = command((payments, caller, input: { readonly quoteId: string } & Expecting) => ({
  operation: 'cancelQuote',
  readsOnly: true,
  type: 'Quote',
  plan: async () => {
    const { quote } = await readQuote(payments, caller, input);
    return { ...quoteEnd(quote, 'cancelled before it was executed or funded', 'before'), result: quote.id };
  },
  path: at('quoteId'),
  conflict: { reason: 'only a quote that is PENDING can be cancelled' },
}));

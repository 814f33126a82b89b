import { boundedCache } from '../../core/bounded-cache.ts';
import { uuidOf } from '../../core/ids.ts';
import { type Expecting, invalid, pathsIn, Refusal } from '../../core/refusal.ts';
import type { Prisma } from '../../infra/database/generated/client/client.ts';
import type { Account, Quote } from '../../infra/database/rows.ts';
import { statement } from '../../infra/database/statement.ts';
import type { Rail } from '../../rails/rail.ts';
import { type Caller, tokenOf } from '../access/caller.ts';
import { sharedForCallers, visibleRow } from '../access/visible.ts';
import { type CommandPlan, command, type Payments, railOf } from '../commands/command.ts';
import { debit, type Flow, lockOf, spendOf } from '../commands/movements.ts';
import { toRailAccount } from '../commands/parties.ts';
import { commitGroups } from '../ledger/commit.ts';
import {
  type Journal,
  mergePlans,
  type NewOrder,
  type NewRow,
  type Plan,
  type QuoteMove,
  type Spend,
} from '../ledger/plan.ts';
import { orderIdOfQuote } from '../orders/order-ids.ts';
import { checkScenario, checkStep, expectedMs, firstAskMs, type GivenScenario } from '../orders/orders.ts';
import { quotedDestination, type Route, type Target } from './quote-destination.ts';

interface ExecuteQuote extends Expecting {
  readonly quoteId: string;
  readonly sandboxScenario?: GivenScenario | null | undefined;
}

const at = pathsIn<ExecuteQuote>();

/**
 * Executes a quote that has not expired. An internal source is debited; the rail pulls from an external one. The
 * payment is PROCESSING, or CREATED while it awaits an approval that a policy requires. The database checks the quote's
 * status and expiry (prisma/functions/commit/check_quotes.sql).
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
  conflict: { reason: 'only a quote that is PENDING can be executed' },
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
      'this quote executes when it is funded: pay using one of its payment instructions, with the exact reference';
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
 * Cancels a quote that has been neither executed nor paid: it becomes EXPIRED immediately, as does its transaction. A
 * deposit that arrives afterwards is credited, just like one that arrives after the quote's expiry.
 * @throws Refusal QUOTE_NOT_FOUND, QUOTE_EXPIRED (also if already canceled), CONFLICT (executed or paid),
 *   IDEMPOTENCY_MISMATCH
 */
export const cancelQuote = command((payments, caller, input: { readonly quoteId: string } & Expecting) => ({
  operation: 'cancelQuote',
  readsOnly: true,
  type: 'Quote',
  plan: async () => {
    const { quote } = await readQuote(payments, caller, input);
    return { ...quoteEnd(quote, 'canceled before it was executed or funded', 'before'), result: quote.id };
  },
  path: at('quoteId'),
  conflict: { reason: 'only a quote that is PENDING can be canceled' },
}));

interface StartOptions {
  readonly orderId: string;
  readonly rail: Rail;
  readonly target: Target;
  readonly scenario: Prisma.JsonValue;
  readonly reason: string;
  /** The token with which an existing quote is executed. */
  readonly createdBy?: string | null;
  /** Whether the same plan inserts the quote. */
  readonly isNew?: boolean;
}

/** Plans an execution's status changes and rail order. A quote can be executed only once, and not after its expiry. */
function begin(
  quote: NewRow<Quote>,
  { orderId, scenario, reason, createdBy, isNew = false }: Omit<StartOptions, 'rail' | 'target'>,
  order: Pick<NewOrder, 'kind' | 'dueInMs' | 'rateLock'>,
  expectedInMs: number,
): Plan {
  const { platformId, id, transactionId } = quote;
  return {
    quotes: [{ id, from: ['PENDING'], to: 'PROCESSING', expiry: 'before', reason, isNew }],
    transactions: [
      {
        ...{ id: transactionId, from: ['PENDING'], to: 'PROCESSING', reason, expectedInMs, isNew },
        ...(createdBy && { set: { createdBy } }),
      },
    ],
    insert: { rail_order: [{ platformId, id: orderId, transactionId, scenario, ...order }] },
  };
}

/**
 * Plans the execution of a quote whose money is in an internal account. The account is debited, and the rail gets an
 * order to pay out.
 * @param arrived the external deposit for this quote, which is first credited to the source
 */
export function execution(
  quote: NewRow<Quote>,
  options: StartOptions & { readonly sourceAccountId: string; readonly arrived?: Journal },
): Plan {
  const { rail, target, scenario, sourceAccountId, arrived } = options;
  const railRequest = { step: 'SETTLEMENT', ...target, scenario } as const;
  const order = { kind: 'PAYOUT', rateLock: quote.rateLock ?? null, dueInMs: firstAskMs(rail, railRequest) } as const;
  const flow: Flow = {
    transactionId: quote.transactionId,
    sourceAccountId,
    sendingCurrency: quote.sendingCurrency,
    sent: quote.totalSendingAmount,
    fees: quote.feesIncluded,
    platformFee: quote.platformFee,
    receivingCurrency: quote.receivingCurrency,
    received: quote.totalReceivingAmount,
    lockedSent: lockOf(quote.rateLock)?.sent,
  };
  return {
    ...begin(quote, options, order, expectedMs(rail, railRequest)),
    journals: [...(arrived ? [arrived] : []), debit(flow)],
  };
}

/** Returns a rail that can pay out and, for an external source, pull. @throws Refusal SERVICE_UNAVAILABLE */
export function payingRail(payments: Payments, caller: Caller, source: Account): Rail {
  return railOf(payments, caller, 'payOut', ...(source.kind === 'EXTERNAL' ? (['collect'] as const) : []));
}

/** Starts a payment: debits an internal account, or gives the rail an order to pull from an external account. */
export function start(quote: NewRow<Quote>, source: Account, options: StartOptions): Plan {
  if (source.kind === 'INTERNAL') return execution(quote, { ...options, sourceAccountId: source.id });
  const { rail, target, scenario } = options;
  const railRequest = { step: 'PULL', account: toRailAccount(source), umaAddress: undefined, scenario } as const;
  const payMs = expectedMs(rail, { step: 'SETTLEMENT', ...target, scenario });
  const reason = 'executed: the money is being pulled from the external account';
  // The pull order also stores the scenario, because the payout needs it later.
  const order = { kind: 'COLLECTION', dueInMs: firstAskMs(rail, railRequest) } as const;
  return begin(quote, { ...options, reason }, order, expectedMs(rail, railRequest) + payMs);
}

/**
 * Returns what a quote's payment requires: a sender and a recipient who may move money, accounts that are not frozen,
 * external accounts that are ACTIVE, and capacity for the amount.
 */
export function requirements(
  { sender, source }: { readonly sender: string | null | undefined; readonly source: Account | null },
  { receivers, accounts, internalAccountId }: Route,
  { totalReceivingAmount: amount }: Pick<Quote, 'totalReceivingAmount'>,
) {
  const customers = [...new Set([sender, ...receivers])].filter((id) => id !== null && id !== undefined);
  const internal = [source?.kind === 'INTERNAL' ? source.id : undefined, internalAccountId];
  return {
    requireActive: {
      customers,
      accounts: source?.kind === 'EXTERNAL' ? [source.id, ...accounts] : [...accounts],
      unfrozen: internal.filter((id) => id !== undefined),
    },
    capacity: internalAccountId === undefined ? undefined : [{ account: internalAccountId, amount }],
  };
}

export function spendOfQuote(caller: Caller, quote: NewRow<Quote>, to: Account | null | undefined): Spend {
  const { transactionId, customerId = null, totalSendingAmount: amount, sendingCurrency: currency } = quote;
  const payment = { transactionId, customerId, amount, currency, until: quote.expiresAt };
  return spendOf(caller, 'QUOTE', { ...payment, umaAddress: quote.destinationUmaAddress, to });
}

const expiredStatement = statement<{ platformId: string; id: string; transactionId: string }>(
  'expired_quotes',
  // The subquery reads the clock once. If the clock were read for each row, Postgres could not use the index.
  `select platform_id, id, transaction_id from quote
   where status = 'PENDING' and expires_at <= (select clock_timestamp()) order by expires_at limit $1`,
);

const nextExpiryStatement = statement<{ waitMs: number }>(
  'next_quote_expiry',
  `select greatest(0, extract(epoch from expires_at - clock_timestamp()) * 1000)::float8 as wait_ms
   from quote where status = 'PENDING' order by expires_at limit 1`,
);

/** The quotes whose failure to expire has already been logged, so that it is not logged again. */
const loggedQuotes = boundedCache<true>(10_000);

/** Returns the number of milliseconds until the next open quote expires; undefined if no quote is open. */
export async function nextQuoteExpiry(payments: Payments): Promise<number | undefined> {
  const [row] = await nextExpiryStatement(payments.database.pool);
  return row?.waitMs;
}

/**
 * Marks up to `limit` quotes past their expiry as EXPIRED, along with their transactions. The row lock decides a race
 * with an execution: whichever holds it first wins, and the other is refused.
 * @returns how many quotes were found, and how many of them are now EXPIRED
 */
export async function expireQuotes(payments: Payments, limit: number) {
  const expired = await expiredStatement(payments.database.pool, limit);
  const reason = 'the quote expired before it was executed or funded';
  const groups = expired.map((quote) => [{ platformId: quote.platformId, plan: quoteEnd(quote, reason, 'after') }]);
  const results = await commitGroups(payments.database, groups);
  let done = 0;
  for (const [position, result] of results.entries()) {
    const quote = expired[position]?.id ?? '';
    // Another process may have expired the quote, or this one may have done so but lost the response to its commit.
    if (result === null || result.code === 'QUOTE_EXPIRED') done += 1;
    else if (!loggedQuotes.has(quote)) {
      loggedQuotes.set(quote, true);
      const facts = result.code === 'FAILED' ? { err: result.error } : { refusal: result };
      payments.log.error({ ...facts, quote }, 'could not expire a quote; will retry');
    }
  }
  return { found: expired.length, done };
}

/** Returns changes that mark an open quote and its transaction as EXPIRED, only `before` or only `after` its expiry. */
export function quoteEnd(
  quote: Pick<Quote, 'id' | 'transactionId'>,
  reason: string,
  expiry: NonNullable<QuoteMove['expiry']>,
): Pick<Plan, 'quotes' | 'transactions'> {
  const { id, transactionId } = quote;
  const end = { to: 'EXPIRED', reason } as const;
  const set = { failureReason: 'QUOTE_EXPIRED' } as const;
  return {
    quotes: [{ id, from: ['PENDING'], ...end, expiry }],
    // The transaction of a real-time funded quote is CREATED if it still awaits approval.
    transactions: [{ id: transactionId, from: ['PENDING', 'CREATED'], ...end, set }],
  };
}

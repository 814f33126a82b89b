import type { Caller } from '../../access/caller.ts';
import { forCaller, visibleRow } from '../../access/visible.ts';
import { checkText } from '../../core/checks.ts';
import { type Currency, currencyOf } from '../../core/currencies.ts';
import { madeAt, uuidOf } from '../../core/ids.ts';
import { pathsIn } from '../../core/path.ts';
import { Refusal } from '../../core/refusal.ts';
import type { Account, Quote } from '../../database/rows.ts';
import { statement } from '../../database/statement.ts';
import { mergePlans } from '../../ledger/merge-plans.ts';
import type { NewRow, Plan } from '../../ledger/plan.ts';
import { type Command, type Done, type Payments, railOf, run } from '../command.ts';
import { checkInformation } from '../information.ts';
import { firstAskMs } from '../orders/orders.ts';
import { checkScenario, checkStep, type GivenScenario } from '../orders/scenario.ts';
import {
  accountNotFound,
  accountUuid,
  currencyOfAccount,
  customerNotFound,
  customerUuid,
  idAt,
  outsideOf,
  type Parties,
  readParties,
} from '../parties.ts';
import { type Pricing, priceQuote } from '../pricing/pricing.ts';
import { type Executable, type ExecutionOptions, execution } from './execution.ts';
import { checkPullable, pull } from './pull.ts';
import { accountDestination, type Destination, quotedDestination, umaDestination } from './quote-destination.ts';
import { at, type CreateQuote } from './quote-input.ts';
import { jsonOf, newRows } from './quote-rows.ts';

type PlanOf = Awaited<ReturnType<Command<'Quote'>['plan']>>;

/**
 * Locks a rate and fees until the quote expires (specification 4.1), and with `immediatelyExecute` executes at once. Its
 * transaction is created with it.
 * @throws Refusal ACCOUNT_NOT_FOUND, USER_NOT_FOUND, INVALID_INPUT, INVALID_AMOUNT, AMOUNT_OUT_OF_RANGE, INVALID_CURRENCY,
 *   SELF_PAYMENT, USER_NOT_READY, INVALID_BANK_ACCOUNT, INSUFFICIENT_BALANCE (immediate), INVALID_UMA_ADDRESS,
 *   LOOKUP_REQUEST_NOT_FOUND, MISSING_MANDATORY_USER_INFO, FORBIDDEN (scenario in production), IDEMPOTENCY_MISMATCH
 */
export function createQuote(
  payments: Payments,
  caller: Caller,
  input: CreateQuote,
  idempotencyKey?: string | null,
): Promise<Done<Quote>> {
  return run(payments, caller, {
    operation: 'createQuote',
    type: 'Quote',
    input,
    idempotencyKey,
    plan: () => planQuote(payments, caller, input),
    paths: {
      INSUFFICIENT_BALANCE: at('source'),
      USER_NOT_READY: at('source'),
      AMOUNT_OUT_OF_RANGE: at('lockedCurrencyAmount'),
      INVALID_BANK_ACCOUNT: (id) =>
        input.source.kind === 'ACCOUNT' && uuidOf(input.source.accountId, 'ExternalAccount') === id
          ? at('source', 'accountId')
          : at('destination', 'accountId'),
    },
  });
}

const ofExecution = pathsIn<{ readonly quoteId: string }>();

/**
 * Executes a quote before its expiry (specification 4.3): the source is debited, or the rail is to pull from a source
 * outside, and the payment is PROCESSING.
 * @throws Refusal QUOTE_NOT_FOUND, QUOTE_EXPIRED, CONFLICT (executed before), INVALID_INPUT (real-time funded),
 *   INSUFFICIENT_BALANCE, USER_NOT_READY, INVALID_BANK_ACCOUNT, AMOUNT_OUT_OF_RANGE (the receiving account cannot take it),
 *   IDEMPOTENCY_MISMATCH
 */
export function executeQuote(
  payments: Payments,
  caller: Caller,
  quoteId: string,
  idempotencyKey?: string | null,
  sandboxScenario?: GivenScenario | null,
): Promise<Done<Quote>> {
  return run(payments, caller, {
    operation: 'executeQuote',
    readsOnly: true,
    type: 'Quote',
    input: { quoteId, sandboxScenario },
    idempotencyKey,
    plan: () => planExecution(payments, caller, quoteId, sandboxScenario),
    paths: {
      QUOTE_EXPIRED: ofExecution('quoteId'),
      CONFLICT: ofExecution('quoteId'),
      INSUFFICIENT_BALANCE: ofExecution('quoteId'),
      USER_NOT_READY: ofExecution('quoteId'),
      INVALID_BANK_ACCOUNT: ofExecution('quoteId'),
      AMOUNT_OUT_OF_RANGE: ofExecution('quoteId'),
    },
  });
}

async function planQuote(payments: Payments, caller: Caller, input: CreateQuote): Promise<PlanOf> {
  checkText(input.description, at('description'));
  const scenario = checkScenario(payments, caller, input.sandboxScenario, {
    deposit: input.source.kind === 'REALTIME_FUNDING',
    step: 'PULL',
  });
  const sender = checkInformation(input.senderCustomerInfo, at('senderCustomerInfo'));
  const { source, destination } = input;
  if (input.immediatelyExecute && source.kind === 'REALTIME_FUNDING') {
    throw new Refusal('INVALID_INPUT', 'a real-time funded quote is executed by its deposit, not at creation', {
      path: at('immediatelyExecute'),
    });
  }
  const parties = await readParties(payments.database.pool, caller, {
    source: source.kind === 'ACCOUNT' ? accountUuid(source.accountId, at('source', 'accountId')) : undefined,
    customer:
      source.kind === 'REALTIME_FUNDING' ? customerUuid(source.customerId, at('source', 'customerId')) : undefined,
    currency: source.kind === 'REALTIME_FUNDING' ? currencyOf(source.currency)?.code : undefined,
    destination:
      destination.kind === 'ACCOUNT' ? accountUuid(destination.accountId, at('destination', 'accountId')) : undefined,
    ids: 3,
  });
  const sending = sendingCurrency(input, parties);
  checkStep(scenario, parties.source?.kind === 'EXTERNAL' ? 'PULL' : undefined);
  const to =
    destination.kind === 'ACCOUNT'
      ? accountDestination(parties)
      : await umaDestination(payments, caller, destination, { lookupId: input.lookupId, parties, sender });

  const price = await priced(payments, caller, input, parties, { sending, to });
  const rows = newRows(payments, caller, input, parties, { sending, price, to, sender, scenario });
  const { quote, transaction } = rows;
  if (source.kind === 'REALTIME_FUNDING') {
    quote.paymentInstructions = jsonOf(
      await railOf(payments, caller).paymentInstructions({
        owner: quote.id,
        reference: transaction.reference,
        currency: sending,
        amount: price.totalSendingAmount,
        madeAt: madeAt(quote.id),
        expiresAt: quote.expiresAt,
      }),
    );
    checkWays(quote);
  }
  const base = {
    ready: { customers: customersOf(parties.customer?.id, to.receivers), accounts: accountsOf(parties.source, to) },
    room: roomAt(to, price),
    insert: { quote: [quote], transaction: [transaction] },
  };
  if (!input.immediatelyExecute || !parties.source) return { ...base, result: quote.id };
  const started = start(quote, parties.source, {
    orderId: idAt(parties, 2),
    rail: railOf(payments, caller),
    target: to.target,
    scenario,
    reason: 'executed at creation',
    fresh: true,
  });
  return { ...mergePlans(base, started), result: quote.id };
}

/** Starts a payment from an account: debits one here, or has the rail pull from one outside. */
function start(
  quote: Executable,
  source: Account,
  options: Pick<ExecutionOptions, 'orderId' | 'rail' | 'target' | 'scenario' | 'reason' | 'fresh'>,
): Plan {
  if (source.kind === 'INTERNAL') return execution(quote, { ...options, sourceAccountId: source.id });
  const { rail, target, scenario } = options;
  const errand = { step: 'PULL', account: outsideOf(source), umaAddress: undefined, scenario } as const;
  const payMs = rail.expectedMs({ step: 'SETTLEMENT', ...target, scenario });
  return pull(quote, { ...options, expectedInMs: rail.expectedMs(errand) + payMs, dueInMs: firstAskMs(rail, errand) });
}

/** Accounts outside that take part must be usable, on either side. */
function accountsOf(source: Account | undefined, to: Pick<Destination, 'accounts'>): string[] {
  return source?.kind === 'EXTERNAL' ? [source.id, ...to.accounts] : [...to.accounts];
}

/** An account here that receives must be able to take what will arrive. */
function roomAt({ here }: Pick<Destination, 'here'>, price: Pick<Quote, 'totalReceivingAmount'>) {
  return here === undefined ? undefined : [{ account: here, amount: price.totalReceivingAmount }];
}

async function priced(
  payments: Payments,
  caller: Caller,
  input: CreateQuote,
  parties: Parties,
  { sending, to }: { readonly sending: Currency; readonly to: Destination },
): Promise<Pricing> {
  const rate = await railOf(payments, caller).rate(sending, to.receiving);
  if (!rate) {
    throw new Refusal('INVALID_CURRENCY', `${sending.code} cannot be converted to ${to.receiving.code}`, {
      path: to.path,
    });
  }
  const price = priceQuote({
    sending,
    receiving: to.receiving,
    lockedSide: input.lockedCurrencySide,
    lockedAmount: input.lockedCurrencyAmount,
    rate,
    platformFee: parties.platformFee,
  });
  if ('code' in price) {
    throw new Refusal(price.code, price.reason, {
      path: at('lockedCurrencyAmount'),
      value: input.lockedCurrencyAmount.toString(),
    });
  }
  const arrives = price.totalReceivingAmount;
  if (to.limits && (arrives < to.limits.min || arrives > to.limits.max)) {
    throw new Refusal(
      'AMOUNT_OUT_OF_RANGE',
      `the receiver takes ${to.limits.min} to ${to.limits.max} smallest units of ${to.receiving.code}; ${arrives} would arrive`,
      { path: at('lockedCurrencyAmount'), value: input.lockedCurrencyAmount.toString() },
    );
  }
  return price;
}

/** A quote that nobody could pay is refused at once. */
function checkWays(quote: NewRow<Quote>): void {
  if (Array.isArray(quote.paymentInstructions) && quote.paymentInstructions.length > 0) return;
  throw new Refusal('INVALID_CURRENCY', `there is no way to pay in ${quote.sendingCurrency} from outside`, {
    path: at('source', 'currency'),
  });
}

/** Whoever takes part must be allowed to: the sender, and the owner of the account that receives. */
function customersOf(sender: string | null | undefined, receivers: readonly string[]): string[] {
  return [...new Set([sender, ...receivers])].filter((id) => id !== null && id !== undefined);
}

function sendingCurrency(input: CreateQuote, parties: Parties): Currency {
  const { source } = input;
  if (source.kind === 'REALTIME_FUNDING') {
    if (!parties.customer) customerNotFound(at('source', 'customerId'));
    const currency = currencyOf(source.currency);
    if (!currency) {
      throw new Refusal('INVALID_CURRENCY', `unknown currency ${JSON.stringify(source.currency)}`, {
        path: at('source', 'currency'),
      });
    }
    return currency;
  }
  const from = parties.source ?? accountNotFound(at('source', 'accountId'));
  if (from.kind === 'EXTERNAL') checkPullable(from, at('source', 'accountId'));
  return currencyOfAccount(from);
}

const executableStatement = forCaller(
  statement<{
    quote: Quote;
    source: Account | null;
    destination: Account | null;
    orderId: string;
  }>(
    'executable_quote',
    `select to_jsonb(q) as quote, uuid_v7() as order_id,
     (select account_snapshot(a) from account a where a.platform_id = q.platform_id and a.id = q.source_account_id) as source,
     (select account_snapshot(a) from account a where a.platform_id = q.platform_id and a.id = q.destination_account_id) as destination
   from quote q where ${visibleRow('quote', 'q')} and q.id = $4`,
    { quote: 'Quote', source: 'Account', destination: 'Account' },
  ),
);

async function planExecution(
  payments: Payments,
  caller: Caller,
  id: string,
  sandboxScenario: GivenScenario | null | undefined,
): Promise<PlanOf> {
  const scenario = checkScenario(payments, caller, sandboxScenario, { step: 'PULL' });
  const uuid = uuidOf(id, 'Quote');
  const [found] = uuid ? await executableStatement(payments.database.pool, caller, uuid) : [];
  if (!found) throw new Refusal('QUOTE_NOT_FOUND', 'no such quote', { path: ofExecution('quoteId') });
  const { quote, source } = found;
  if (!source) {
    throw new Refusal(
      'INVALID_INPUT',
      'this quote is executed by its deposit: pay by one of its payment instructions, with the exact reference',
      { path: ofExecution('quoteId') },
    );
  }
  checkStep(scenario, source.kind === 'EXTERNAL' ? 'PULL' : undefined);
  const to = quotedDestination(quote, found.destination);
  const started = start(quote, source, {
    orderId: found.orderId,
    rail: railOf(payments, caller),
    target: to.target,
    scenario: scenario ?? quote.scenario,
    reason: 'executed',
  });
  const checked = {
    ready: { customers: customersOf(quote.customerId, to.receivers), accounts: accountsOf(source, to) },
    room: roomAt(to, quote),
  };
  return { ...mergePlans(checked, started), result: quote.id };
}

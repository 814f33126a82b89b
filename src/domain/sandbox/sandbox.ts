import { currencyOf, formatMajor, type GivenAmount, requiredCurrency, smallestUnits } from '../../core/currencies.ts';
import { uuidOf } from '../../core/ids.ts';
import { invalid, pathsIn, Refusal } from '../../core/refusal.ts';
import type { FailureReason } from '../../infra/database/generated/client/client.ts';
import type { Account, Quote } from '../../infra/database/rows.ts';
import { statement } from '../../infra/database/statement.ts';
import type { Caller } from '../access/caller.ts';
import { forCaller, visibleRow } from '../access/visible.ts';
import { command, type Payments, railOf, simulationOf } from '../commands/command.ts';
import { deposit } from '../commands/movements.ts';
import { accountName, accountNotFound, currencyOfNamed, readTransferParties } from '../commands/parties.ts';
import { type Alternative, type Journal, mergePlans, type Plan } from '../ledger/plan.ts';
import { orderIdOfQuote } from '../orders/order-ids.ts';
import { checkScenario, type GivenScenario } from '../orders/scenario.ts';
import { execution } from '../quotes/execution.ts';
import { quotedDestination } from '../quotes/quote-destination.ts';

/** The maximum amount that one call may credit to a sandbox account, in smallest units. */
export const maxFunding = 100_000_000_000n;

interface FundAccount {
  readonly accountId: string;
  readonly amount: GivenAmount;
}

const fundingPath = pathsIn<FundAccount>();

/**
 * Credits money to an internal account, as a bank transfer to it would (sandbox only).
 * @throws Refusal FORBIDDEN, ACCOUNT_NOT_FOUND, INVALID_INPUT, INVALID_AMOUNT, AMOUNT_OUT_OF_RANGE, CUSTOMER_DELETED,
 *   IDEMPOTENCY_MISMATCH
 */
export const fundAccount = command((payments, caller, input: FundAccount) => ({
  operation: 'sandboxFundAccount',
  type: 'Account',
  amount: { field: 'amount', currency: () => currencyOfNamed(payments.database.pool, caller, input.accountId) },
  plan: async () => {
    simulationOf(payments, caller);
    const path = fundingPath('accountId');
    const names = { source: accountName(input.accountId, path), ids: 0 };
    const { source } = await readTransferParties(payments.database.pool, caller, names);
    if (!source) accountNotFound(path);
    if (source.kind !== 'INTERNAL') throw invalid('only an internal account can be funded', path);
    const currency = requiredCurrency(source.currency);
    const amount = smallestUnits(input.amount, currency, fundingPath('amount'));
    if (amount > maxFunding) {
      const message = `the amount must be at most ${formatMajor(maxFunding, currency)}`;
      throw new Refusal('AMOUNT_OUT_OF_RANGE', message, { path: fundingPath('amount'), value: amount.toString() });
    }
    return { journals: [deposit(source.id, source.currency, amount)], result: source.id };
  },
  paths: { AMOUNT_OUT_OF_RANGE: fundingPath('amount'), CUSTOMER_DELETED: fundingPath('accountId') },
}));

const fundableStatement = forCaller(
  statement<{ quote: Quote; destination: Account | null; fundingAccountId: string | null }>(
    'fundable_quote',
    `select to_jsonb(q) as quote,
     (select account_snapshot(a) from public.account a where a.platform_id = q.platform_id and a.id = q.destination_account_id) as destination,
     (select a.id from account a where a.platform_id = q.platform_id and a.kind = 'INTERNAL'
        and a.customer_id is not distinct from q.customer_id and a.currency = q.sending_currency) as funding_account_id
   from quote q where ${visibleRow('quote', 'q')} and q.id = $4`,
    { quote: 'Quote', destination: 'Account' },
  ),
);

interface SandboxSend {
  readonly quoteId: string;
  readonly currencyCode: string;
  readonly currencyAmount?: GivenAmount | null | undefined;
  readonly sandboxScenario?: GivenScenario | null | undefined;
}

const depositPath = pathsIn<SandboxSend>();

/**
 * Simulates the deposit for a real-time funded quote (specification 4.7), by default of exactly the amount that it
 * requires. Money that does not match the quote, or arrives after its expiry, fails the payment and stays in the
 * customer's account in that currency. The database decides this under the quote's lock: no deposit is refused because
 * of its timing, and each quote takes only one. Money that this account cannot receive, for example because the
 * customer was deleted, is refused and returned to its payer, and the quote can still be paid.
 * @throws Refusal FORBIDDEN, QUOTE_NOT_FOUND, INVALID_INPUT (not real-time funded), INVALID_CURRENCY, INVALID_AMOUNT,
 *   AMOUNT_OUT_OF_RANGE, CONFLICT (paid before), USER_NOT_READY, CUSTOMER_DELETED, CUSTOMER_FROZEN, ACCOUNT_FROZEN,
 *   IDEMPOTENCY_MISMATCH
 */
export const sandboxSend = command((payments, caller, input: SandboxSend) => ({
  operation: 'sandboxSend',
  type: 'Transaction',
  amount: { field: 'currencyAmount', currency: async () => input.currencyCode },
  plan: () => planDeposit(payments, caller, input),
  path: depositPath('quoteId'),
  paths: { AMOUNT_OUT_OF_RANGE: depositPath(input.currencyAmount == null ? 'quoteId' : 'currencyAmount') },
  conflict: { reason: 'the deposit for this quote has already arrived' },
}));

async function planDeposit(payments: Payments, caller: Caller, input: SandboxSend) {
  const simulation = simulationOf(payments, caller);
  const scenario = checkScenario(payments, caller, input.sandboxScenario, { deposit: true });
  const { quote, currency, fundingAccountId, found } = await readFundable(payments, caller, input);
  const due = quote.totalSendingAmount;
  const requestedAmount = smallestUnits(input.currencyAmount ?? due, currency, depositPath('currencyAmount'));
  const { amount, twice, late } = simulation.deposit(scenario ?? quote.scenario, requestedAmount);
  const arrived = deposit(fundingAccountId, quote.sendingCurrency, amount, quote.transactionId, twice ? 2 : 1);
  const to = quotedDestination(quote, found.destination);
  const common = {
    requireActive: {
      customers: quote.customerId ? [quote.customerId] : [],
      accounts: to.accounts,
      unfrozen: [fundingAccountId, ...(to.internalAccountId === undefined ? [] : [to.internalAccountId])],
    },
    otherwise: planLateDeposit(quote, arrived, twice ? 2n * amount : amount),
  };
  if (amount === due && !late) {
    const payment = execution(quote, {
      orderId: orderIdOfQuote(quote),
      rail: railOf(payments, caller, 'payOut'),
      sourceAccountId: fundingAccountId,
      target: to.target,
      scenario: scenario ?? quote.scenario,
      reason: 'the deposit arrived',
      arrived,
    });
    return { ...mergePlans(common, payment), result: quote.transactionId };
  }
  // The money stays in the customer's account in the sending currency, and the payment fails (decision 12).
  const what = late ? "the deposit arrived after the quote's expiry" : `${amount} arrived instead of the ${due} due`;
  const { quotes, ...failed } = planFailure(quote, what, late ? 'QUOTE_EXPIRED' : 'QUOTE_EXECUTION_FAILED');
  const credit: Plan = {
    ...failed,
    quotes: quotes.map((move) => ({ ...move, expiry: 'before' })),
    journals: [arrived],
  };
  return { ...mergePlans(common, credit), result: quote.transactionId };
}

/** Plans the failure of a payment whose deposit stays in the customer's account in the sending currency. */
function planFailure({ id, transactionId, sendingCurrency }: Quote, what: string, failureReason: FailureReason) {
  const reason = `${what}; the money is in the customer's ${sendingCurrency} account`;
  const failure = { from: ['PENDING'], to: 'FAILED', reason } as const;
  return { quotes: [{ id, ...failure }], transactions: [{ id: transactionId, ...failure, set: { failureReason } }] };
}

/**
 * Plans how to handle a deposit that arrives after its quote's expiry. Nothing is converted: the money goes to the
 * customer's account in the sending currency, as part of the payment that it was meant for. A payment not yet marked
 * EXPIRED fails with QUOTE_EXPIRED. A payment that is already marked stays EXPIRED, because that status is terminal and
 * the payment's streams have ended. The payment takes only one deposit; any further deposit is refused with CONFLICT.
 * @param arrived the journal of the deposit, to the customer's account
 * @param amount the total that arrived, in smallest units of the sending currency
 */
function planLateDeposit(quote: Quote, arrived: Journal, amount: bigint): Alternative {
  return {
    // The previous plan was refused because of the time. This plan checks only the status, so it works even if the
    // clock was set back since.
    ...planFailure(quote, `${amount} arrived after the quote's expiry`, 'QUOTE_EXPIRED'),
    journals: [arrived],
    otherwise: { expired: [{ id: quote.id }], journals: [arrived] },
  };
}

/** Reads the quote that a deposit is for, and the customer's account that receives the money. */
async function readFundable(payments: Payments, caller: Caller, input: SandboxSend) {
  const uuid = uuidOf(input.quoteId, 'Quote');
  const [found] = uuid ? await fundableStatement(payments.database.pool, caller, uuid) : [];
  if (!found) throw new Refusal('QUOTE_NOT_FOUND', 'no such quote', depositPath('quoteId'));
  const { quote, fundingAccountId } = found;
  if (quote.sourceKind !== 'REALTIME_FUNDING' || !fundingAccountId) {
    throw invalid('this quote is paid from an account: execute it instead', depositPath('quoteId'));
  }
  const currency = currencyOf(input.currencyCode);
  if (currency?.code !== quote.sendingCurrency) {
    const details = { path: depositPath('currencyCode'), value: input.currencyCode };
    throw new Refusal('INVALID_CURRENCY', `this quote is funded in ${quote.sendingCurrency}`, details);
  }
  return { quote, currency, fundingAccountId, found };
}

import { currencyOf, formatMajor, type GivenAmount, requiredCurrency, smallestUnits } from '../../core/currencies.ts';
import { uuidOf } from '../../core/ids.ts';
import { type Expecting, invalid, pathsIn, Refusal } from '../../core/refusal.ts';
import type { FailureReason, KycStatus } from '../../infra/database/generated/client/client.ts';
import type { Account, Quote } from '../../infra/database/rows.ts';
import { statement } from '../../infra/database/statement.ts';
import type { Caller } from '../access/caller.ts';
import { forCaller, visibleRow } from '../access/visible.ts';
import { announcedTransaction, receiverFields } from '../approvals/incoming.ts';
import { command, type Payments, railOf, simulationOf } from '../commands/command.ts';
import { maxFacts } from '../commands/information.ts';
import { deposit } from '../commands/movements.ts';
import {
  accountName,
  accountNotFound,
  currencyOfNamed,
  customerNotFound,
  customerUuid,
  readTransferParties,
} from '../commands/parties.ts';
import { checkUmaAddress } from '../commands/uma-addresses.ts';
import { readCustomer } from '../customers/customers.ts';
import { type Alternative, type Journal, mergePlans, type Plan } from '../ledger/plan.ts';
import { orderIdOfQuote } from '../orders/order-ids.ts';
import { checkScenario, type GivenScenario } from '../orders/orders.ts';
import { execution } from '../quotes/execute-quote.ts';
import { quotedDestination } from '../quotes/quote-destination.ts';

/** The maximum amount that one call may credit to a sandbox account, in the currency's smallest unit. */
export const maxFunding = 100_000_000_000n;

interface FundAccount {
  readonly accountId: string;
  readonly amount: GivenAmount;
}

const at = pathsIn<FundAccount & SandboxSend & SetKycStatus & SandboxReceiveUma>();

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
    const path = at('accountId');
    const names = { source: accountName(input.accountId, path), ids: 0 };
    const { source } = await readTransferParties(payments.database.pool, caller, names);
    if (!source) accountNotFound(path);
    if (source.kind !== 'INTERNAL') throw invalid('only an internal account can be funded', path);
    const currency = requiredCurrency(source.currency);
    const amount = smallestUnits(input.amount, currency, at('amount'));
    if (amount > maxFunding) {
      const message = `the amount must be at most ${formatMajor(maxFunding, currency)}`;
      throw new Refusal('AMOUNT_OUT_OF_RANGE', message, { path: at('amount'), value: amount.toString() });
    }
    return { journals: [deposit(source.id, source.currency, amount)], result: source.id };
  },
  paths: { AMOUNT_OUT_OF_RANGE: at('amount'), CUSTOMER_DELETED: at('accountId') },
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

/**
 * Simulates the deposit for a real-time funded quote. By default, its amount is what the quote requires. If the amount
 * differs, or the deposit arrives after the quote's expiry, the payment fails and the money stays in the customer's
 * account in the sending currency. The database decides this under the quote's lock. A deposit is never refused because
 * of its timing, but each quote accepts only one. If the account cannot receive the money, for example because the
 * customer was deleted, the money is returned to its payer, and the quote can still be paid.
 * @throws Refusal FORBIDDEN, QUOTE_NOT_FOUND, INVALID_INPUT (not real-time funded), INVALID_CURRENCY, INVALID_AMOUNT,
 *   AMOUNT_OUT_OF_RANGE, CONFLICT (already paid), USER_NOT_READY, CUSTOMER_DELETED, CUSTOMER_FROZEN, ACCOUNT_FROZEN,
 *   IDEMPOTENCY_MISMATCH
 */
export const sandboxSend = command((payments, caller, input: SandboxSend) => ({
  operation: 'sandboxSend',
  type: 'Transaction',
  amount: { field: 'currencyAmount', currency: async () => input.currencyCode },
  plan: () => planDeposit(payments, caller, input),
  path: at('quoteId'),
  paths: { AMOUNT_OUT_OF_RANGE: at(input.currencyAmount == null ? 'quoteId' : 'currencyAmount') },
  conflict: { reason: 'the deposit for this quote has already arrived' },
}));

async function planDeposit(payments: Payments, caller: Caller, input: SandboxSend) {
  const simulation = simulationOf(payments, caller);
  const scenario = checkScenario(payments, caller, input.sandboxScenario, { deposit: true });
  const { quote, currency, fundingAccountId, destination } = await readFundable(payments, caller, input);
  const due = quote.totalSendingAmount;
  const requestedAmount = smallestUnits(input.currencyAmount ?? due, currency, at('currencyAmount'));
  const { amount, twice, late } = simulation.deposit(scenario ?? quote.scenario, requestedAmount);
  const arrived = deposit(fundingAccountId, quote.sendingCurrency, amount, quote.transactionId, twice ? 2 : 1);
  const to = quotedDestination(quote, destination);
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
  // The money stays in the customer's account in the sending currency, and the payment fails.
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
 * the payment's streams have ended. The payment accepts only one deposit. Any further one is refused with CONFLICT.
 * @param arrived the journal that credits the deposit to the customer's account
 * @param amount the total that arrived, in the sending currency's smallest unit
 */
function planLateDeposit(quote: Quote, arrived: Journal, amount: bigint): Alternative {
  return {
    // The previous plan was refused because the quote had expired. This plan checks only the status, so it works even
    // if the clock has been set back since.
    ...planFailure(quote, `${amount} arrived after the quote's expiry`, 'QUOTE_EXPIRED'),
    journals: [arrived],
    otherwise: { expired: [{ id: quote.id }], journals: [arrived] },
  };
}

/** Reads the quote that a deposit is for, and the customer's account that receives the money. */
async function readFundable(payments: Payments, caller: Caller, input: SandboxSend) {
  const uuid = uuidOf(input.quoteId, 'Quote');
  const [found] = uuid ? await fundableStatement(payments.database.pool, caller, uuid) : [];
  if (!found) throw new Refusal('QUOTE_NOT_FOUND', 'no such quote', at('quoteId'));
  const { quote, fundingAccountId } = found;
  if (quote.sourceKind !== 'REALTIME_FUNDING' || !fundingAccountId) {
    throw invalid('this quote is paid from an account: execute it instead', at('quoteId'));
  }
  const currency = currencyOf(input.currencyCode);
  if (currency?.code !== quote.sendingCurrency) {
    const details = { path: at('currencyCode'), value: input.currencyCode };
    throw new Refusal('INVALID_CURRENCY', `this quote is funded in ${quote.sendingCurrency}`, details);
  }
  return { ...found, currency, fundingAccountId };
}

export interface SetKycStatus extends Expecting {
  readonly customerId: string;
  readonly kycStatus: KycStatus;
}

/**
 * Concludes a customer's identity check, as the provider would (sandbox only). A name change starts another check.
 * @throws Refusal FORBIDDEN, USER_NOT_FOUND, CUSTOMER_DELETED, IDEMPOTENCY_MISMATCH
 */
export const setKycStatus = command((payments, caller, input: SetKycStatus) => ({
  operation: 'sandboxSetKycStatus',
  type: 'Customer',
  plan: async () => {
    simulationOf(payments, caller);
    const { id } = await readCustomer(payments, caller, input.customerId);
    return { customers: [{ id, set: { kycStatus: input.kycStatus } }], result: id };
  },
  paths: { CUSTOMER_DELETED: at('customerId') },
}));

export interface SandboxReceiveUma {
  readonly senderUmaAddress: string;
  /** The receiving customer, by UMA address or by id. If both are given, they must belong to the same customer. */
  readonly receiverUmaAddress?: string | null | undefined;
  readonly customerId?: string | null | undefined;
  readonly receivingCurrencyCode: string;
  readonly receivingCurrencyAmount: GivenAmount;
  readonly sandboxScenario?: GivenScenario | null | undefined;
  /** Additional fields that the sender requests, all mandatory. */
  readonly requestedReceiverFields?: readonly string[] | null | undefined;
}

const receiverStatement = forCaller(
  statement<{ customerId: string; depositAccountId: string | null; ids: string[] }>(
    'sandbox_receiver',
    `select c.id as customer_id, array(select uuid_v7() from generate_series(1, 2)) as ids,
     coalesce(
       (select a.id from account a where a.platform_id = c.platform_id and a.customer_id = c.id and a.default_uma_deposit_account
          and a.status = 'ACTIVE' and a.currency = $6),
       (select a.id from account a where a.platform_id = c.platform_id and a.customer_id = c.id and a.kind = 'INTERNAL'
          and a.currency = $6)) as deposit_account_id
   from customer c
   where ${visibleRow('customer', 'c')} and not c.is_deleted and (c.id = $4 or $4::uuid is null) and (lower(c.uma_address) = $5 or $5::text is null)`,
  ),
);

/**
 * Announces a payment from an external UMA address to a customer (sandbox only). The payment goes through the full
 * approval flow.
 * @throws Refusal FORBIDDEN, INVALID_INPUT, INVALID_UMA_ADDRESS, INVALID_AMOUNT, AMOUNT_OUT_OF_RANGE, INVALID_CURRENCY,
 *   USER_NOT_FOUND, USER_NOT_READY, IDEMPOTENCY_MISMATCH
 */
export const sandboxReceiveUma = command((payments, caller, input: SandboxReceiveUma) => ({
  operation: 'sandboxReceiveUma',
  type: 'Transaction',
  amount: { field: 'receivingCurrencyAmount', currency: async () => input.receivingCurrencyCode },
  plan: async () => {
    const simulation = simulationOf(payments, caller);
    const possible = { approval: true, step: 'PAY_REQUEST' } as const;
    const scenario = checkScenario(payments, caller, input.sandboxScenario, possible);
    const senderUmaAddress = checkUmaAddress(input.senderUmaAddress, at('senderUmaAddress'));
    const extra = extraFields(input.requestedReceiverFields ?? []);
    const { customerId, depositAccountId, currency, ids } = await readReceiver(payments, caller, input);
    const amount = smallestUnits(input.receivingCurrencyAmount, currency, at('receivingCurrencyAmount'));
    const [id, orderId] = ids;
    if (id === undefined || orderId === undefined) throw new Error('the statement did not return two ids');
    const { platformId } = caller;
    const transaction = announcedTransaction(
      {
        ...{ platformId, id, customerId, receivedAmount: amount },
        sourceUmaAddress: senderUmaAddress,
        destinationAccountId: depositAccountId,
        counterpartyInformation: { ...simulation.senderInformation(senderUmaAddress) },
        requested: [...receiverFields.filter(({ name }) => !extra.some((one) => one.name === name)), ...extra],
        receivedCurrency: input.receivingCurrencyCode,
        // By default, the pay request arrives immediately, and the payment begins as PENDING.
        lookedUpOnly: scenario?.step === 'PAY_REQUEST',
      },
      payments.approvalMs,
    );
    return {
      requireActive: { customers: [customerId], unfrozen: [depositAccountId] },
      insert: {
        transaction: [transaction],
        rail_order: [{ platformId, id: orderId, transactionId: id, kind: 'COLLECTION', scenario }],
      },
      result: id,
    };
  },
  paths: { USER_NOT_READY: at('customerId'), ACCOUNT_FROZEN: at('customerId') },
}));

async function readReceiver(payments: Payments, caller: Caller, input: SandboxReceiveUma) {
  if (input.customerId == null && input.receiverUmaAddress == null) {
    throw invalid("give the receiver's UMA address or its id", at('customerId'));
  }
  const { customerId, receiverUmaAddress } = input;
  const customer = customerId == null ? null : customerUuid(customerId, at('customerId'));
  const address = receiverUmaAddress == null ? null : checkUmaAddress(receiverUmaAddress, at('receiverUmaAddress'));
  // An unknown currency matches no account.
  const currency = currencyOf(input.receivingCurrencyCode);
  const [receiver] = await receiverStatement(payments.database.pool, caller, customer, address, currency?.code ?? null);
  if (!receiver) customerNotFound(customer ? at('customerId') : at('receiverUmaAddress'));
  const { depositAccountId } = receiver;
  if (!currency || depositAccountId === null) {
    const value = input.receivingCurrencyCode;
    const message = `the receiver does not accept ${JSON.stringify(value)}`;
    throw new Refusal('INVALID_CURRENCY', message, { path: at('receivingCurrencyCode'), value });
  }
  return { ...receiver, depositAccountId, currency };
}

function extraFields(names: readonly string[]) {
  const path = at('requestedReceiverFields');
  if (names.length > maxFacts) throw invalid(`at most ${maxFacts} fields can be requested`, path);
  return [...new Set(names)].map((name) => {
    if (!/^[A-Z][A-Z_]{0,62}[A-Z]$/.test(name)) {
      throw invalid('a name must consist of capital letters and underscores, as in FULL_NAME', { path, value: name });
    }
    return { name, mandatory: true };
  });
}

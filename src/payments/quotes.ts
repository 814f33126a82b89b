import { Prisma } from '../database/generated/client/client.ts';
import { type Account, type Quote, rowFromSnapshot, type Transaction } from '../database/rows.ts';
import { statement } from '../database/statement.ts';
import type { NewRow } from '../ledger/plan.ts';
import { type Currency, currencyOf } from '../money/currencies.ts';
import { checkText } from './checks.ts';
import { type Command, type Done, type Payments, railOf, run, type Tenant } from './command.ts';
import { execution } from './execution.ts';
import { madeAt, paymentReference, uuidOf } from './ids.ts';
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
} from './parties.ts';
import { type Pricing, priceQuote } from './pricing.ts';
import { Refusal } from './refusal.ts';

export interface CreateQuote {
  readonly source:
    | { readonly kind: 'ACCOUNT'; readonly accountId: string }
    | { readonly kind: 'REALTIME_FUNDING'; readonly customerId: string; readonly currency: string };
  readonly destination: { readonly kind: 'ACCOUNT'; readonly accountId: string };
  readonly lockedCurrencySide: 'SENDING' | 'RECEIVING';
  /** Smallest units of the locked side's currency, 1 to 9·10^15. */
  readonly lockedCurrencyAmount: bigint;
  readonly immediatelyExecute: boolean;
  readonly description?: string | null | undefined;
}

type PlanOf = Awaited<ReturnType<Command<'Quote'>['plan']>>;

/**
 * Locks a rate and fees until the quote expires (specification 4.1), and with `immediatelyExecute` executes at once. Its
 * transaction is created with it.
 * @throws Refusal ACCOUNT_NOT_FOUND, USER_NOT_FOUND, INVALID_INPUT, INVALID_AMOUNT, AMOUNT_OUT_OF_RANGE, INVALID_CURRENCY,
 *   SELF_PAYMENT, USER_NOT_READY, INVALID_BANK_ACCOUNT, INSUFFICIENT_BALANCE (immediate), IDEMPOTENCY_MISMATCH
 */
export function createQuote(
  payments: Payments,
  tenant: Tenant,
  input: CreateQuote,
  idempotencyKey?: string | null,
): Promise<Done<Quote>> {
  return run(payments, tenant, {
    operation: 'createQuote',
    type: 'Quote',
    input,
    idempotencyKey,
    plan: () => planQuote(payments, tenant, input),
    fields: { INSUFFICIENT_BALANCE: 'source', USER_NOT_READY: 'source', INVALID_BANK_ACCOUNT: 'destination.accountId' },
  });
}

/**
 * Executes a quote before its expiry (specification 4.3): the source is debited and the payment is PROCESSING.
 * @throws Refusal QUOTE_NOT_FOUND, QUOTE_EXPIRED, CONFLICT (executed before), INVALID_INPUT (real-time funded),
 *   INSUFFICIENT_BALANCE, USER_NOT_READY, INVALID_BANK_ACCOUNT, IDEMPOTENCY_MISMATCH
 */
export function executeQuote(
  payments: Payments,
  tenant: Tenant,
  quoteId: string,
  idempotencyKey?: string | null,
): Promise<Done<Quote>> {
  return run(payments, tenant, {
    operation: 'executeQuote',
    type: 'Quote',
    input: { quoteId },
    idempotencyKey,
    plan: () => planExecution(payments, tenant, quoteId),
    fields: {
      QUOTE_EXPIRED: 'quoteId',
      CONFLICT: 'quoteId',
      INSUFFICIENT_BALANCE: 'quoteId',
      USER_NOT_READY: 'quoteId',
      INVALID_BANK_ACCOUNT: 'quoteId',
    },
  });
}

async function planQuote(payments: Payments, tenant: Tenant, input: CreateQuote): Promise<PlanOf> {
  checkText(input.description, 'description');
  const { source, destination } = input;
  if (input.immediatelyExecute && source.kind === 'REALTIME_FUNDING') {
    throw new Refusal('INVALID_INPUT', 'a real-time funded quote is executed by its deposit, not at creation', {
      field: 'immediatelyExecute',
    });
  }
  const parties = await readParties(payments.database.pool, tenant.platformId, {
    source: source.kind === 'ACCOUNT' ? accountUuid(source.accountId, 'source.accountId') : undefined,
    customer: source.kind === 'REALTIME_FUNDING' ? customerUuid(source.customerId, 'source.customerId') : undefined,
    currency: source.kind === 'REALTIME_FUNDING' ? source.currency : undefined,
    destination: accountUuid(destination.accountId, 'destination.accountId'),
    ids: 3,
  });
  const sending = sendingCurrency(input, parties);
  const to = parties.destination ?? accountNotFound('destination.accountId');
  if (to.id === parties.source?.id) {
    throw new Refusal('SELF_PAYMENT', 'source and destination are the same account', {
      field: 'destination.accountId',
    });
  }

  const rail = railOf(payments, tenant);
  const receiving = currencyOfAccount(to);
  const rate = await rail.rate(sending, receiving);
  if (!rate) {
    throw new Refusal('INVALID_CURRENCY', `${sending.code} cannot be converted to ${to.currency}`, {
      field: 'destination.accountId',
    });
  }
  const price = priceQuote({
    sending,
    receiving,
    lockedSide: input.lockedCurrencySide,
    lockedAmount: input.lockedCurrencyAmount,
    rate,
    platformFee: parties.platformFee,
  });
  if ('code' in price) {
    throw new Refusal(price.code, price.reason, { field: price.field, value: input.lockedCurrencyAmount.toString() });
  }

  const rows = newRows(payments, tenant, input, parties, { sending, receiving, price, to });
  const { quote, transaction } = rows;
  if (source.kind === 'REALTIME_FUNDING') {
    const owner = quote.id;
    quote.paymentInstructions = jsonOf(
      await rail.paymentInstructions({
        owner,
        reference: transaction.reference,
        currency: sending,
        amount: price.totalSendingAmount,
      }),
    );
  }
  const base = {
    ready: { customers: customersOf(senderOf(parties), to), accounts: [to.id] },
    insert: { quote: [quote], transaction: [transaction] },
    result: quote.id,
  };
  if (!input.immediatelyExecute || !parties.source) return base;
  const { order, ...moves } = execution(quote, {
    orderId: idAt(parties, 2),
    rail,
    sourceAccountId: parties.source.id,
    outside: outsideOf(to),
    reason: 'executed at creation',
    fresh: true,
  });
  return { ...base, ...moves, insert: { ...base.insert, rail_order: [order] } };
}

/** The sending customer: the owner of the account that pays, or who pays in; null when it is the platform itself. */
function senderOf({ source, customer }: Parties): string | null {
  return source ? source.customerId : (customer?.id ?? null);
}

/** Whoever takes part must be allowed to: the sender, and the owner of the account that receives. */
function customersOf(sender: string | null | undefined, to: Account): string[] {
  return [...new Set([sender, to.customerId])].filter((id) => id !== null && id !== undefined);
}

function sendingCurrency(input: CreateQuote, parties: Parties): Currency {
  const { source } = input;
  if (source.kind === 'REALTIME_FUNDING') {
    if (!parties.customer) customerNotFound('source.customerId');
    const currency = currencyOf(source.currency);
    if (!currency) {
      throw new Refusal('INVALID_CURRENCY', `unknown currency ${JSON.stringify(source.currency)}`, {
        field: 'source.currency',
      });
    }
    return currency;
  }
  const from = parties.source ?? accountNotFound('source.accountId');
  if (from.kind === 'EXTERNAL') {
    throw new Refusal(
      'INVALID_INPUT',
      'the source must be an internal account: bring the money in first with a transfer-in',
      {
        field: 'source.accountId',
      },
    );
  }
  return currencyOfAccount(from);
}

interface Priced {
  readonly sending: Currency;
  readonly receiving: Currency;
  readonly price: Pricing;
  readonly to: Account;
}

function newRows(
  payments: Payments,
  tenant: Tenant,
  input: CreateQuote,
  parties: Parties,
  { sending, receiving, price, to }: Priced,
) {
  const quoteId = idAt(parties, 0);
  const transactionId = idAt(parties, 1);
  const exchangeRate = new Prisma.Decimal(price.exchangeRate);
  const rateDetails = jsonOf(price.rateDetails);
  const sides = {
    platformId: tenant.platformId,
    customerId: senderOf(parties),
    sourceKind: input.source.kind,
    sourceAccountId: parties.source?.id ?? null,
    destinationKind: 'ACCOUNT',
    destinationAccountId: to.id,
    exchangeRate,
    description: input.description ?? null,
  } as const;
  const quote: NewRow<Quote> = {
    ...sides,
    id: quoteId,
    status: 'PENDING',
    transactionId,
    expiresAt: new Date(madeAt(quoteId).getTime() + payments.quoteSeconds * 1000),
    sendingCurrency: sending.code,
    receivingCurrency: receiving.code,
    totalSendingAmount: price.totalSendingAmount,
    totalReceivingAmount: price.totalReceivingAmount,
    lockedCurrencySide: input.lockedCurrencySide,
    feesIncluded: price.feesIncluded,
    platformFee: price.platformFee,
    pricing: { rateDetails, steps: jsonOf(price.steps) },
    paymentInstructions: [],
    senderInformation: {},
  };
  const transaction: NewRow<Transaction> = {
    ...sides,
    id: transactionId,
    type: 'OUTGOING',
    status: 'PENDING',
    quoteId,
    sentAmount: price.totalSendingAmount,
    sentCurrency: sending.code,
    receivedAmount: price.totalReceivingAmount,
    receivedCurrency: receiving.code,
    fees: price.feesIncluded,
    rateDetails,
    reference: paymentReference(quoteId),
    counterpartyInformation: {},
  };
  return { quote, transaction };
}

/** A value as the JSON column keeps it: amounts as strings of digits. */
function jsonOf(value: object): Prisma.JsonValue {
  return JSON.parse(
    JSON.stringify(value, (_key, field: unknown) => (typeof field === 'bigint' ? field.toString() : field)),
  );
}

const executableStatement = statement<{
  quote: Record<string, unknown>;
  destination: Record<string, unknown> | null;
  order_id: string;
}>(
  'executable_quote',
  `select to_jsonb(q) as quote, uuid_v7() as order_id,
     (select account_snapshot(a) from account a where a.platform_id = q.platform_id and a.id = q.destination_account_id) as destination
   from quote q where q.platform_id = $1 and q.id = $2`,
);

async function planExecution(payments: Payments, tenant: Tenant, id: string): Promise<PlanOf> {
  const uuid = uuidOf(id, 'Quote');
  const [found] = uuid ? await executableStatement(payments.database.pool, tenant.platformId, uuid) : [];
  if (!found?.destination) throw new Refusal('QUOTE_NOT_FOUND', 'no such quote', { field: 'quoteId' });
  const quote = rowFromSnapshot('Quote', found.quote);
  const destination = rowFromSnapshot('Account', found.destination);
  if (!quote.sourceAccountId) {
    throw new Refusal(
      'INVALID_INPUT',
      'this quote is executed by its deposit: pay one of its paymentInstructions, with the exact reference',
      {
        field: 'quoteId',
      },
    );
  }
  const { order, ...moves } = execution(quote, {
    orderId: found.order_id,
    rail: railOf(payments, tenant),
    sourceAccountId: quote.sourceAccountId,
    outside: outsideOf(destination),
    reason: 'executed',
  });
  return {
    ...moves,
    ready: { customers: customersOf(quote.customerId, destination), accounts: [destination.id] },
    insert: { rail_order: [order] },
    result: quote.id,
  };
}

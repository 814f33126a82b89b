import {
  type Currency,
  currencyOf,
  formatMajor,
  givenCurrency,
  requiredCurrency,
  smallestUnits,
} from '../../core/currencies.ts';
import { accountNameIn, creationTime, paymentReference } from '../../core/ids.ts';
import { checkAll, invalid, Refusal } from '../../core/refusal.ts';
import { checkText, longest } from '../../core/texts.ts';
import { Prisma } from '../../infra/database/generated/client/client.ts';
import type { Quote, Transaction } from '../../infra/database/rows.ts';
import type { Scenario } from '../../rails/rail-parts.ts';
import { type Caller, tokenOf } from '../access/caller.ts';
import { checkPullable } from '../accounts/account-details.ts';
import { type CommandPlan, command, connectedRail, type Payments, railOf } from '../commands/command.ts';
import { checkInformation, checkMetadata, clockFor } from '../commands/information.ts';
import { storedLock } from '../commands/movements.ts';
import {
  accountName,
  accountNotFound,
  currencyOfNamed,
  customerNotFound,
  customerUuid,
  idAt,
  type Parties,
  readParties,
} from '../commands/parties.ts';
import { mergePlans, type NewRow } from '../ledger/plan.ts';
import { checkScenario, checkStep, neededOf } from '../orders/orders.ts';
import { type Pricing, priceQuote } from '../pricing/pricing.ts';
import type { PricingRequest } from '../pricing/pricing-steps.ts';
import { payingRail, requirements, spendOfQuote, start } from './execute-quote.ts';
import { type LockedPrice, lockRate, orderOfQuote } from './lock-rate.ts';
import { accountDestination, at, type CreateQuote, type Draft, umaDestination } from './quote-destination.ts';

/**
 * Creates a quote and its transaction. The quote's rate and fees are fixed until it expires. With
 * `immediatelyExecute`, the quote is executed right away.
 * @throws Refusal ACCOUNT_NOT_FOUND, USER_NOT_FOUND, INVALID_INPUT, INVALID_AMOUNT, AMOUNT_OUT_OF_RANGE,
 *   INVALID_CURRENCY, SELF_PAYMENT, USER_NOT_READY, CUSTOMER_FROZEN, ACCOUNT_FROZEN, INVALID_BANK_ACCOUNT,
 *   INSUFFICIENT_BALANCE and LIMIT_EXCEEDED (immediate), INVALID_UMA_ADDRESS, LOOKUP_REQUEST_NOT_FOUND,
 *   MISSING_MANDATORY_USER_INFO, FORBIDDEN (scenario in production), IDEMPOTENCY_MISMATCH
 */
export const createQuote = command((payments, caller, input: CreateQuote, idempotencyKey) => {
  const accountPath = (id: string) =>
    input.source.kind === 'ACCOUNT' && accountNameIn(input.source.accountId)?.id === id
      ? at('source', 'accountId')
      : at('destination', 'accountId');
  return {
    operation: 'createQuote',
    type: 'Quote',
    // Without a rate lock or payment instructions, planning a quote stores nothing at the rail.
    ...(input.source.kind === 'ACCOUNT' && !connectedRail(payments, caller)?.lockRate && { readsOnly: true }),
    amount: { field: 'lockedCurrencyAmount', currency: () => lockedCurrency(payments, caller, input) },
    plan: () => planQuote(payments, caller, input, idempotencyKey),
    paths: {
      INSUFFICIENT_BALANCE: at('source'),
      USER_NOT_READY: at('source'),
      AMOUNT_OUT_OF_RANGE: at('lockedCurrencyAmount'),
      INVALID_BANK_ACCOUNT: accountPath,
      ACCOUNT_FROZEN: accountPath,
      LOOKUP_REQUEST_NOT_FOUND: at('lookupId'),
    },
  };
});

async function planQuote(
  payments: Payments,
  caller: Caller,
  input: CreateQuote,
  idempotencyKey: string | null | undefined,
): Promise<CommandPlan> {
  const { source, destination } = input;
  const isFunded = source.kind === 'REALTIME_FUNDING';
  const now = await clockFor(payments.database.pool, input.senderCustomerInfo);
  const [sender, scenario, metadata = null, description = null] = checkAll(
    () => checkInformation(input.senderCustomerInfo, at('senderCustomerInfo'), now),
    () => checkScenario(payments, caller, input.sandboxScenario, { deposit: isFunded, step: 'PULL' }),
    () => checkMetadata(caller, input.metadata, at('metadata')),
    () => checkText(input.description, at('description'), longest.memo),
    () => {
      if (!input.immediatelyExecute || !isFunded) return;
      throw invalid('a real-time funded quote executes when it is funded, not at creation', at('immediatelyExecute'));
    },
  );
  const parties = await readQuoteParties(payments, caller, input);
  const sending = sendingCurrency(input, parties);
  checkStep(scenario, parties.source?.kind === 'EXTERNAL' ? 'PULL' : undefined);
  const to =
    destination.kind === 'ACCOUNT'
      ? accountDestination(input, parties)
      : await umaDestination(payments, caller, input, destination, parties, sender);

  const orderId = orderOfQuote(caller, input, parties, idempotencyKey);
  const draft = { payments, caller, input: { ...input, description }, parties, sending, to, sender, orderId };
  const priced = await quotePrice(draft);
  const { quote, transaction } = newRows(draft, priced, { scenario, metadata });
  if (isFunded && !payments.validateOnly) {
    quote.paymentInstructions = await instructions(payments, caller, quote, transaction.reference);
  }
  // Until the quote expires, policies also count a payment that awaits the customer's deposit.
  const isPayment = input.immediatelyExecute || isFunded;
  const { requireActive, capacity } = requirements({ sender: parties.customer?.id, source: parties.source }, to, quote);
  const base = {
    ...(isPayment && { spend: spendOfQuote(caller, quote, parties.destination) }),
    requireActive: { ...requireActive, ...(to.lookupId !== null && { lookups: [to.lookupId] }) },
    capacity,
    insert: { quote: [quote], transaction: [{ ...transaction, ...(isPayment && { createdBy: tokenOf(caller) }) }] },
  };
  if (!input.immediatelyExecute || !parties.source) return { ...base, result: quote.id };
  const started = start(quote, parties.source, {
    orderId,
    rail: payingRail(payments, caller, parties.source),
    target: to.target,
    scenario,
    reason: 'executed at creation',
    isNew: true,
  });
  return { ...mergePlans(base, started), result: quote.id };
}

/** Returns the currency of the locked amount; undefined if only a lookup determines it. */
async function lockedCurrency(payments: Payments, caller: Caller, input: CreateQuote): Promise<string | undefined> {
  const { source, destination, lockedCurrencySide } = input;
  const locked = lockedCurrencySide === 'SENDING' ? source : destination;
  if (locked.kind === 'ACCOUNT') return currencyOfNamed(payments.database.pool, caller, locked.accountId);
  return locked.currency ?? undefined;
}

async function readQuoteParties(payments: Payments, caller: Caller, { source, destination }: CreateQuote) {
  const [from, to] = checkAll(
    () => {
      if (source.kind === 'ACCOUNT') return { source: accountName(source.accountId, at('source', 'accountId')) };
      const customer = customerUuid(source.customerId, at('source', 'customerId'));
      return { customer, currency: currencyOf(source.currency)?.code };
    },
    () =>
      destination.kind === 'ACCOUNT' ? accountName(destination.accountId, at('destination', 'accountId')) : undefined,
  );
  return readParties(payments.database.pool, caller, { ...from, destination: to, ids: 3 });
}

interface Priced {
  readonly price: Pricing;
  readonly lock?: LockedPrice | undefined;
}

async function quotePrice(draft: Draft): Promise<Priced> {
  const { payments, caller, input, parties, sending, to } = draft;
  const rate = await neededOf(payments, railOf(payments, caller, 'rate').rate(sending, to.receiving));
  if (!rate) {
    throw new Refusal('INVALID_CURRENCY', `${sending.code} cannot be converted to ${to.receiving.code}`, to.path);
  }
  const { lockedCurrencySide: lockedSide } = input;
  const { platformFee } = parties;
  const path = at('lockedCurrencyAmount');
  const locked = lockedSide === 'SENDING' ? sending : to.receiving;
  const lockedAmount = smallestUnits(input.lockedCurrencyAmount, locked, path);
  const value = lockedAmount.toString();
  const request: PricingRequest = { sending, receiving: to.receiving, lockedSide, lockedAmount, rate, platformFee };
  const price = priceQuote(request);
  if ('code' in price) throw new Refusal(price.code, price.reason, { path, value });
  const received = price.totalReceivingAmount;
  if (to.limits && (received < to.limits.min || received > to.limits.max)) {
    const bounds = `${formatMajor(to.limits.min, to.receiving)} to ${formatMajor(to.limits.max, to.receiving)}`;
    const message = `the receiver accepts ${bounds}; ${formatMajor(received, to.receiving)} would arrive`;
    throw new Refusal('AMOUNT_OUT_OF_RANGE', message, { path, value });
  }
  // A dry run sends no request that stores anything at the provider.
  if (payments.validateOnly) return { price };
  const lock = await lockRate(draft, request, price);
  return { price: lock?.price ?? price, lock };
}

/** Returns the payment instructions for a real-time funded quote. @throws Refusal INVALID_CURRENCY if there are none */
async function instructions(payments: Payments, caller: Caller, quote: NewRow<Quote>, reference: string) {
  const asked = railOf(payments, caller, 'paymentInstructions').paymentInstructions({
    owner: quote.id,
    reference,
    currency: requiredCurrency(quote.sendingCurrency),
    amount: quote.totalSendingAmount,
    createdAt: creationTime(quote.id),
    expiresAt: quote.expiresAt,
  });
  const ways = await neededOf(payments, asked);
  if (ways.length > 0) return jsonOf(ways);
  const message = `deposits in ${quote.sendingCurrency} are not supported`;
  throw new Refusal('INVALID_CURRENCY', message, at('source', 'currency'));
}

function sendingCurrency(input: CreateQuote, parties: Parties): Currency {
  const { source } = input;
  if (source.kind === 'REALTIME_FUNDING') {
    if (!parties.customer) customerNotFound(at('source', 'customerId'));
    return givenCurrency(source.currency, at('source', 'currency'));
  }
  const from = parties.source ?? accountNotFound(at('source', 'accountId'));
  if (from.kind === 'EXTERNAL') checkPullable(from, at('source', 'accountId'));
  return requiredCurrency(from.currency);
}

function newRows(
  { payments, caller, input, parties, sending, to, sender }: Draft,
  { price, lock }: Priced,
  { scenario, metadata }: { readonly scenario: Scenario | null; readonly metadata: Prisma.JsonValue },
) {
  const quoteId = idAt(parties, 0);
  const transactionId = idAt(parties, 1);
  const rateDetails = jsonOf(price.rateDetails);
  const common = {
    platformId: caller.platformId,
    // The sending customer; null if the platform itself is the sender, even if it pays into a customer's account.
    customerId: parties.source ? parties.source.customerId : (parties.customer?.id ?? null),
    sourceKind: input.source.kind,
    sourceAccountId: parties.source?.id ?? null,
    ...to.columns,
    exchangeRate: new Prisma.Decimal(price.exchangeRate),
    description: input.description ?? null,
    metadata,
  } as const;
  const quote: NewRow<Quote> = {
    ...common,
    id: quoteId,
    status: 'PENDING',
    transactionId,
    expiresAt: expiryOf(payments, quoteId, lock),
    sendingCurrency: sending.code,
    receivingCurrency: to.receiving.code,
    totalSendingAmount: price.totalSendingAmount,
    totalReceivingAmount: price.totalReceivingAmount,
    lockedCurrencySide: input.lockedCurrencySide,
    feesIncluded: price.feesIncluded,
    platformFee: price.platformFee,
    pricing: { rateDetails, steps: jsonOf(price.steps) },
    paymentInstructions: [],
    lookupId: to.lookupId,
    senderInformation: { ...sender },
    scenario,
    rateLock: lock ? storedLock(lock.lock) : null,
  };
  const transaction: NewRow<Transaction> = {
    ...common,
    id: transactionId,
    type: 'OUTGOING',
    status: 'PENDING',
    quoteId,
    sentAmount: price.totalSendingAmount,
    sentCurrency: sending.code,
    receivedAmount: price.totalReceivingAmount,
    receivedCurrency: to.receiving.code,
    fees: price.feesIncluded,
    rateDetails,
    reference: paymentReference(quoteId),
    counterpartyInformation: { ...to.information },
  };
  return { quote, transaction };
}

/** Returns a quote's expiry, counted from the time in its id. A lock is obtained later, so it outlasts the quote. */
function expiryOf({ quoteSeconds }: Payments, quoteId: string, lock: LockedPrice | undefined): Date {
  const validMs = Math.min(quoteSeconds * 1000, Math.floor(lock?.validMs ?? Number.POSITIVE_INFINITY));
  return new Date(creationTime(quoteId).getTime() + validMs);
}

/** Converts a value for a JSON column, with amounts as strings of digits. */
export function jsonOf(value: object): Prisma.JsonValue {
  const digits = (_key: string, field: unknown) => (typeof field === 'bigint' ? field.toString() : field);
  return JSON.parse(JSON.stringify(value, digits));
}

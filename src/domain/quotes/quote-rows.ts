import type { Currency } from '../../core/currencies.ts';
import { creationTime, paymentReference } from '../../core/ids.ts';
import type { Tenant } from '../../core/tenant.ts';
import { Prisma } from '../../infra/database/generated/client/client.ts';
import type { Quote, Transaction } from '../../infra/database/rows.ts';
import type { Scenario } from '../../rails/simulation.ts';
import type { Payments } from '../commands/command.ts';
import type { Information } from '../commands/information.ts';
import { idAt, type Parties } from '../commands/parties.ts';
import { storedLock } from '../commands/rate-locks.ts';
import type { NewRow } from '../ledger/plan.ts';
import type { Pricing } from '../pricing/pricing.ts';
import type { LockedPrice } from './lock-rate.ts';
import type { Destination } from './quote-destination.ts';

interface QuoteRequest {
  readonly source: { readonly kind: 'ACCOUNT' | 'REALTIME_FUNDING' };
  readonly lockedCurrencySide: 'SENDING' | 'RECEIVING';
  readonly description?: string | null | undefined;
}

/** The data for a quote's rows, in addition to its input and parties. */
export interface QuoteData {
  readonly sending: Currency;
  readonly price: Pricing;
  readonly lock?: LockedPrice | undefined;
  readonly to: Destination;
  readonly sender: Information;
  readonly scenario: Scenario | null;
  readonly metadata: Prisma.JsonValue;
}

/** Creates the rows of a new quote and its transaction, both PENDING. */
export function newRows(
  payments: Payments,
  tenant: Tenant,
  input: QuoteRequest,
  parties: Parties,
  { sending, price, lock, to, sender, scenario, metadata }: QuoteData,
) {
  const quoteId = idAt(parties, 0);
  const transactionId = idAt(parties, 1);
  const exchangeRate = new Prisma.Decimal(price.exchangeRate);
  const rateDetails = jsonOf(price.rateDetails);
  const common = {
    platformId: tenant.platformId,
    // The sending customer; null if the platform itself is the sender, even if it pays to a customer's account.
    customerId: parties.source ? parties.source.customerId : (parties.customer?.id ?? null),
    sourceKind: input.source.kind,
    sourceAccountId: parties.source?.id ?? null,
    ...to.columns,
    exchangeRate,
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

/** Returns when a quote expires. Its id predates the request for the lock, so the quote never outlives the lock. */
function expiryOf({ quoteSeconds }: Payments, quoteId: string, lock: LockedPrice | undefined): Date {
  const validMs = Math.min(quoteSeconds * 1000, Math.floor(lock?.validMs ?? Number.POSITIVE_INFINITY));
  return new Date(creationTime(quoteId).getTime() + validMs);
}

/** Converts a value for a JSON column, with amounts as strings of digits. */
export function jsonOf(value: object): Prisma.JsonValue {
  return JSON.parse(
    JSON.stringify(value, (_key, field: unknown) => (typeof field === 'bigint' ? field.toString() : field)),
  );
}

import type { Currency } from '../../core/currencies.ts';
import { creationTime, paymentReference } from '../../core/ids.ts';
import type { Tenant } from '../../core/tenant.ts';
import { Prisma } from '../../database/generated/client/client.ts';
import type { Quote, Transaction } from '../../database/rows.ts';
import type { NewRow } from '../../ledger/plan.ts';
import type { Scenario } from '../../rails/simulation.ts';
import type { Payments } from '../command.ts';
import type { Information } from '../information.ts';
import { idAt, type Parties } from '../parties.ts';
import type { Pricing } from '../pricing/pricing.ts';
import type { Destination } from './quote-destination.ts';

/** What of a quote's request its rows keep. */
interface Requested {
  readonly source: { readonly kind: 'ACCOUNT' | 'REALTIME_FUNDING' };
  readonly lockedCurrencySide: 'SENDING' | 'RECEIVING';
  readonly description?: string | null | undefined;
}

/** What a quote's rows are made of, besides its input and parties. */
export interface Priced {
  readonly sending: Currency;
  readonly price: Pricing;
  readonly to: Destination;
  readonly sender: Information;
  readonly scenario: Scenario | null;
}

/** The rows of a new quote and of its transaction, both PENDING. */
export function newRows(
  payments: Payments,
  tenant: Tenant,
  input: Requested,
  parties: Parties,
  { sending, price, to, sender, scenario }: Priced,
) {
  const quoteId = idAt(parties, 0);
  const transactionId = idAt(parties, 1);
  const exchangeRate = new Prisma.Decimal(price.exchangeRate);
  const rateDetails = jsonOf(price.rateDetails);
  const sides = {
    platformId: tenant.platformId,
    // The sender's: a platform that pays to a customer's account pays itself.
    customerId: parties.source ? parties.source.customerId : (parties.customer?.id ?? null),
    sourceKind: input.source.kind,
    sourceAccountId: parties.source?.id ?? null,
    ...to.columns,
    exchangeRate,
    description: input.description ?? null,
  } as const;
  const quote: NewRow<Quote> = {
    ...sides,
    id: quoteId,
    status: 'PENDING',
    transactionId,
    expiresAt: new Date(creationTime(quoteId).getTime() + payments.quoteSeconds * 1000),
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
    receivedCurrency: to.receiving.code,
    fees: price.feesIncluded,
    rateDetails,
    reference: paymentReference(quoteId),
    counterpartyInformation: { ...to.information },
  };
  return { quote, transaction };
}

/** A value as the JSON column keeps it: amounts as strings of digits. */
export function jsonOf(value: object): Prisma.JsonValue {
  return JSON.parse(
    JSON.stringify(value, (_key, field: unknown) => (typeof field === 'bigint' ? field.toString() : field)),
  );
}

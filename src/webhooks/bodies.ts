import type { AccountKind } from '../database/generated/client/client.ts';
import { type Event, rowFromSnapshot, type Transaction } from '../database/rows.ts';
import { feedCursor } from '../events/cursor.ts';
import { amountRecord } from '../payments/amount.ts';
import { accountPublicId, publicId } from '../payments/ids.ts';
import { requestedFields } from '../payments/incoming.ts';

/** What a body needs beside the event itself. */
export interface Surroundings {
  readonly platformCustomerId: string | null;
  readonly sourceKind: AccountKind | null;
  readonly sourceCurrency: string | null;
  readonly destinationKind: AccountKind | null;
  readonly destinationCurrency: string | null;
  /** The currency of an ACCOUNT_STATUS event's account. */
  readonly accountCurrency: string | null;
}

/** The id of an event's webhook: the same at every attempt, to every endpoint and in every replay. */
export function webhookId(event: Pick<Event, 'id'>): string {
  return publicId('Webhook', event.id);
}

/**
 * An event as webhooks carry it: the flat bodies of the specification's section 6 (and domain-facts 2.3), each with its
 * id, its place in the feed and the version of the thing that changed, by which a receiver drops what is stale.
 */
export function webhookBody(event: Event, around: Surroundings): Record<string, unknown> {
  return {
    type: event.type,
    webhookId: webhookId(event),
    eventId: publicId('Event', event.id),
    timestamp: event.occurredAt.toISOString(),
    sequence: Number(event.sequence),
    cursor: feedCursor(event.platformId, event.sequence),
    version: event.version,
    ...payload(event, around),
  };
}

function payload(event: Event, around: Surroundings): Record<string, unknown> {
  switch (event.type) {
    case 'OUTGOING_PAYMENT':
    case 'INCOMING_PAYMENT': {
      const row = rowFromSnapshot('Transaction', snapshotOf(event));
      const requested = requestedFields(row).map(({ name, mandatory }) => ({ name, mandatory }));
      return {
        transaction: transactionRecord(row, around),
        // What an approval of the payment must or may tell of the receiver.
        ...(event.status === 'PENDING' && requested.length > 0 && { requestedReceiverCustomerInfoFields: requested }),
      };
    }
    case 'ACCOUNT_STATUS':
      return {
        accountId: event.accountId && publicId('InternalAccount', event.accountId),
        ...(around.accountCurrency !== null && {
          ...(event.oldBalance !== null && { oldBalance: amountRecord(event.oldBalance, around.accountCurrency) }),
          ...(event.newBalance !== null && { newBalance: amountRecord(event.newBalance, around.accountCurrency) }),
        }),
        ...(event.customerId && customerOf(event.customerId, around)),
      };
    case 'KYC_STATUS':
      return { ...(event.customerId && customerOf(event.customerId, around)), kycStatus: event.status };
    case 'TEST':
      return { test: true };
    case 'QUOTE_STATUS':
    case 'EXTERNAL_ACCOUNT_STATUS':
      throw new Error(`${event.type} is in the feed only`);
  }
}

/** Written by our own triggers as an object. */
function snapshotOf(event: Event): Record<string, unknown> {
  return event.snapshot as Record<string, unknown>;
}

function customerOf(customerId: string, around: Surroundings) {
  return { customerId: publicId('Customer', customerId), platformCustomerId: around.platformCustomerId };
}

/**
 * The full REST record of a transaction (specification 2.6; absent fields are left out, but settledAt and a platform's
 * own customer are null).
 */
function transactionRecord(row: Transaction, around: Surroundings): Record<string, unknown> {
  const outgoing = row.type === 'OUTGOING';
  return defined({
    id: publicId('Transaction', row.id),
    status: row.status,
    type: row.type,
    sentAmount:
      outgoing && row.sentAmount !== null && row.sentCurrency !== null
        ? amountRecord(row.sentAmount, row.sentCurrency)
        : undefined,
    receivedAmount: row.receivedAmount === null ? undefined : amountRecord(row.receivedAmount, row.receivedCurrency),
    source: sourceOf(row, around),
    destination: destinationOf(row, around),
    customerId: row.customerId && publicId('Customer', row.customerId),
    platformCustomerId: row.customerId && around.platformCustomerId,
    reconciliationInstructions: row.status === 'CREATED' ? undefined : { reference: row.reference },
    quoteId: row.quoteId === null ? undefined : publicId('Quote', row.quoteId),
    exchangeRate: row.exchangeRate === null ? undefined : row.exchangeRate.toNumber(),
    fees: row.quoteId === null || row.fees === null ? undefined : Number(row.fees),
    rateDetails: row.rateDetails === null ? undefined : numbersOf(row.rateDetails as Record<string, unknown>),
    failureReason: row.failureReason ?? undefined,
    refund: refundOf(row),
    settledAt: row.settledAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    description: row.description ?? undefined,
    counterpartyInformation:
      row.sourceUmaAddress === null && row.destinationUmaAddress === null ? undefined : row.counterpartyInformation,
  });
}

function sourceOf(row: Transaction, around: Surroundings): Record<string, unknown> | undefined {
  const currency = around.sourceCurrency ?? row.sentCurrency ?? row.receivedCurrency;
  switch (row.sourceKind) {
    case 'ACCOUNT':
      return row.sourceAccountId && around.sourceKind
        ? { sourceType: 'ACCOUNT', accountId: accountPublicId(around.sourceKind, row.sourceAccountId), currency }
        : undefined;
    case 'UMA_ADDRESS':
      return { sourceType: 'UMA_ADDRESS', umaAddress: row.sourceUmaAddress, currency };
    case 'REALTIME_FUNDING':
      return defined({
        sourceType: 'REALTIME_FUNDING',
        customerId: row.customerId === null ? undefined : publicId('Customer', row.customerId),
        currency,
      });
    case null:
      return undefined;
  }
}

function destinationOf(row: Transaction, around: Surroundings): Record<string, unknown> {
  const currency = around.destinationCurrency ?? row.receivedCurrency;
  if (row.destinationUmaAddress !== null)
    return { destinationType: 'UMA_ADDRESS', umaAddress: row.destinationUmaAddress, currency };
  return defined({
    destinationType: 'ACCOUNT',
    accountId:
      row.destinationAccountId && around.destinationKind
        ? accountPublicId(around.destinationKind, row.destinationAccountId)
        : undefined,
    currency,
  });
}

function refundOf(row: Transaction): Record<string, unknown> | undefined {
  if (row.refundReference === null || row.refundInitiatedAt === null) return undefined;
  return defined({
    reference: row.refundReference,
    initiatedAt: row.refundInitiatedAt.toISOString(),
    settledAt: row.refundSettledAt?.toISOString(),
  });
}

/** Rate details are stored as digits; the specification's are numbers. */
function numbersOf(details: Record<string, unknown>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(details)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => [name, Number(value)]),
  );
}

function defined(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}

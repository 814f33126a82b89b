import { publicId } from '../../core/ids.ts';
import type { AccountKind } from '../../database/generated/client/client.ts';
import { type Event, rowFromSnapshot } from '../../database/rows.ts';
import { trustedJson } from '../../database/trusted-json.ts';
import { feedCursor } from '../../events/cursor.ts';
import { requestedFields } from '../../payments/approvals/incoming.ts';
import { amountRecord, isJsonInteger } from '../../records/numbers.ts';
import type { PaymentParties } from '../../records/payment-parties.ts';
import { transactionRecord } from '../../records/transaction-record.ts';

/** What a body needs beside the event itself. */
export interface Surroundings {
  readonly platformCustomerId: string | null;
  readonly sourceKind: AccountKind | null;
  readonly destinationKind: AccountKind | null;
  /** The currency of an ACCOUNT_STATUS event's account. */
  readonly accountCurrency: string | null;
}

/** The id of an event's webhook: the same at every attempt, to every endpoint and in every replay. */
export function webhookId(event: Pick<Event, 'id'>): string {
  return publicId('Webhook', event.id);
}

/**
 * An event as webhooks carry it: the flat bodies of specification 6 (and decision 18), each with its
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
        // REST's own record, as of the event (decision 18).
        transaction: transactionRecord(row, partiesOf(around)),
        // What an approval of the payment must or may tell of the receiver.
        ...(event.status === 'PENDING' && requested.length > 0 && { requestedReceiverCustomerInfoFields: requested }),
      };
    }
    case 'ACCOUNT_STATUS':
      return {
        accountId: event.accountId && publicId('InternalAccount', event.accountId),
        ...balance('oldBalance', event.oldBalance, around),
        ...balance('newBalance', event.newBalance, around),
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

/**
 * A balance, where a JSON number carries it exactly. A sum of many payments can pass that: then it is left out, as the
 * specification's optional fields may be, for a wrong number would be worse and no body at all worse still.
 */
function balance(field: string, amount: bigint | null, { accountCurrency }: Surroundings) {
  if (amount === null || accountCurrency === null || !isJsonInteger(amount)) return {};
  return { [field]: amountRecord(amount, accountCurrency) };
}

function partiesOf({ platformCustomerId, sourceKind, destinationKind }: Surroundings): PaymentParties {
  return {
    customer: platformCustomerId === null ? null : { platformCustomerId },
    sourceAccount: sourceKind && { kind: sourceKind },
    destinationAccount: destinationKind && { kind: destinationKind },
  };
}

function snapshotOf(event: Event): Record<string, unknown> {
  return trustedJson<Record<string, unknown>>(event.snapshot);
}

function customerOf(customerId: string, around: Surroundings) {
  return { customerId: publicId('Customer', customerId), platformCustomerId: around.platformCustomerId };
}

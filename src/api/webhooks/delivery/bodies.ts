import type { Cursors } from '../../../core/cursors.ts';
import { publicId } from '../../../core/ids.ts';
import { requestedFields } from '../../../domain/approvals/incoming.ts';
import { feedCursor } from '../../../domain/events/cursor.ts';
import type { AccountKind } from '../../../infra/database/generated/client/client.ts';
import { type Event, rowFromSnapshot, trustedJson } from '../../../infra/database/rows.ts';
import { amountRecord, isJsonInteger } from '../../records/fields.ts';
import { type PaymentParties, transactionRecord } from '../../records/payment-records.ts';

/** The fields of related rows that a webhook body needs. */
export interface RelatedFields {
  readonly platformCustomerId: string | null;
  readonly sourceKind: AccountKind | null;
  readonly sourceCurrency: string | null;
  readonly destinationKind: AccountKind | null;
  /** The currency of the account in an ACCOUNT_STATUS event. */
  readonly accountCurrency: string | null;
}

/** The fields of the rows that `relatedRows` joins, as an SQL list. */
export const relatedFields =
  'c.platform_customer_id as "platformCustomerId", s.kind as "sourceKind", s.currency as "sourceCurrency", t.kind as "destinationKind", a.currency as "accountCurrency"';

/** Returns the SQL joins that `relatedFields` needs. */
export const relatedRows = (event: string) =>
  `left join customer c on c.platform_id = ${event}.platform_id and c.id = ${event}.customer_id
   left join account a on a.platform_id = ${event}.platform_id and a.id = ${event}.account_id
   left join account s on s.platform_id = ${event}.platform_id and s.id = (${event}.snapshot ->> 'source_account_id')::uuid
   left join account t on t.platform_id = ${event}.platform_id and t.id = (${event}.snapshot ->> 'destination_account_id')::uuid`;

/** Returns the id of an event's webhook: the same for every attempt, endpoint and replay. */
export const webhookId = (event: Pick<Event, 'id'>) => publicId('Webhook', event.id);

/**
 * Returns the body of an event's webhook as the string that is signed and sent. Receivers recognize stale events by the
 * changed object's version.
 */
export function webhookText(cursors: Cursors, event: Event, related: RelatedFields): string {
  return JSON.stringify({
    type: event.type,
    webhookId: webhookId(event),
    eventId: publicId('Event', event.id),
    timestamp: event.occurredAt.toISOString(),
    sequence: Number(event.sequence),
    cursor: feedCursor(cursors, event.platformId, event),
    version: event.version,
    ...payload(event, related),
  });
}

function payload(event: Event, related: RelatedFields): Record<string, unknown> {
  switch (event.type) {
    case 'OUTGOING_PAYMENT':
    case 'INCOMING_PAYMENT': {
      const row = rowFromSnapshot('Transaction', snapshotOf(event));
      const requested = requestedFields(row).map(({ name, mandatory }) => ({ name, mandatory }));
      return {
        // The same record as in REST, as it was when the event occurred.
        transaction: transactionRecord(row, partiesOf(related)),
        // The information about the receiver that an approval must or may contain.
        ...(event.status === 'PENDING' && requested.length > 0 && { requestedReceiverCustomerInfoFields: requested }),
      };
    }
    case 'ACCOUNT_STATUS':
      return {
        accountId: event.accountId && publicId('InternalAccount', event.accountId),
        ...balance('oldBalance', event.oldBalance, related),
        ...balance('newBalance', event.newBalance, related),
        ...(event.customerId && customerOf(event.customerId, related)),
      };
    case 'KYC_STATUS':
      return { ...(event.customerId && customerOf(event.customerId, related)), kycStatus: event.status };
    case 'API_TOKEN_EXPIRY': {
      const { token_id: id, expires_at: expiresAt } = snapshotOf(event);
      return { tokenId: publicId('ApiToken', String(id)), expiresAt: new Date(String(expiresAt)).toISOString() };
    }
    case 'TEST':
      return { test: true };
    case 'QUOTE_STATUS':
    case 'EXTERNAL_ACCOUNT_STATUS':
    case 'CUSTOMER_CHANGE':
    case 'ACCOUNT_CHANGE':
    case 'WEBHOOK_DELIVERY':
      throw new Error(`${event.type} is not sent as a webhook`);
  }
}

/**
 * Returns an object with only the balance, or an empty one if a JSON number cannot represent the balance exactly. The
 * specification makes the field optional, and omitting it is better than sending a wrong number or no webhook.
 */
function balance(field: string, amount: bigint | null, { accountCurrency }: RelatedFields) {
  if (amount === null || accountCurrency === null || !isJsonInteger(amount)) return {};
  return { [field]: amountRecord(amount, accountCurrency) };
}

function partiesOf({ platformCustomerId, sourceKind, sourceCurrency, destinationKind }: RelatedFields): PaymentParties {
  return {
    customer: platformCustomerId === null ? null : { platformCustomerId },
    sourceAccount: sourceKind && sourceCurrency ? { kind: sourceKind, currency: sourceCurrency } : null,
    destinationAccount: destinationKind && { kind: destinationKind },
  };
}

const snapshotOf = (event: Event) => trustedJson<Record<string, unknown>>(event.snapshot);

function customerOf(customerId: string, { platformCustomerId }: RelatedFields) {
  return { customerId: publicId('Customer', customerId), platformCustomerId };
}

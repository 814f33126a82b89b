import type { Event as EventRow } from '../../../infra/database/generated/client/client.ts';
import { rowFromSnapshot, type SnapshotRows } from '../../../infra/database/rows.ts';

/** The model of the row that an event of each type is about; the event's snapshot is that row as of the change. */
export const modelOfEvent = {
  OUTGOING_PAYMENT: 'Transaction',
  INCOMING_PAYMENT: 'Transaction',
  ACCOUNT_STATUS: 'Account',
  EXTERNAL_ACCOUNT_STATUS: 'Account',
  KYC_STATUS: 'Customer',
  QUOTE_STATUS: 'Quote',
  CUSTOMER_CHANGE: 'Customer',
  ACCOUNT_CHANGE: 'Account',
  WEBHOOK_DELIVERY: 'WebhookDelivery',
  TEST: undefined,
} as const satisfies Record<EventRow['type'], keyof SnapshotRows | undefined>;

/** Returns the row that changed, as of the change, when it is of this model. The database makes the snapshot in this form. */
export function snapshotOf<M extends keyof SnapshotRows>(event: EventRow, model: M): SnapshotRows[M] | null {
  return modelOfEvent[event.type] === model ? rowFromSnapshot(model, event.snapshot) : null;
}

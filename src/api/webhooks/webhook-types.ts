import type { EventType } from '../../infra/database/generated/client/client.ts';

/** The types of event that webhooks carry; the others are in the feed only. */
export const webhookTypes = [
  'OUTGOING_PAYMENT',
  'INCOMING_PAYMENT',
  'ACCOUNT_STATUS',
  'KYC_STATUS',
  'TEST',
] as const satisfies readonly EventType[];

/** The same types as a list in SQL. No event of a delivery is among them: each delivery would make another one. */
export const webhookTypesSql = webhookTypes.map((type) => `'${type}'`).join(', ');

import type { Permission } from '../database/generated/client/client.ts';

/**
 * What each operation needs, on every door. The name is the GraphQL mutation's, and the scope of its idempotency keys, so
 * that one key means the same whichever way it comes.
 */
export const operations = {
  createCustomer: { permission: 'MANAGE' },
  createExternalAccount: { permission: 'MANAGE' },
  createQuote: { permission: 'TRANSACT' },
  executeQuote: { permission: 'TRANSACT' },
  transferOut: { permission: 'TRANSACT' },
  transferIn: { permission: 'TRANSACT' },
  sandboxFundAccount: { permission: 'TRANSACT' },
  sandboxSend: { permission: 'TRANSACT' },
  createWebhookEndpoint: { permission: 'MANAGE' },
  updateWebhookEndpoint: { permission: 'MANAGE' },
  deleteWebhookEndpoint: { permission: 'MANAGE' },
  rotateWebhookSecret: { permission: 'MANAGE' },
  sendTestWebhook: { permission: 'MANAGE' },
  replayWebhookEvents: { permission: 'MANAGE' },
} as const satisfies Record<string, { permission: Permission }>;

export type Operation = keyof typeof operations;

/** Whether this is the name of an operation. */
export function isOperation(name: string): name is Operation {
  return Object.hasOwn(operations, name);
}

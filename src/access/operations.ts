import type { Permission } from '../database/generated/client/client.ts';

/**
 * What each operation needs, on every door. The name is the GraphQL mutation's, and the scope of its idempotency keys, so
 * that one key means the same whichever way it comes. `client`: an app's token may carry it out too, on what it is bound
 * to; without the word it is for platforms alone.
 */
export const operations = {
  createCustomer: { permission: 'MANAGE' },
  updateCustomer: { permission: 'MANAGE' },
  deleteCustomer: { permission: 'MANAGE' },
  createExternalAccount: { permission: 'MANAGE' },
  createQuote: { permission: 'TRANSACT', client: true },
  executeQuote: { permission: 'TRANSACT', client: true },
  transferOut: { permission: 'TRANSACT', client: true },
  transferIn: { permission: 'TRANSACT', client: true },
  createClientToken: { permission: 'MANAGE' },
  revokeClientToken: { permission: 'MANAGE' },
  createApiToken: { permission: 'MANAGE' },
  revokeApiToken: { permission: 'MANAGE' },
  lookUpReceiver: { permission: 'VIEW' },
  approveTransaction: { permission: 'TRANSACT' },
  rejectTransaction: { permission: 'TRANSACT' },
  sandboxReceiveUma: { permission: 'TRANSACT' },
  sandboxFundAccount: { permission: 'TRANSACT', client: true },
  sandboxSetExternalAccountStatus: { permission: 'TRANSACT' },
  sandboxSend: { permission: 'TRANSACT', client: true },
  createWebhookEndpoint: { permission: 'MANAGE' },
  updateWebhookEndpoint: { permission: 'MANAGE' },
  deleteWebhookEndpoint: { permission: 'MANAGE' },
  rotateWebhookSecret: { permission: 'MANAGE' },
  sendTestWebhook: { permission: 'MANAGE' },
  replayWebhookEvents: { permission: 'MANAGE' },
} as const satisfies Record<string, { permission: Permission; client?: true }>;

export type Operation = keyof typeof operations;

/** Whether this is the name of an operation. */
export function isOperation(name: string): name is Operation {
  return Object.hasOwn(operations, name);
}

/** Whether an app's token may carry out an operation at all. */
export function isForClients(name: Operation): boolean {
  return 'client' in operations[name];
}

import { Refusal } from '../core/refusal.ts';
import type { Permission } from '../database/generated/client/client.ts';
import type { Caller } from './caller.ts';

/**
 * The operations of every API, with the permission that each needs. The name is the name of the GraphQL mutation, and
 * the scope of its idempotency keys, so that one key means the same in every API. `client`: an app's token may run it
 * too, on what the token is bound to; otherwise it is for platforms alone. `keyless`: it takes no idempotency key, and
 * is no mutation. `showsExisting`: its answer is a record that was there before and that it need not change, so the answer is
 * reading (decision 62).
 */
export const operations = {
  createCustomer: { permission: 'MANAGE' },
  updateCustomer: { permission: 'MANAGE', showsExisting: true },
  deleteCustomer: { permission: 'MANAGE', showsExisting: true },
  createExternalAccount: { permission: 'MANAGE' },
  updateExternalAccount: { permission: 'MANAGE', showsExisting: true },
  deleteExternalAccount: { permission: 'MANAGE', showsExisting: true },
  createQuote: { permission: 'TRANSACT', client: true },
  executeQuote: { permission: 'TRANSACT', client: true },
  cancelQuote: { permission: 'TRANSACT', client: true },
  transferOut: { permission: 'TRANSACT', client: true },
  transferIn: { permission: 'TRANSACT', client: true },
  transferInternal: { permission: 'TRANSACT' },
  createClientToken: { permission: 'MANAGE' },
  revokeClientToken: { permission: 'MANAGE' },
  createApiToken: { permission: 'MANAGE' },
  revokeApiToken: { permission: 'MANAGE' },
  lookUpReceiver: { permission: 'VIEW' },
  approveTransaction: { permission: 'TRANSACT' },
  rejectTransaction: { permission: 'TRANSACT' },
  sandboxReceiveUma: { permission: 'TRANSACT' },
  sandboxFundAccount: { permission: 'TRANSACT', client: true, showsExisting: true },
  sandboxSetExternalAccountStatus: { permission: 'TRANSACT', showsExisting: true },
  sandboxSetKycStatus: { permission: 'TRANSACT', showsExisting: true },
  sandboxSend: { permission: 'TRANSACT', client: true },
  createWebhookEndpoint: { permission: 'MANAGE' },
  updateWebhookEndpoint: { permission: 'MANAGE', showsExisting: true },
  deleteWebhookEndpoint: { permission: 'MANAGE' },
  rotateWebhookSecret: { permission: 'MANAGE', showsExisting: true },
  sendTestWebhook: { permission: 'MANAGE' },
  replayWebhookEvents: { permission: 'MANAGE' },
  updatePlatform: { permission: 'MANAGE', keyless: true, showsExisting: true },
} as const satisfies Record<string, { permission: Permission; client?: true; keyless?: true; showsExisting?: true }>;

/** The name of an operation. */
export type Operation = keyof typeof operations;

/** Tells whether a name is that of an operation with idempotency keys: of a mutation. */
export function isKeyed(name: string): boolean {
  return isOperation(name) && !('keyless' in operations[name]);
}

function isOperation(name: string): name is Operation {
  return Object.hasOwn(operations, name);
}

/**
 * Refuses a caller who may not run an operation. Every command calls this before it does anything. The APIs call it
 * before they look at the input, so that nobody learns what is wrong with an input that they may not give.
 * @throws Refusal FORBIDDEN
 */
export function authorize(caller: Pick<Caller, 'kind' | 'permissions'>, name: Operation): void {
  requirePermission(caller, operations[name].permission);
  if (caller.kind === 'CLIENT' && !('client' in operations[name])) {
    throw new Refusal('FORBIDDEN', `${name} is for platforms, not for client tokens`);
  }
}

/** Tells whether the answer of an operation is a record that was there before: then it is for callers with VIEW. */
export function showsExisting(name: Operation): boolean {
  return 'showsExisting' in operations[name];
}

/**
 * Refuses a caller who lacks a permission.
 * @throws Refusal FORBIDDEN
 */
export function requirePermission({ permissions }: Pick<Caller, 'permissions'>, permission: Permission): void {
  if (!permissions.includes(permission)) {
    throw new Refusal('FORBIDDEN', `this token lacks the permission ${permission}`);
  }
}

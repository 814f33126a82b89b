import { Refusal } from '../../core/refusal.ts';
import type { ClientGrant, Permission } from '../../infra/database/generated/client/client.ts';
import type { Caller } from './caller.ts';

/**
 * The operations of all APIs, each with the permission it requires. An operation's name is also the name of its GraphQL
 * mutation and the scope of its idempotency keys, so that a key means the same thing in every API.
 * - `or`: an alternative permission. The command defines what the alternative permits.
 * - `client`: apps may also run the operation, within the scope of their tokens. Otherwise, only platforms may.
 * - `grant`: a customer's app may run it for that customer, even without the permission, if the platform included this
 *   grant in the token.
 * - `reads`: the operation determines who receives the platform's events, so it also requires VIEW.
 * - `showsExisting`: the operation may return an existing record unchanged, so it also requires VIEW.
 * - `changes`: the operation changes a record named in its input, and therefore accepts an expected version.
 */
export const operations = {
  createCustomer: { permission: 'MANAGE' },
  updateCustomer: { permission: 'MANAGE', showsExisting: true, changes: true },
  deleteCustomer: { permission: 'MANAGE', showsExisting: true, changes: true },
  createExternalAccount: { permission: 'MANAGE', grant: 'ADD_BENEFICIARIES' },
  updateExternalAccount: { permission: 'MANAGE', showsExisting: true, changes: true },
  deleteExternalAccount: { permission: 'MANAGE', showsExisting: true, changes: true },
  createQuote: { permission: 'TRANSACT', client: true },
  executeQuote: { permission: 'TRANSACT', client: true, changes: true },
  cancelQuote: { permission: 'TRANSACT', client: true, changes: true },
  transferOut: { permission: 'TRANSACT', client: true },
  transferIn: { permission: 'TRANSACT', client: true },
  transferInternal: { permission: 'TRANSACT' },
  createClientToken: { permission: 'MANAGE' },
  revokeClientToken: { permission: 'MANAGE', changes: true },
  createApiToken: { permission: 'MANAGE' },
  rotateApiToken: { permission: 'MANAGE' },
  revokeApiToken: { permission: 'MANAGE', changes: true },
  lookUpReceiver: { permission: 'VIEW', grant: 'LOOK_UP_RECEIVERS' },
  approveTransaction: { permission: 'TRANSACT', or: 'APPROVE', changes: true },
  rejectTransaction: { permission: 'TRANSACT', or: 'APPROVE', changes: true },
  sandboxReceiveUma: { permission: 'TRANSACT' },
  sandboxFundAccount: { permission: 'TRANSACT', client: true, showsExisting: true },
  sandboxSetKycStatus: { permission: 'TRANSACT', showsExisting: true, changes: true },
  sandboxSend: { permission: 'TRANSACT', client: true },
  createWebhookEndpoint: { permission: 'MANAGE', reads: true },
  updateWebhookEndpoint: { permission: 'MANAGE', reads: true, changes: true },
  deleteWebhookEndpoint: { permission: 'MANAGE', changes: true },
  rotateWebhookSecret: { permission: 'MANAGE', reads: true, changes: true },
  sendTestWebhook: { permission: 'MANAGE', reads: true },
  replayWebhookEvents: { permission: 'MANAGE', reads: true },
  resendWebhookDelivery: { permission: 'MANAGE', reads: true },
  setPolicy: { permission: 'MANAGE', showsExisting: true, changes: true },
  deletePolicy: { permission: 'MANAGE', changes: true },
  updatePlatform: { permission: 'MANAGE', showsExisting: true, changes: true },
} as const satisfies Record<
  string,
  {
    permission: Permission;
    or?: Permission;
    client?: true;
    grant?: ClientGrant;
    reads?: true;
    showsExisting?: true;
    changes?: true;
  }
>;

export type Operation = keyof typeof operations;

export const operationNames = Object.keys(operations) as readonly Operation[];

/**
 * Refuses a caller who may not run an operation. Every command calls this first. The APIs call it before they validate
 * the input, so that a caller without permission learns nothing about whether the input is valid.
 * @throws Refusal FORBIDDEN
 */
export function authorize(caller: Pick<Caller, 'kind' | 'permissions' | 'grants'>, name: Operation): void {
  const operation = operations[name];
  if (caller.kind === 'CLIENT' && 'grant' in operation) {
    if (caller.grants.includes(operation.grant)) return;
    const message = `this client token lacks the grant ${operation.grant}, which the platform can include when it creates a token`;
    throw new Refusal('FORBIDDEN', message);
  }
  const { permission } = operation;
  requirePermission(caller, permission, ...('or' in operation ? [operation.or] : []));
  if ('reads' in operation) requirePermission(caller, 'VIEW');
  if (caller.kind === 'CLIENT' && !('client' in operation)) {
    throw new Refusal('FORBIDDEN', `${name} needs an API token, not a client token`);
  }
}

/** Returns whether an operation may return an existing record, and therefore requires VIEW. */
export function showsExisting(name: Operation): boolean {
  return 'showsExisting' in operations[name];
}

/** Returns whether an operation changes a record named in its input, and therefore accepts an expected version. */
export function changesRecord(name: Operation): boolean {
  return 'changes' in operations[name];
}

/** @throws Refusal FORBIDDEN for a caller who has none of the given permissions */
export function requirePermission({ permissions }: Pick<Caller, 'permissions'>, ...either: readonly Permission[]) {
  if (!either.some((one) => permissions.includes(one)))
    throw new Refusal('FORBIDDEN', `this token lacks the permission ${either.join(' or ')}`);
}

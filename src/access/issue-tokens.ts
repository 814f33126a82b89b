import { checkText } from '../core/checks.ts';
import { keyPath } from '../core/idempotency.ts';
import { publicId, uuidOf } from '../core/ids.ts';
import { pathsIn } from '../core/path.ts';
import { Refusal } from '../core/refusal.ts';
import type { Database } from '../database/database.ts';
import { afterCommit } from '../database/faults.ts';
import type { ApiToken, Permission } from '../database/generated/client/client.ts';
import type { Queryable } from '../database/statement.ts';
import { hashSecret, newCredentials } from './api-tokens.ts';
import type { Caller } from './caller.ts';
import { type ClientTokens, subjectOf } from './client-tokens.ts';
import { once } from './once.ts';
import type { Operation } from './operations.ts';
import { callerStatement, visibleRow } from './visible.ts';

/** The longest that a client token lives: a day. */
export const maxClientSeconds = 86_400;

export interface NewClientToken {
  readonly customerId?: string | null | undefined;
  readonly quoteId?: string | null | undefined;
  readonly transactionId?: string | null | undefined;
  readonly permissions: readonly Permission[];
  readonly expiresInSeconds: number;
}

const at = pathsIn<NewClientToken>();

const targets = {
  customerId: { type: 'Customer', code: 'USER_NOT_FOUND', store: storeStatement('customer') },
  quoteId: { type: 'Quote', code: 'QUOTE_NOT_FOUND', store: storeStatement('quote') },
  transactionId: { type: 'Transaction', code: 'TRANSACTION_NOT_FOUND', store: storeStatement('transaction') },
} as const;

/** Stores a token for the thing $4, with the permissions $5, for $6 seconds. */
function storeStatement(table: 'customer' | 'quote' | 'transaction') {
  return callerStatement<{ id: string }>(
    `store_token_of_${table}`,
    `insert into client_token (platform_id, ${table}_id, permissions, expires_at)
     select t.platform_id, t.id, $5::text[]::permission[], clock_ms() + $6::int * interval '1 second'
     from ${table} t where ${visibleRow(table, 't')} and t.id = $4 returning id`,
  );
}

/**
 * Mints a token for an app, bound to exactly one customer, quote or transaction.
 * @throws Refusal INVALID_INPUT, FORBIDDEN (more than the caller has), USER_NOT_FOUND, QUOTE_NOT_FOUND,
 *   TRANSACTION_NOT_FOUND, CONFLICT (the key's first call was answered: its token is not kept), SERVICE_UNAVAILABLE
 */
export async function createClientToken(
  database: Database,
  tokens: ClientTokens,
  caller: Caller,
  input: NewClientToken,
  idempotencyKey?: string | null,
): Promise<{ token: string; tokenId: string; expiresAt: Date; replayed: false }> {
  tokens.requireKey();
  const target = targetOf(input);
  checkPermissions(caller, input.permissions);
  if (!input.permissions.includes('VIEW')) {
    throw new Refusal('INVALID_INPUT', 'a client token has VIEW, and TRANSACT if it may also pay', {
      path: at('permissions'),
    });
  }
  if (input.permissions.includes('MANAGE')) {
    throw new Refusal('INVALID_INPUT', 'an app cannot be given MANAGE', { path: at('permissions') });
  }
  if (input.expiresInSeconds < 1 || input.expiresInSeconds > maxClientSeconds) {
    throw new Refusal('INVALID_INPUT', `a client token lives 1 to ${maxClientSeconds} seconds`, {
      path: at('expiresInSeconds'),
    });
  }
  const done = await recorded(
    database,
    caller,
    { operation: 'createClientToken', type: 'ClientToken', input, idempotencyKey },
    (on) => storeClientToken(on, caller, target, input),
  );
  if (done.replayed) throw alreadyAnswered(publicId('ClientToken', done.id));
  const where = { platformId_id: { platformId: caller.platformId, id: done.id } };
  const row = await afterCommit(database.prisma.clientToken.findUniqueOrThrow({ where }));
  return {
    token: await tokens.sign(row, subjectOf(row)),
    tokenId: publicId('ClientToken', row.id),
    expiresAt: row.expiresAt,
    replayed: false,
  };
}

interface Target {
  readonly name: keyof typeof targets;
  readonly uuid: string;
}

function targetOf(input: NewClientToken): Target {
  const given = (Object.keys(targets) as (keyof typeof targets)[]).filter((name) => input[name] != null);
  const [name] = given;
  if (name === undefined || given.length > 1) {
    throw new Refusal('INVALID_INPUT', 'a client token is bound to exactly one customer, quote or transaction', {
      path: at(given[1] ?? 'customerId'),
    });
  }
  const { type, code } = targets[name];
  const uuid = uuidOf(input[name] ?? '', type);
  if (uuid === undefined) throw new Refusal(code, `no such ${type.toLowerCase()}`, { path: at(name) });
  return { name, uuid };
}

async function storeClientToken(on: Queryable, caller: Caller, { name, uuid }: Target, input: NewClientToken) {
  const { type, code, store } = targets[name];
  const [row] = await store(on, caller, uuid, [...new Set(input.permissions)], input.expiresInSeconds);
  if (!row) throw new Refusal(code, `no such ${type.toLowerCase()}`, { path: at(name) });
  return row.id;
}

/** Makes or ends a token once per idempotency key. Only its id is kept, so that no secret ever is. */
function recorded(
  database: Database,
  caller: Caller,
  command: {
    readonly operation: Operation;
    readonly type: 'ApiToken' | 'ClientToken';
    readonly input: object;
    readonly idempotencyKey: string | null | undefined;
  },
  change: (on: Queryable) => Promise<string>,
): Promise<{ readonly id: string; readonly replayed: boolean }> {
  const { type, ...act } = command;
  return once(database, caller, {
    ...act,
    effect: async (client) => {
      const id = await change(client);
      return { kept: { type, row: { platform_id: caller.platformId, id } }, answer: { id } };
    },
    repeat: async ({ row }) => {
      if (!row) throw new Error('what is kept of a token is its id');
      return { id: row.id };
    },
  });
}

/** Nobody hands out more than they have. */
function checkPermissions(caller: Caller, permissions: readonly Permission[]): void {
  if (permissions.length === 0) {
    throw new Refusal('INVALID_INPUT', 'a token needs a permission', { path: at('permissions') });
  }
  const missing = permissions.find((permission) => !caller.permissions.includes(permission));
  if (missing) {
    throw new Refusal('FORBIDDEN', `this token lacks the permission ${missing}, so it cannot give it`, {
      path: at('permissions'),
    });
  }
}

/** An answer that carries a secret is kept nowhere, so it cannot be given again. */
function alreadyAnswered(id: string): Refusal {
  return new Refusal('CONFLICT', `this idempotency key has made ${id}; its secret was shown once and is not kept`, {
    path: keyPath,
    existingId: id,
  });
}

/**
 * Makes a token for a server. The secret is answered here and kept nowhere.
 * @throws Refusal INVALID_INPUT, FORBIDDEN (more than the caller has), CONFLICT (the key's first call was answered)
 */
export async function issueApiToken(
  database: Database,
  caller: Caller,
  input: { readonly name: string; readonly permissions: readonly Permission[] },
  idempotencyKey?: string | null,
): Promise<{ apiToken: ApiToken; secret: string; replayed: false }> {
  checkText(input.name, ['name']);
  if (input.name.trim() === '') throw new Refusal('INVALID_INPUT', 'a token needs a name', { path: ['name'] });
  checkPermissions(caller, input.permissions);
  const { clientId, secret } = newCredentials();
  const done = await recorded(
    database,
    caller,
    { operation: 'createApiToken', type: 'ApiToken', input, idempotencyKey },
    async (on) => {
      const { rows } = await on.query<{ id: string }>(
        `insert into api_token (platform_id, client_id, secret_hash, name, permissions)
         values ($1, $2, $3, $4, $5::text[]::permission[]) returning id`,
        [caller.platformId, clientId, hashSecret(secret), input.name, [...new Set(input.permissions)]],
      );
      const [row] = rows;
      if (!row) throw new Error('an insert returns its row');
      return row.id;
    },
  );
  if (done.replayed) throw alreadyAnswered(publicId('ApiToken', done.id));
  const where = { platformId_id: { platformId: caller.platformId, id: done.id } };
  const apiToken = await afterCommit(database.prisma.apiToken.findUniqueOrThrow({ where }));
  return { apiToken, secret, replayed: false };
}

const revokeStatements = {
  ApiToken: callerStatement<{ id: string }>(
    'revoke_api_token',
    `update api_token t set revoked_at = coalesce(revoked_at, clock_ms())
     where ${visibleRow('apiToken', 't')} and t.id = $4 returning id`,
  ),
  ClientToken: callerStatement<{ id: string }>(
    'revoke_client_token',
    `update client_token t set revoked_at = coalesce(revoked_at, clock_ms())
     where ${visibleRow('clientToken', 't')} and t.id = $4 returning id`,
  ),
};

/**
 * Ends a token: within seconds no request is answered under it, and what it holds open is closed. A second time is no
 * error.
 * @throws Refusal TOKEN_NOT_FOUND
 */
export async function revokeToken(
  database: Database,
  caller: Caller,
  type: keyof typeof revokeStatements,
  tokenId: string,
  idempotencyKey?: string | null,
): Promise<{ revokedId: string; replayed: boolean }> {
  const done = await recorded(
    database,
    caller,
    { operation: `revoke${type}` as const, type, input: { tokenId }, idempotencyKey },
    async (on) => {
      const uuid = uuidOf(tokenId, type);
      const [row] = uuid ? await revokeStatements[type](on, caller, uuid) : [];
      if (!row) throw new Refusal('TOKEN_NOT_FOUND', 'no such token', { path: ['tokenId'] });
      return row.id;
    },
  );
  return { revokedId: publicId(type, done.id), replayed: done.replayed };
}

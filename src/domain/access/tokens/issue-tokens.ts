import { lastMs } from '../../../core/checks.ts';
import { keyPath } from '../../../core/idempotency.ts';
import { type IdType, publicId, uuidOf } from '../../../core/ids.ts';
import { checkNotEmpty, invalid, pathsIn, Refusal, type RefusalCode } from '../../../core/refusal.ts';
import { checkText, longest } from '../../../core/texts.ts';
import type { Database } from '../../../infra/database/database.ts';
import type { ApiToken, ClientGrant, Permission, Prisma } from '../../../infra/database/generated/client/client.ts';
import { readClock, type Transaction } from '../../../infra/database/transaction.ts';
import type { Caller } from '../caller.ts';
import { recordCommand, runIdempotent, type StoredResult } from '../run-idempotent.ts';
import { visibleCustomers, visibleQuotes, visibleToPlatform, visibleTransactions } from '../visible.ts';
import { type ClientTokens, newCredentials, subjectOf } from './credentials.ts';
import { boundsOf, lockMaker, lockOwner, lockTokens, rangesIn, registered } from './token-bounds.ts';
import { storeApiToken } from './token-records.ts';

/** In seconds: one day. */
export const maxClientSeconds = 86_400;

/** The input for a new client token. Exactly one of the three ids must be given. */
export interface NewClientToken {
  readonly customerId?: string | null | undefined;
  readonly quoteId?: string | null | undefined;
  readonly transactionId?: string | null | undefined;
  readonly permissions: readonly Permission[];
  readonly grants?: readonly ClientGrant[] | null | undefined;
  readonly trustedDocumentsOnly?: boolean | null | undefined;
  /** The hashes of the registered documents that the token is limited to. Defaults to its creator's list, if any. */
  readonly documents?: readonly string[] | null | undefined;
  readonly expiresInSeconds: number;
}

const at = pathsIn<NewClientToken>();

const targets = {
  customerId: { type: 'Customer', code: 'USER_NOT_FOUND' },
  quoteId: { type: 'Quote', code: 'QUOTE_NOT_FOUND' },
  transactionId: { type: 'Transaction', code: 'TRANSACTION_NOT_FOUND' },
} as const satisfies { readonly [Name in keyof NewClientToken]?: { type: IdType; code: RefusalCode } };

type Target = ReturnType<typeof targetOf>;

/**
 * Mints a token for an app, bound to exactly one customer, quote or transaction.
 * @throws Refusal INVALID_INPUT, FORBIDDEN (the caller lacks a permission, or its token is no longer valid),
 *   USER_NOT_FOUND, QUOTE_NOT_FOUND, TRANSACTION_NOT_FOUND, CUSTOMER_DELETED (the new token's customer was deleted),
 *   CONFLICT (a token was already created with the idempotency key; its value is not stored), SERVICE_UNAVAILABLE
 */
export async function createClientToken(
  database: Database,
  tokens: ClientTokens,
  caller: Caller,
  input: NewClientToken,
  idempotencyKey?: string | null,
): Promise<{ token: string; tokenId: string; expiresAt: Date; replayed: boolean }> {
  tokens.requireKey();
  const target = targetOf(input);
  checkPermissions(caller, input.permissions);
  if (!input.permissions.includes('VIEW')) {
    throw invalid('a client token must have the permission VIEW, or VIEW and TRANSACT', at('permissions'));
  }
  const ofServers = input.permissions.find((permission) => permission === 'MANAGE' || permission === 'APPROVE');
  if (ofServers) throw invalid(`a client token cannot have the permission ${ofServers}`, at('permissions'));
  if (input.grants?.length && target.name !== 'customerId') {
    throw invalid('only a client token for a customer can have grants', at('grants'));
  }
  if (input.expiresInSeconds < 1 || input.expiresInSeconds > maxClientSeconds) {
    throw invalid(`a client token must be valid for 1 to ${maxClientSeconds} seconds`, at('expiresInSeconds'));
  }
  const { row, replayed } = await runIdempotent(database, caller, {
    operation: 'createClientToken',
    input,
    idempotencyKey,
    effect: async (transaction) => {
      const row = await storeClientToken(transaction, caller, target, input);
      return { result: issued('ClientToken', row), answer: { row } };
    },
    repeat: shownOnce('ClientToken'),
  });
  return {
    token: await tokens.sign(row, subjectOf(row)),
    tokenId: publicId('ClientToken', row.id),
    expiresAt: row.expiresAt,
    replayed,
  };
}

function targetOf(input: NewClientToken) {
  const given = (Object.keys(targets) as (keyof typeof targets)[]).filter((name) => input[name] != null);
  const [name] = given;
  if (name === undefined || given.length > 1) {
    const message = 'a client token must be bound to exactly one customer, quote or transaction';
    throw invalid(message, at(given[1] ?? 'customerId'));
  }
  const uuid = uuidOf(input[name] ?? '', targets[name].type);
  if (uuid === undefined) throw noSuch(name);
  return { name, uuid };
}

function noSuch(name: Target['name']): Refusal {
  const { type, code } = targets[name];
  return new Refusal(code, `no such ${type.toLowerCase()}`, at(name));
}

async function storeClientToken(transaction: Transaction, caller: Caller, target: Target, input: NewClientToken) {
  const { client, prisma } = transaction;
  const { name, uuid } = target;
  const createdById = await lockMaker(client, caller);
  const ownerId = await ownerOf(prisma, caller, target);
  if (ownerId === undefined) throw noSuch(name);
  const [owner] = ownerId === null ? [] : await lockOwner(client, caller.platformId, ownerId);
  if (ownerId !== null && owner?.isDeleted !== false) {
    throw new Refusal('CUSTOMER_DELETED', 'the customer is deleted: its tokens have been revoked', {
      path: at(name),
      existingId: publicId('Customer', ownerId),
    });
  }
  const { now } = await readClock(client);
  const asked = { expiresAt: null, addresses: [], documents: await registered(transaction, caller, input) };
  const { documents } = await boundsOf(transaction, caller, asked, now);
  return prisma.clientToken.create({
    data: {
      platformId: caller.platformId,
      [name]: uuid,
      permissions: [...new Set(input.permissions)],
      grants: [...new Set(input.grants ?? [])],
      trustedDocumentsOnly: input.trustedDocumentsOnly ?? false,
      documents: [...documents],
      expiresAt: new Date(now.getTime() + input.expiresInSeconds * 1_000),
      createdById,
      ownerId,
    },
  });
}

/** Returns the id of the target's customer: null if it has none, undefined if the caller cannot see the target. */
async function ownerOf(prisma: Prisma.TransactionClient, caller: Caller, { name, uuid: id }: Target) {
  const select = { customerId: true } as const;
  switch (name) {
    case 'customerId': {
      const where = { AND: [visibleCustomers(caller), { id }] };
      return (await prisma.customer.findFirst({ where, select: { id: true } }))?.id;
    }
    case 'quoteId':
      return (await prisma.quote.findFirst({ where: { AND: [visibleQuotes(caller), { id }] }, select }))?.customerId;
    case 'transactionId': {
      const where = { AND: [visibleTransactions(caller), { id }] };
      return (await prisma.transaction.findFirst({ where, select }))?.customerId;
    }
  }
}

/** Returns the result to store for a command that has issued a token. It does not contain the token's secret. */
const issued = (type: 'ApiToken' | 'ClientToken', { platformId, id }: Pick<ApiToken, 'platformId' | 'id'>) => ({
  type,
  row: { platform_id: platformId, id },
});

/** Refuses to repeat a command that has issued a token, because the token's secret is not stored. */
const shownOnce =
  (type: 'ApiToken' | 'ClientToken') =>
  async ({ row }: StoredResult): Promise<never> => {
    if (!row) throw new Error('the stored result of a token command has no row');
    const existingId = publicId(type, row.id);
    const message = `this idempotency key has already created ${existingId}; its secret was shown once and is not stored`;
    throw new Refusal('CONFLICT', message, { path: keyPath, existingId });
  };

/** @throws Refusal INVALID_INPUT, FORBIDDEN */
function checkPermissions(caller: Caller, permissions: readonly Permission[]): void {
  if (permissions.length === 0) throw invalid('a token needs at least one permission', at('permissions'));
  const missing = permissions.find((permission) => !caller.permissions.includes(permission));
  if (missing) {
    const message = `this token cannot grant the permission ${missing}, because it lacks that permission itself`;
    throw new Refusal('FORBIDDEN', message, at('permissions'));
  }
}

export interface NewServerToken {
  readonly name: string;
  readonly permissions: readonly Permission[];
  /** When the token expires. Defaults to its creator's expiry, if any. */
  readonly expiresAt?: Date | null | undefined;
  /** The address ranges that the token is accepted from, in CIDR notation. Defaults to its creator's ranges. */
  readonly addresses?: readonly string[] | null | undefined;
  /** The hashes of the registered documents that the token is limited to. Defaults to its creator's list, if any. */
  readonly documents?: readonly string[] | null | undefined;
}

/**
 * Issues a token for a server. The secret is returned here and stored nowhere.
 * @throws Refusal INVALID_INPUT, FORBIDDEN (the caller lacks a permission, or its token is no longer valid), CONFLICT
 *   (a token was already created with the idempotency key)
 */
export const issueApiToken = recordCommand((_database, caller, input: NewServerToken) => {
  const name = checkText(input.name, ['name'], longest.memo);
  checkPermissions(caller, input.permissions);
  checkNotEmpty(input.addresses, ['addresses']);
  const addresses = rangesIn(input.addresses ?? []);
  const credentials = newCredentials();
  return {
    operation: 'createApiToken',
    effect: async (transaction) => {
      const createdById = await lockMaker(transaction.client, caller);
      const { permissions, expiresAt = null } = input;
      const documents = await registered(transaction, caller, input);
      const { now } = await readClock(transaction.client);
      const apiToken = await storeApiToken(transaction.prisma, caller.platformId, {
        ...{ name, permissions, createdById },
        ...credentials,
        ...(await boundsOf(transaction, caller, { expiresAt, addresses, documents }, now)),
      });
      return { result: issued('ApiToken', apiToken), answer: { apiToken, secret: credentials.secret } };
    },
    repeat: shownOnce('ApiToken'),
  };
});

/** In hours: 30 days. */
export const maxOverlapHours = 720;

interface RotateApiToken {
  readonly tokenId: string;
  readonly overlapHours: number;
}

/**
 * Replaces a token with a new one that has the same name, permissions, addresses, documents and lifetime, as far as the
 * caller's own token permits. Policies that limit the old token also limit the new one.
 * @throws Refusal as issueApiToken does, TOKEN_NOT_FOUND, CONFLICT (the token has expired, has been revoked, or already
 *   has a replacement)
 */
export const rotateApiToken = recordCommand((_database, caller, { tokenId, overlapHours }: RotateApiToken) => {
  if (overlapHours < 0 || overlapHours > maxOverlapHours)
    throw invalid(`the overlap must be 0 to ${maxOverlapHours} hours`, ['overlapHours']);
  const id = uuidOf(tokenId, 'ApiToken');
  const credentials = newCredentials();
  return {
    operation: 'rotateApiToken',
    effect: async (transaction) => {
      const { client, prisma } = transaction;
      await lockTokens(client, caller.platformId);
      const createdById = await lockMaker(client, caller);
      const where = { AND: [visibleToPlatform(caller), { id }] };
      const old = id && (await prisma.apiToken.findFirst({ where, include: { replacedBy: true } }));
      if (!old) throw new Refusal('TOKEN_NOT_FOUND', 'no such token', ['tokenId']);
      const { now } = await readClock(client);
      if (old.revokedAt || old.replacedBy || (old.expiresAt && old.expiresAt <= now))
        throw new Refusal('CONFLICT', 'the token has expired, has been revoked, or already has a replacement', [
          'tokenId',
        ]);
      checkPermissions(caller, old.permissions);
      const lifeMs = old.expiresAt && old.expiresAt.getTime() - old.createdAt.getTime();
      const expiresAt = lifeMs === null ? null : new Date(Math.min(now.getTime() + lifeMs, lastMs));
      const end = new Date(now.getTime() + overlapHours * 3_600_000);
      const overlapEndsAt = old.expiresAt && old.expiresAt < end ? old.expiresAt : end;
      // The new expiry has not been announced yet.
      if (!old.expiresAt || old.expiresAt > end)
        await prisma.apiToken.updateMany({ where, data: { expiresAt: end, warnedAt: null } });
      const { name, permissions, addresses, documents } = old;
      const apiToken = await storeApiToken(prisma, caller.platformId, {
        ...{ name, permissions, createdById, replacesId: old.id },
        ...credentials,
        ...(await boundsOf(transaction, caller, { expiresAt, addresses, documents }, now, 'shorten')),
      });
      const answer = { apiToken, secret: credentials.secret, overlapEndsAt };
      return { result: issued('ApiToken', apiToken), answer };
    },
    repeat: shownOnce('ApiToken'),
  };
});

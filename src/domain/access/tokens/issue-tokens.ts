import { isWithin, parseRange } from '../../../core/address-ranges.ts';
import { keyPath } from '../../../core/idempotency.ts';
import { type IdType, publicId, uuidOf } from '../../../core/ids.ts';
import { pathsIn, Refusal, type RefusalCode } from '../../../core/refusal.ts';
import { checkText, longest } from '../../../core/texts.ts';
import type { Database } from '../../../infra/database/database.ts';
import type {
  ApiToken,
  ClientGrant,
  ClientToken,
  Permission,
  Prisma,
} from '../../../infra/database/generated/client/client.ts';
import { readClock, type Transaction } from '../../../infra/database/transaction.ts';
import type { Caller } from '../caller.ts';
import type { Operation } from '../operations.ts';
import { runIdempotent } from '../run-idempotent.ts';
import { visibleCustomers, visibleQuotes, visibleToPlatform, visibleTransactions } from '../visible.ts';
import { storeApiToken } from './api-token-records.ts';
import { newCredentials } from './api-tokens.ts';
import { type ClientTokens, subjectOf } from './client-tokens.ts';
import { isDeletedOwner, lockMaker, lockTokens } from './token-locks.ts';

/** The longest lifetime of a client token, in seconds: a day. */
export const maxClientSeconds = 86_400;

/** The input of a new client token. Exactly one of the three ids is given. */
export interface NewClientToken {
  readonly customerId?: string | null | undefined;
  readonly quoteId?: string | null | undefined;
  readonly transactionId?: string | null | undefined;
  readonly permissions: readonly Permission[];
  /** Extra rights of a customer's app. */
  readonly grants?: readonly ClientGrant[] | null | undefined;
  /** Whether it may send registered documents only, regardless of the platform's setting. */
  readonly trustedDocumentsOnly?: boolean | null | undefined;
  readonly expiresInSeconds: number;
}

const at = pathsIn<NewClientToken>();

/** Finds a record to bind a token to, with its customer. */
type Finder = (
  prisma: Prisma.TransactionClient,
  caller: Caller,
  id: string,
) => Promise<{ readonly customerId: string | null } | null>;

/**
 * What a client token can be bound to: the type of its id, the refusal of an unknown one, and the query that finds it.
 */
const targets = {
  customerId: {
    type: 'Customer',
    code: 'USER_NOT_FOUND',
    find: async ({ customer }, caller, id) => {
      const found = await customer.findFirst({
        where: { AND: [visibleCustomers(caller), { id }] },
        select: { id: true },
      });
      return found && { customerId: found.id };
    },
  },
  quoteId: {
    type: 'Quote',
    code: 'QUOTE_NOT_FOUND',
    find: ({ quote }, caller, id) =>
      quote.findFirst({ where: { AND: [visibleQuotes(caller), { id }] }, select: { customerId: true } }),
  },
  transactionId: {
    type: 'Transaction',
    code: 'TRANSACTION_NOT_FOUND',
    find: ({ transaction }, caller, id) =>
      transaction.findFirst({ where: { AND: [visibleTransactions(caller), { id }] }, select: { customerId: true } }),
  },
} as const satisfies Record<string, { type: IdType; code: RefusalCode; find: Finder }>;

/**
 * Mints a token for an app, bound to exactly one customer, quote or transaction.
 * @throws Refusal INVALID_INPUT, FORBIDDEN (more than the caller has, or its token is revoked), USER_NOT_FOUND,
 *   QUOTE_NOT_FOUND, TRANSACTION_NOT_FOUND, CUSTOMER_DELETED (the customer of what it would be bound to), CONFLICT (the
 *   first call with the key was answered: its token is not stored), SERVICE_UNAVAILABLE
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
    throw new Refusal(
      'INVALID_INPUT',
      'a client token must have the permission VIEW, or VIEW and TRANSACT',
      at('permissions'),
    );
  }
  const ofServers = input.permissions.find((permission) => permission === 'MANAGE' || permission === 'APPROVE');
  if (ofServers) {
    throw new Refusal('INVALID_INPUT', `a client token cannot have the permission ${ofServers}`, at('permissions'));
  }
  if (input.grants?.length && target.name !== 'customerId') {
    throw new Refusal('INVALID_INPUT', 'only a client token for a customer can have grants', at('grants'));
  }
  if (input.expiresInSeconds < 1 || input.expiresInSeconds > maxClientSeconds) {
    throw new Refusal(
      'INVALID_INPUT',
      `a client token must be valid for 1 to ${maxClientSeconds} seconds`,
      at('expiresInSeconds'),
    );
  }
  const { row, replayed } = await issueOnce(
    database,
    caller,
    { operation: 'createClientToken', type: 'ClientToken', input, idempotencyKey },
    (transaction) => storeClientToken(transaction, caller, target, input),
  );
  return {
    token: await tokens.sign(row, subjectOf(row)),
    tokenId: publicId('ClientToken', row.id),
    expiresAt: row.expiresAt,
    replayed,
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
    throw new Refusal(
      'INVALID_INPUT',
      'a client token must be bound to exactly one customer, quote or transaction',
      at(given[1] ?? 'customerId'),
    );
  }
  const { type, code } = targets[name];
  const uuid = uuidOf(input[name] ?? '', type);
  if (uuid === undefined) throw new Refusal(code, `no such ${type.toLowerCase()}`, at(name));
  return { name, uuid };
}

async function storeClientToken(
  { client, prisma }: Transaction,
  caller: Caller,
  { name, uuid }: Target,
  input: NewClientToken,
): Promise<ClientToken> {
  const { type, code, find } = targets[name];
  const createdById = await lockMaker(client, caller);
  const found = await find(prisma, caller, uuid);
  if (!found) throw new Refusal(code, `no such ${type.toLowerCase()}`, at(name));
  const ownerId = found.customerId;
  if (ownerId !== null && (await isDeletedOwner(client, caller, ownerId))) {
    throw new Refusal('CUSTOMER_DELETED', 'the customer is deleted: its tokens have ended', {
      path: at(name),
      existingId: publicId('Customer', ownerId),
    });
  }
  const { now } = await readClock(client);
  return prisma.clientToken.create({
    data: {
      platformId: caller.platformId,
      [name]: uuid,
      permissions: [...new Set(input.permissions)],
      grants: [...new Set(input.grants ?? [])],
      trustedDocumentsOnly: input.trustedDocumentsOnly ?? false,
      expiresAt: new Date(now.getTime() + input.expiresInSeconds * 1_000),
      createdById,
      ownerId,
    },
  });
}

/**
 * Issues a token once per idempotency key. Only its id is stored with the key, so that no secret ever is. The answer can
 * therefore not be repeated: a repeat is refused.
 */
function issueOnce<Row extends { readonly id: string }>(
  database: Database,
  caller: Caller,
  command: {
    readonly operation: Operation;
    readonly type: 'ApiToken' | 'ClientToken';
    readonly input: object;
    readonly idempotencyKey: string | null | undefined;
  },
  issue: (transaction: Transaction) => Promise<Row>,
): Promise<{ readonly row: Row; readonly replayed: boolean }> {
  const { type, ...rest } = command;
  return runIdempotent(database, caller, {
    ...rest,
    effect: async (transaction) => {
      const row = await issue(transaction);
      return { result: { type, row: { platform_id: caller.platformId, id: row.id } }, answer: { row } };
    },
    repeat: async ({ row }) => {
      if (!row) throw new Error('the stored result of a token command has no row');
      const existingId = publicId(type, row.id);
      throw new Refusal(
        'CONFLICT',
        `this idempotency key has already created ${existingId}; its secret was shown once and is not stored`,
        { path: keyPath, existingId },
      );
    },
  });
}

/**
 * Refuses permissions that the caller does not have, and an empty list of them.
 * @throws Refusal INVALID_INPUT, FORBIDDEN
 */
function checkPermissions(caller: Caller, permissions: readonly Permission[]): void {
  if (permissions.length === 0) {
    throw new Refusal('INVALID_INPUT', 'a token needs at least one permission', at('permissions'));
  }
  const missing = permissions.find((permission) => !caller.permissions.includes(permission));
  if (missing) {
    throw new Refusal(
      'FORBIDDEN',
      `this token lacks the permission ${missing}, so it cannot grant it`,
      at('permissions'),
    );
  }
}

/** The input of a new API token. */
export interface NewServerToken {
  readonly name: string;
  readonly permissions: readonly Permission[];
  /** When it ends by itself; never when left out. */
  readonly expiresAt?: Date | null | undefined;
  /** The ranges of addresses that it is accepted from, in CIDR notation; all when left out. */
  readonly addresses?: readonly string[] | null | undefined;
}

/**
 * Issues a token for a server. The secret is returned here and stored nowhere. It lasts no longer than the token that makes it, and is
 * accepted from no other addresses.
 * @throws Refusal INVALID_INPUT, FORBIDDEN (more than the caller has, or its token is revoked), CONFLICT (the first call
 *   with the key was answered)
 */
export async function issueApiToken(
  database: Database,
  caller: Caller,
  input: NewServerToken,
  idempotencyKey?: string | null,
): Promise<{ apiToken: ApiToken; secret: string; replayed: boolean }> {
  const name = checkText(input.name, ['name'], longest.memo);
  checkPermissions(caller, input.permissions);
  const addresses = rangesIn(input.addresses ?? []);
  const credentials = newCredentials();
  const { row, replayed } = await issueOnce(
    database,
    caller,
    { operation: 'createApiToken', type: 'ApiToken', input, idempotencyKey },
    async (transaction) => {
      const createdById = await lockMaker(transaction.client, caller);
      const { permissions, expiresAt = null } = input;
      const bounds = await boundsOf(transaction, caller, { expiresAt, addresses });
      return storeApiToken(transaction.prisma, caller.platformId, {
        ...{ name, permissions, createdById },
        ...credentials,
        ...bounds,
      });
    },
  );
  return { apiToken: row, secret: credentials.secret, replayed };
}

/** The longest time in which a token and the one that takes its place are both valid, in hours: 30 days. */
export const maxOverlapHours = 720;

/**
 * Issues a token in the place of another one, with its name, permissions and addresses: both are valid until the overlap is over,
 * and then the old one ends by itself. It lasts as long as the old one was made for, and no longer than the token that rotates it. Whatever limits the old one limits it, too.
 * @throws Refusal as issueApiToken does, TOKEN_NOT_FOUND, CONFLICT (it has ended, or was replaced before)
 */
export async function rotateApiToken(
  database: Database,
  caller: Caller,
  input: { readonly tokenId: string; readonly overlapHours: number },
  idempotencyKey?: string | null,
): Promise<{ apiToken: ApiToken; secret: string; overlapEndsAt: Date; replayed: boolean }> {
  const { overlapHours } = input;
  if (overlapHours < 0 || overlapHours > maxOverlapHours)
    throw new Refusal('INVALID_INPUT', `the overlap is 0 to ${maxOverlapHours} hours`, ['overlapHours']);
  const id = uuidOf(input.tokenId, 'ApiToken');
  const credentials = newCredentials();
  let overlapEndsAt: Date | undefined;
  const { row, replayed } = await issueOnce(
    database,
    caller,
    { operation: 'rotateApiToken', type: 'ApiToken', input, idempotencyKey },
    async (transaction) => {
      const { client, prisma } = transaction;
      await lockTokens(client, caller);
      const createdById = await lockMaker(client, caller);
      const where = { AND: [visibleToPlatform(caller), { id }] };
      const old = id && (await prisma.apiToken.findFirst({ where, include: { replacedBy: true } }));
      if (!old) throw new Refusal('TOKEN_NOT_FOUND', 'no such token', ['tokenId']);
      const { now } = await readClock(client);
      if (old.revokedAt || old.replacedBy || (old.expiresAt && old.expiresAt <= now))
        throw new Refusal('CONFLICT', 'the token has ended, or another one takes its place', ['tokenId']);
      checkPermissions(caller, old.permissions);
      const lifeMs = old.expiresAt && old.expiresAt.getTime() - old.createdAt.getTime();
      const expiresAt = lifeMs === null ? null : new Date(now.getTime() + lifeMs);
      const end = new Date(now.getTime() + overlapHours * 3_600_000);
      // Its end is announced again where that changes.
      if (!old.expiresAt || old.expiresAt > end)
        await prisma.apiToken.updateMany({ where, data: { expiresAt: end, warnedAt: null } });
      overlapEndsAt = old.expiresAt && old.expiresAt < end ? old.expiresAt : end;
      const { name, permissions, addresses } = old;
      return storeApiToken(prisma, caller.platformId, {
        ...{ name, permissions, createdById, replacesId: old.id },
        ...credentials,
        ...(await boundsOf(transaction, caller, { expiresAt, addresses }, 'shorten')),
      });
    },
  );
  // A repeat is refused: its secret is not stored.
  if (!overlapEndsAt) throw new Error('a token was rotated without an end of the old one');
  return { apiToken: row, secret: credentials.secret, overlapEndsAt, replayed };
}

/** @throws Refusal INVALID_INPUT for what is no range, and for one within the /64 network that an IPv6 client has */
function rangesIn(addresses: readonly string[]): string[] {
  return addresses.map((text, position) => {
    const path = ['addresses', position];
    try {
      const [address, bits] = parseRange(text.trim());
      if (address.kind() === 'ipv6' && text.includes('/') && bits > 64)
        throw new Refusal('INVALID_INPUT', 'an IPv6 range has at most 64 bits', { path, value: text });
      return text.trim();
    } catch (error) {
      if (error instanceof Refusal) throw error;
      throw new Refusal('INVALID_INPUT', 'a range of addresses is written 203.0.113.0/24 or 2001:db8::/48', {
        path,
        value: text,
      });
    }
  });
}

/**
 * Returns how long a new token lasts and where it is accepted from: what it asks for, within what holds for the token that makes it.
 * @throws Refusal INVALID_INPUT (its end is over), FORBIDDEN (it asks for more)
 */
async function boundsOf(
  { client, prisma }: Transaction,
  { platformId, tokenId }: Caller,
  { expiresAt, addresses }: { readonly expiresAt: Date | null; readonly addresses: readonly string[] },
  ifLonger: 'refuse' | 'shorten' = 'refuse',
) {
  const { now } = await readClock(client);
  if (expiresAt && expiresAt <= now) throw new Refusal('INVALID_INPUT', 'the end must be in the future', ['expiresAt']);
  const maker = tokenId === null ? null : await prisma.apiToken.findFirst({ where: { platformId, id: tokenId } });
  const latest = maker?.expiresAt ?? null;
  const isLonger = latest !== null && expiresAt !== null && expiresAt > latest;
  if (isLonger && ifLonger === 'refuse')
    throw new Refusal('FORBIDDEN', 'a token cannot create one that lasts longer than itself', ['expiresAt']);
  const from = maker?.addresses ?? [];
  const isInside = (text: string) => {
    const [address, bits] = parseRange(text);
    return from.map(parseRange).some((range) => isWithin([range])(address) && bits >= range[1]);
  };
  if (from.length > 0 && !addresses.every(isInside))
    throw new Refusal('FORBIDDEN', 'a token cannot create one that is accepted from other addresses than itself', [
      'addresses',
    ]);
  return { expiresAt: isLonger ? latest : (expiresAt ?? latest), addresses: addresses.length > 0 ? addresses : from };
}

import { enteredRange, isWithin, parseRange } from '../../../core/address-ranges.ts';
import { checkNotEmpty, type FieldPath, invalid, Refusal } from '../../../core/refusal.ts';
import { type Queryable, statement } from '../../../infra/database/statement.ts';
import type { Transaction } from '../../../infra/database/transaction.ts';
import type { Caller } from '../caller.ts';

// A token must not expire later than the token that created it, and may use only its creator's addresses and documents.

/** @throws Refusal INVALID_INPUT for a malformed range, or an IPv6 range narrower than a /64 network */
export function rangesIn(addresses: readonly string[]): string[] {
  return addresses.map((text, position) => {
    const path = ['addresses', position];
    try {
      const [address, bits] = enteredRange(text.trim());
      if (address.kind() === 'ipv6' && text.includes('/') && bits > 64)
        throw invalid('the prefix of an IPv6 range must be /64 or shorter', { path, value: text });
      return text.trim();
    } catch (error) {
      if (error instanceof Refusal) throw error;
      const message = 'an address range must have a form such as 203.0.113.0/24 or 2001:db8::/48';
      throw invalid(message, { path, value: text });
    }
  });
}

interface Bounds {
  readonly expiresAt: Date | null;
  readonly addresses: readonly string[];
  readonly documents: readonly string[];
}

/**
 * Returns a new token's bounds. Requested bounds must lie within the creator's; omitted ones default to the creator's.
 * @param now the database's time
 * @throws Refusal INVALID_INPUT (expiry in the past), FORBIDDEN (beyond the creator's expiry, addresses or documents)
 */
export async function boundsOf(
  { prisma }: Transaction,
  { platformId, tokenId }: Caller,
  { expiresAt, addresses, documents }: Bounds,
  now: Date,
  ifLonger: 'refuse' | 'shorten' = 'refuse',
): Promise<Bounds> {
  if (expiresAt && expiresAt <= now) throw invalid('the expiry must be in the future', ['expiresAt']);
  const maker = tokenId === null ? null : await prisma.apiToken.findFirst({ where: { platformId, id: tokenId } });
  const latest = maker?.expiresAt ?? null;
  const isLonger = latest !== null && expiresAt !== null && expiresAt > latest;
  const forbidden = (message: string, ...path: FieldPath) => new Refusal('FORBIDDEN', message, path);
  if (isLonger && ifLonger === 'refuse') throw forbidden('a token cannot create one that outlives it', 'expiresAt');
  const from = maker?.addresses ?? [];
  const isInside = (text: string) => {
    const [address, bits] = parseRange(text);
    return from.map(parseRange).some((range) => isWithin([range])(address) && bits >= range[1]);
  };
  if (from.length > 0 && !addresses.every(isInside))
    throw forbidden('a token can only create tokens that are accepted from its own addresses', 'addresses');
  const own = maker?.documents ?? [];
  const foreign = documents.findIndex((hash) => own.length > 0 && !own.includes(hash));
  if (foreign >= 0)
    throw forbidden('a token can only create tokens that are limited to its own documents', 'documents', foreign);
  return {
    expiresAt: isLonger ? latest : (expiresAt ?? latest),
    addresses: addresses.length > 0 ? addresses : from,
    documents: documents.length > 0 ? [...new Set(documents)] : own,
  };
}

/** @throws Refusal INVALID_INPUT for an empty list, or a hash that is not registered */
export async function registered(
  { prisma }: Transaction,
  { platformId }: Caller,
  { documents }: { readonly documents?: readonly string[] | null | undefined },
): Promise<readonly string[]> {
  if (documents == null) return [];
  checkNotEmpty(documents, ['documents']);
  const where = { platformId, hash: { in: documents.filter((hash) => /^[0-9a-f]+$/.test(hash)) } };
  const found = await prisma.trustedDocument.findMany({ where, select: { hash: true } });
  const known = new Set(found.map(({ hash }) => hash));
  const missing = documents.findIndex((hash) => !known.has(hash));
  if (missing >= 0)
    throw invalid('no document is registered with this hash; POST /trusted-documents registers documents', {
      path: ['documents', missing],
      value: documents[missing],
    });
  return documents;
}

// One lock per platform serializes the creation of tokens and webhook endpoints with the revocation of API tokens.
// Creation takes it in shared mode, revocation in exclusive mode. A revoked token therefore cannot create anything, and
// the second of two revocations sees the first. It is an advisory lock, because advisory locks are granted in the order
// in which they are requested. With a row lock, a steady stream of shared locks would starve the exclusive one.
const lockName = "hashtextextended('tokens of ' || $1, 0)";

const shareStatement = statement<object>('share_tokens', `select pg_advisory_xact_lock_shared(${lockName})`);

/** Blocks the creation of a platform's tokens, and the revocation of its API tokens, until the transaction ends. */
export const lockTokens = statement<object>('lock_tokens', `select pg_advisory_xact_lock(${lockName})`);

const aliveStatement = statement<object>(
  'token_maker',
  'select from api_token where platform_id = $1 and id = $2 and revoked_at is null and coalesce(expires_at > clock_timestamp(), true)',
);

/** Locks a new token's customer, so that the customer cannot be deleted during this transaction. */
export const lockOwner = statement<{ isDeleted: boolean }>(
  'token_owner',
  'select is_deleted from customer where platform_id = $1 and id = $2 for share',
);

/**
 * Checks that the caller's token is still valid, and prevents its revocation until the transaction ends. A cached
 * authentication does not show whether a token has since expired or been revoked. @throws Refusal FORBIDDEN
 * @returns the uuid of the API token, or null for the platform itself
 */
export async function lockMaker(on: Queryable, { platformId, tokenId }: Caller): Promise<string | null> {
  if (tokenId === null) return null;
  await shareStatement(on, platformId);
  const [alive] = await aliveStatement(on, platformId, tokenId);
  if (alive) return tokenId;
  const message = 'this token has expired or been revoked, so it cannot create tokens or webhook endpoints';
  throw new Refusal('FORBIDDEN', message);
}

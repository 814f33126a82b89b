import { Refusal } from '../../../core/refusal.ts';
import type { Tenant } from '../../../core/tenant.ts';
import { type Queryable, statement } from '../../../infra/database/statement.ts';
import type { Caller } from '../caller.ts';

// One lock per platform serializes the creation of tokens and webhook endpoints with the revocation of API tokens.
// Creation takes it shared, revocation exclusively. So a revoked token creates nothing, and the second of two
// revocations sees the first. It is an advisory lock because these are granted in the order of requests: on a row, a
// steady stream of shared locks would starve the exclusive one.
const lockName = "hashtextextended('tokens of ' || $1, 0)";

const shareStatement = statement<object>('share_tokens', `select pg_advisory_xact_lock_shared(${lockName})`);
const lockStatement = statement<object>('lock_tokens', `select pg_advisory_xact_lock(${lockName})`);

const aliveStatement = statement<object>(
  'token_maker',
  'select from api_token where platform_id = $1 and id = $2 and revoked_at is null and coalesce(expires_at > clock_timestamp(), true)',
);

/** Locks the customer, so that a plan that deletes it runs either before or after this transaction. */
const ownerStatement = statement<{ isDeleted: boolean }>(
  'token_owner',
  'select is_deleted from customer where platform_id = $1 and id = $2 for share',
);

/**
 * Ensures that the caller's token is still valid and stays unrevoked until the transaction ends. It is called before
 * the creation of objects that end with the token, since the token may have ended while its authentication was cached.
 * @returns the uuid of the API token, or null for the platform itself
 * @throws Refusal FORBIDDEN
 */
export async function lockMaker(on: Queryable, { platformId, tokenId }: Caller): Promise<string | null> {
  if (tokenId === null) return null;
  await shareStatement(on, platformId);
  const [alive] = await aliveStatement(on, platformId, tokenId);
  if (!alive)
    throw new Refusal(
      'FORBIDDEN',
      'this token has expired or been revoked, so it cannot create tokens or webhook endpoints',
    );
  return tokenId;
}

/** Blocks the creation of tokens and the revocation of API tokens of the platform until the transaction ends. */
export async function lockTokens(on: Queryable, { platformId }: Tenant): Promise<void> {
  await lockStatement(on, platformId);
}

/** Returns whether the customer of a new token is deleted. This cannot change until the transaction ends. */
export async function isDeletedOwner(on: Queryable, { platformId }: Tenant, customerId: string): Promise<boolean> {
  const [owner] = await ownerStatement(on, platformId, customerId);
  return owner?.isDeleted ?? true;
}

import { byId, byText, type ChangeFilter, type Given } from '../../../core/conditions.ts';
import { publicId } from '../../../core/ids.ts';
import type { Database } from '../../../infra/database/database.ts';
import type { ApiToken, Permission, Prisma } from '../../../infra/database/generated/client/client.ts';
import { statement } from '../../../infra/database/statement.ts';
import { hashSecret } from './credentials.ts';

/** A filter for API tokens. Its fields are combined with AND; date-time ranges include both ends. */
export interface ApiTokenFilter extends ChangeFilter {
  readonly name?: Given<string>;
  readonly permission?: Given<Permission>;
  readonly createdById?: Given<string>;
}

/** Returns the condition for a filter. Visible tokens have never changed, so their `updatedAt` is `createdAt`. */
export function whereApiTokens(filter: ApiTokenFilter): Prisma.ApiTokenWhereInput {
  return {
    AND: [
      byText(filter.name, (name) => ({ name })),
      filter.permission ? { permissions: { has: filter.permission } } : {},
      byId(filter.createdById, (createdById) => ({ createdById }), 'ApiToken'),
      createdBetween(filter.createdAfter, filter.createdBefore),
      createdBetween(filter.updatedAfter, filter.updatedBefore),
    ],
  };
}

/** Compares `createdAt`, not the time in the id, which is read from the clock separately and may be earlier. */
function createdBetween(after: Given<Date>, before: Given<Date>): Prisma.ApiTokenWhereInput {
  return { createdAt: { ...(after && { gte: after }), ...(before && { lte: before }) } };
}

/** Converts a row to the token's record, which excludes the secret. */
export function apiTokenRecord(row: ApiToken & { readonly replacedBy?: { readonly id: string } | null }) {
  return {
    id: publicId('ApiToken', row.id),
    name: row.name,
    permissions: row.permissions,
    clientId: row.clientId,
    ...(row.createdById !== null && { createdById: publicId('ApiToken', row.createdById) }),
    ...(row.expiresAt !== null && { expiresAt: row.expiresAt.toISOString() }),
    ...(row.addresses.length > 0 && { addresses: row.addresses }),
    ...(row.documents.length > 0 && { documents: row.documents }),
    ...(row.replacesId !== null && { replacesId: publicId('ApiToken', row.replacesId) }),
    ...(row.replacedBy && { replacedById: publicId('ApiToken', row.replacedBy.id) }),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.createdAt.toISOString(),
  };
}

/** `createdById` is null if the token was not created by another token. */
interface NewApiToken
  extends Pick<ApiToken, 'clientId' | 'name' | 'createdById'>,
    Partial<Pick<ApiToken, 'expiresAt' | 'replacesId'>>,
    Partial<Readonly<Record<'addresses' | 'documents', readonly string[]>>> {
  readonly secret: string;
  readonly permissions: readonly Permission[];
}

/** Stores a platform's new token, with only the hash of its secret. */
export function storeApiToken(prisma: Prisma.TransactionClient, platformId: string, token: NewApiToken) {
  const { secret, permissions, addresses = [], documents = [], ...row } = token;
  const secretHash = new Uint8Array(hashSecret(secret));
  return prisma.apiToken.create({
    data: {
      platformId,
      ...row,
      secretHash,
      permissions: [...new Set(permissions)],
      addresses: [...new Set(addresses)],
      documents: [...new Set(documents)],
    },
  });
}

export interface ClientTokenFilter {
  readonly active?: Given<boolean>;
  readonly customerId?: Given<string>;
}

/** Postgres interprets this string as the current time, so the database's clock decides what has expired. */
const now = 'now';

export function whereClientTokens(filter: ClientTokenFilter): Prisma.ClientTokenWhereInput {
  const { active } = filter;
  return {
    AND: [
      byId(filter.customerId, (ownerId) => ({ ownerId }), 'Customer'),
      active === true ? { revokedAt: null, expiresAt: { gt: now } } : {},
      active === false ? { OR: [{ revokedAt: { not: null } }, { expiresAt: { lte: now } }] } : {},
    ],
  };
}

const warnStatement = statement<object>(
  'warn_of_expiry',
  `with warned as (
     update api_token set warned_at = clock_ms() where (platform_id, id) in (
       select platform_id, id from api_token
       where expires_at between clock_timestamp() and clock_timestamp() + interval '7 days' and warned_at is null and revoked_at is null
       order by expires_at limit $1 for update skip locked
     ) returning platform_id, id, expires_at
   )
   insert into outbox (platform_id, event_id, type, occurred_at, version, snapshot)
   select platform_id, uuid_v7(), 'API_TOKEN_EXPIRY', clock_ms(), 1, jsonb_build_object('token_id', id, 'expires_at', expires_at)
   from warned returning 1`,
);

/** Announces the tokens that will expire within a week, each only once. Returns the number of tokens announced. */
export async function warnOfExpiry({ pool }: Database, limit: number): Promise<number> {
  return (await warnStatement(pool, limit)).length;
}

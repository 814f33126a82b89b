import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { parseRange } from '../../../core/address-ranges.ts';
import { publicId } from '../../../core/ids.ts';
import { asPlatform } from '../../../infra/database/connections/platform-scope.ts';
import type { Database } from '../../../infra/database/database.ts';
import type { ApiToken, Platform } from '../../../infra/database/generated/client/client.ts';
import { statement } from '../../../infra/database/statement.ts';
import { ownRates, type RateColumns } from '../rates.ts';
import type { Viewer } from '../viewer.ts';

/** One round of SHA-256 is enough, because secrets are 256 random bits (except the local sandbox's fixed one). */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** A clientId contains no colon, because a colon separates it from the secret in Basic credentials. */
export function newCredentials(): { clientId: string; secret: string } {
  return { clientId: randomBytes(12).toString('base64url'), secret: randomBytes(32).toString('base64url') };
}

interface TokenRow
  extends RateColumns,
    Pick<ApiToken, 'id' | 'platformId' | 'permissions' | 'expiresAt' | 'addresses' | 'documents'>,
    Pick<Platform, 'environment' | 'trustedDocuments'> {
  secretHash: Buffer;
  makers: string[];
  /** Whether the token's last use was recorded within the last minute. */
  wasUsed: boolean;
}

const tokenStatement = statement<TokenRow>('api_token_by_client_id', 'select * from find_api_token($1)');

const usedStatement = statement<object>(
  'api_token_used',
  `update api_token set last_used_at = clock_ms()
   where platform_id = $1 and id = $2 and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')`,
);

const unknownHash = Buffer.alloc(32);

/** Returns the viewer for valid `Basic` credentials. Unknown tokens and wrong secrets take equally long. */
export async function authenticateServer({ pool }: Database, authorization: string): Promise<Viewer | undefined> {
  const credentials = basicCredentials(authorization);
  if (!credentials) return undefined;
  const [row] = await tokenStatement(pool, credentials.clientId);
  const matches = timingSafeEqual(hashSecret(credentials.secret), row?.secretHash ?? unknownHash);
  if (!row || !matches) return undefined;
  const viewer: Viewer = {
    kind: 'PLATFORM',
    platformId: row.platformId,
    environment: row.environment,
    permissions: row.permissions,
    grants: [],
    tokenId: row.id,
    makers: row.makers,
    bound: { kind: 'PLATFORM' },
    subject: publicId('Platform', row.platformId),
    expiresAt: row.expiresAt,
    addresses: row.addresses.map(parseRange),
    trustedDocumentsOnly: row.trustedDocuments === 'ALL' || row.documents.length > 0,
    documents: row.documents,
    rates: ownRates(row),
  };
  // The time of last use is only informational, so its update is not awaited.
  if (row.wasUsed) return viewer;
  asPlatform(row.platformId, () => usedStatement(pool, row.platformId, row.id)).catch(() => undefined);
  return viewer;
}

function basicCredentials(authorization: string): ReturnType<typeof newCredentials> | undefined {
  const encoded = /^basic +([A-Za-z0-9+/=_-]{1,1000})$/i.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  // No clientId contains control characters, and Postgres rejects U+0000 in parameters.
  if (/\p{Cc}/u.test(decoded)) return undefined;
  return colon > 0 ? { clientId: decoded.slice(0, colon), secret: decoded.slice(colon + 1) } : undefined;
}

export function basicAuthorization({ clientId, secret }: ReturnType<typeof newCredentials>): string {
  return `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`;
}

import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import { parseRange } from '../../../core/address-ranges.ts';
import { boundedCache } from '../../../core/bounded-cache.ts';
import { publicId } from '../../../core/ids.ts';
import { Refusal } from '../../../core/refusal.ts';
import { keyId } from '../../../core/secret-box.ts';
import { asPlatform } from '../../../infra/database/connections/platform-scope.ts';
import type { Database } from '../../../infra/database/database.ts';
import type { ApiToken, ClientToken, Environment, Platform } from '../../../infra/database/generated/client/client.ts';
import { statement } from '../../../infra/database/statement.ts';
import { type Bound, isAcceptedFrom, type Viewer } from '../caller.ts';
import type { CredentialBrake } from '../limits/rate-limits.ts';
import { ownRates, type RateColumns, rateColumns } from '../rates.ts';

const proven = { max: 20_000, ttlMs: 3_600_000 } as const;
/** The time to live is short, so that a revoked token is rejected within a second. */
const authenticated = { max: 20_000, ttlMs: 900 } as const;

/** Authenticates an Authorization header of either kind: a server's `Basic` or an app's `Bearer`. */
export class Credentials {
  readonly #database: Database;
  readonly #apps: ClientTokens;
  readonly #brake: CredentialBrake;
  readonly #viewers: ReturnType<typeof boundedCache<Viewer>>;
  /** Headers verified earlier. They are accepted even after too many wrong guesses from the same address. */
  readonly #proven = boundedCache<true>(proven.max, proven.ttlMs);

  constructor(database: Database, apps: ClientTokens, brake: CredentialBrake, cacheMs: number = authenticated.ttlMs) {
    this.#viewers = boundedCache(authenticated.max, cacheMs);
    this.#database = database;
    this.#apps = apps;
    this.#brake = brake;
  }

  /**
   * Authenticates credentials. Failures count against the address, and so does a token that is not accepted from it.
   * @throws RateLimited after too many wrong credentials, unless the given ones have been verified before
   */
  async authenticateFrom(address: string, authorization: string | undefined): Promise<Viewer | undefined> {
    if (!authorization) return undefined;
    const cached = this.cached(authorization);
    if (cached && isAcceptedFrom(cached, address)) return cached;
    const digest = digestOf(authorization);
    const succeed = this.#proven.has(digest) ? undefined : this.#brake.begin(address);
    try {
      const viewer = await this.authenticate(authorization);
      if (!viewer || !isAcceptedFrom(viewer, address)) {
        this.#proven.delete(digest);
        return undefined;
      }
      this.#proven.set(digest, true);
      succeed?.();
      return viewer;
    } catch (error) {
      // The database may be unreachable and the credentials correct, so the attempt does not count as a failure.
      succeed?.();
      throw error;
    }
  }

  /** Authenticates credentials without counting a failure against an address; undefined if they are not valid. */
  async authenticate(authorization: string | null | undefined): Promise<Viewer | undefined> {
    if (!authorization) return undefined;
    const cached = this.cached(authorization);
    if (cached) return cached;
    const viewer = /^bearer /i.test(authorization)
      ? await this.#apps.authenticate(authorization)
      : await authenticateServer(this.#database, authorization);
    if (viewer) this.#viewers.set(digestOf(authorization), viewer);
    return viewer;
  }

  /** Returns the viewer if the authentication is still cached, without querying the database. */
  cached(authorization: string | undefined): Viewer | undefined {
    return authorization === undefined ? undefined : this.#viewers.get(digestOf(authorization));
  }
}

/** Returns the cache key for a header: a digest, so that no cache contains secrets. */
function digestOf(authorization: string): string {
  return hash('sha256', authorization, 'base64');
}

/** One round of SHA-256 is enough, since every secret is 256 random bits (except the local sandbox's fixed secret). */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** A clientId contains no colon, because a colon separates it from the secret in Basic credentials. */
export function newCredentials(): { clientId: string; secret: string } {
  return { clientId: randomBytes(12).toString('base64url'), secret: randomBytes(32).toString('base64url') };
}

interface ApiTokenRow
  extends RateColumns,
    Pick<ApiToken, 'id' | 'platformId' | 'permissions' | 'expiresAt' | 'addresses' | 'documents'>,
    Pick<Platform, 'environment' | 'trustedDocuments'> {
  secretHash: Buffer;
  makers: string[];
  /** Whether the token's last use was recorded within the last minute. */
  wasUsed: boolean;
}

const apiTokenStatement = statement<ApiTokenRow>('api_token_by_client_id', 'select * from find_api_token($1)');

const usedStatement = statement<object>(
  'api_token_used',
  `update api_token set last_used_at = clock_ms()
   where platform_id = $1 and id = $2 and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')`,
);

const unknownHash = Buffer.alloc(32);

/** Returns the viewer for valid `Basic` credentials. An unknown token takes as long to reject as a wrong secret. */
async function authenticateServer({ pool }: Database, authorization: string): Promise<Viewer | undefined> {
  const credentials = basicCredentials(authorization);
  if (!credentials) return undefined;
  const [row] = await apiTokenStatement(pool, credentials.clientId);
  const matches = timingSafeEqual(hashSecret(credentials.secret), row?.secretHash ?? unknownHash);
  if (!row || !matches) return undefined;
  const { platformId, id } = row;
  // The time of last use is only informational, so its update is not awaited.
  if (!row.wasUsed) asPlatform(platformId, () => usedStatement(pool, platformId, id)).catch(() => undefined);
  return {
    ...commonFacts(row),
    kind: 'PLATFORM',
    grants: [],
    bound: { kind: 'PLATFORM' },
    subject: publicId('Platform', platformId),
    addresses: row.addresses.map(parseRange),
    trustedDocumentsOnly: row.trustedDocuments === 'ALL' || row.documents.length > 0,
  };
}

/** Returns the viewer properties that are stored with both kinds of token. */
function commonFacts(row: ApiTokenRow | ClientTokenRow) {
  const { id: tokenId, platformId, environment, permissions, makers, expiresAt, documents } = row;
  return { tokenId, platformId, environment, permissions, makers, expiresAt, documents, rates: ownRates(row) };
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

interface ClientTokenRow extends RateColumns, Omit<ClientToken, 'createdAt' | 'createdById' | 'ownerId' | 'revokedAt'> {
  environment: Environment;
  boundQuoteId: string | null;
  boundTransactionId: string | null;
  makers: string[];
}

const clientTokenStatement = statement<ClientTokenRow>(
  'client_token',
  `select t.id, t.platform_id, p.environment, t.permissions::text[] as permissions, t.grants::text[] as grants, t.expires_at,
     t.customer_id, t.quote_id, t.transaction_id,
     coalesce(t.quote_id, q.id) as bound_quote_id, coalesce(t.transaction_id, q.transaction_id) as bound_transaction_id,
     t.trusted_documents_only or p.trusted_documents <> 'OPTIONAL' or t.documents <> '{}' as trusted_documents_only, t.documents,
     t.id || token_makers(t.platform_id, t.created_by_id) as makers, ${rateColumns}
   from client_token t
   join platform p on p.id = t.platform_id
   left join quote q on q.platform_id = t.platform_id and (q.id = t.quote_id or q.transaction_id = t.transaction_id)
   where t.platform_id = $1 and t.id = $2 and t.revoked_at is null and t.expires_at > clock_timestamp()`,
);

const algorithm = 'HS256';
const issuer = 'payments-graphql-gateway';
const minKeyLength = 32;
const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Signs and authenticates client tokens: JSON Web Tokens (RFC 7519) that only this service verifies, so a symmetric
 * key is enough. Forged tokens never reach the database.
 */
export class ClientTokens {
  readonly #database: Database;
  readonly #keys: ReadonlyMap<string, Uint8Array>;
  readonly #signingId: string | undefined;

  /**
   * @param key the signing key. Without it, no tokens can be minted, and none are valid.
   * @param fallbacks other keys whose tokens are also valid: the previous keys and the next key
   */
  constructor(database: Database, key: string | undefined, fallbacks: readonly string[] = []) {
    const keys = key === undefined ? [] : [key, ...fallbacks];
    if (keys.some(({ length }) => length < minKeyLength)) {
      throw new RangeError(`the key for client tokens must have at least ${minKeyLength} characters`);
    }
    this.#database = database;
    this.#signingId = key === undefined ? undefined : keyId('CLIENT_TOKEN_KEY', key);
    this.#keys = new Map(
      keys.map((one) => [keyId('CLIENT_TOKEN_KEY', one), hash('sha256', `client token ${one}`, 'buffer')]),
    );
  }

  /** @throws Refusal SERVICE_UNAVAILABLE if there is no signing key */
  async sign(row: Pick<ClientToken, 'id' | 'platformId' | 'permissions' | 'createdAt' | 'expiresAt'>, subject: string) {
    const { header, key } = this.requireKey();
    return new SignJWT({ platform: row.platformId, scope: row.permissions.join(' ') })
      .setProtectedHeader(header)
      .setIssuer(issuer)
      .setSubject(subject)
      .setJti(row.id)
      .setIssuedAt(row.createdAt)
      .setExpirationTime(row.expiresAt)
      .sign(key);
  }

  /** Returns the viewer for `Bearer <token>`, or undefined if the token is forged, expired or revoked. */
  async authenticate(authorization: string): Promise<Viewer | undefined> {
    const token = /^bearer +([\w-]{1,2000}\.[\w-]{1,2000}\.[\w-]{1,200})$/i.exec(authorization)?.[1];
    const claims = token === undefined ? undefined : await verifySignature(token, this.#keys);
    if (!claims) return undefined;
    const { platformId, id } = claims;
    const [row] = await asPlatform(platformId, () => clientTokenStatement(this.#database.pool, platformId, id));
    return row && viewerOf(row);
  }

  /** Returns the signing key and the header for its tokens. @throws Refusal SERVICE_UNAVAILABLE if there is no key */
  requireKey() {
    const key = this.#signingId === undefined ? undefined : this.#keys.get(this.#signingId);
    if (this.#signingId === undefined || !key) {
      const message = 'client tokens need the setting CLIENT_TOKEN_KEY, with the same value on all instances';
      throw new Refusal('SERVICE_UNAVAILABLE', message);
    }
    return { header: { alg: algorithm, typ: 'JWT', kid: this.#signingId }, key };
  }
}

/** Returns the token's primary key if this service signed the token. The database checks the expiry. */
async function verifySignature(token: string, keys: ReadonlyMap<string, Uint8Array>) {
  try {
    const key = keys.get(String(decodeProtectedHeader(token).kid));
    if (!key) return undefined;
    // A JWT with a different issuer is not a client token, even if it is signed with the key. With this `currentDate`,
    // no token is treated as expired.
    const { payload } = await jwtVerify(token, key, { algorithms: [algorithm], issuer, currentDate: new Date(0) });
    const [platformId, id] = [String(payload.platform), String(payload.jti)];
    if (!uuidForm.test(platformId) || !uuidForm.test(id)) return undefined;
    return { platformId, id };
  } catch {
    return undefined;
  }
}

function viewerOf(row: ClientTokenRow): Viewer {
  const subject = subjectOf(row);
  return {
    ...commonFacts(row),
    kind: 'CLIENT',
    grants: row.grants,
    bound: boundOf(row),
    subject,
    keySpace: subject,
    addresses: [],
    trustedDocumentsOnly: row.trustedDocumentsOnly,
  };
}

function boundOf(row: ClientTokenRow): Bound {
  if (row.customerId !== null) return { kind: 'CUSTOMER', customerId: row.customerId };
  if (row.boundTransactionId === null) throw new Error(`client token ${row.id} is not bound to any record`);
  return { kind: 'PAYMENT', transactionId: row.boundTransactionId, quoteId: row.boundQuoteId };
}

export function subjectOf(bound: Pick<ClientToken, 'customerId' | 'quoteId' | 'transactionId'>): string {
  if (bound.customerId !== null) return publicId('Customer', bound.customerId);
  if (bound.quoteId !== null) return publicId('Quote', bound.quoteId);
  return publicId('Transaction', bound.transactionId ?? '');
}

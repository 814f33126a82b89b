import { hash } from 'node:crypto';
import { decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import { publicId } from '../../../core/ids.ts';
import { Refusal } from '../../../core/refusal.ts';
import { keyId } from '../../../core/secret-box.ts';
import { asPlatform } from '../../../infra/database/connections/platform-scope.ts';
import type { Database } from '../../../infra/database/database.ts';
import type { ClientToken, Environment } from '../../../infra/database/generated/client/client.ts';
import { statement } from '../../../infra/database/statement.ts';
import type { Bound } from '../caller.ts';
import { ownRates, type RateColumns, rateColumns } from '../rates.ts';
import type { Viewer } from '../viewer.ts';

interface Row extends RateColumns, Omit<ClientToken, 'createdAt' | 'createdById' | 'ownerId' | 'revokedAt'> {
  environment: Environment;
  boundQuoteId: string | null;
  boundTransactionId: string | null;
  makers: string[];
}

const tokenStatement = statement<Row>(
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
 * Signs and authenticates the tokens of apps: JSON Web Tokens (RFC 7519) that only this service verifies, so one
 * symmetric key is enough. Forged tokens never reach the database.
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
      throw new RangeError(`the key of client tokens must have at least ${minKeyLength} characters`);
    }
    this.#database = database;
    this.#signingId = key === undefined ? undefined : keyId('CLIENT_TOKEN_KEY', key);
    this.#keys = new Map(
      keys.map((one) => [keyId('CLIENT_TOKEN_KEY', one), hash('sha256', `client token ${one}`, 'buffer')]),
    );
  }

  /** @throws Refusal SERVICE_UNAVAILABLE without a key */
  async sign(row: Pick<ClientToken, 'id' | 'platformId' | 'permissions' | 'createdAt' | 'expiresAt'>, subject: string) {
    const { header, key } = this.#signing();
    return new SignJWT({ platform: row.platformId, scope: row.permissions.join(' ') })
      .setProtectedHeader(header)
      .setIssuer(issuer)
      .setSubject(subject)
      .setJti(row.id)
      .setIssuedAt(row.createdAt)
      .setExpirationTime(row.expiresAt)
      .sign(key);
  }

  /** Checks that tokens can be minted. @throws Refusal SERVICE_UNAVAILABLE without a key */
  requireKey(): void {
    this.#signing();
  }

  /** Returns the viewer for `Bearer <token>`, or undefined if the token is forged, expired or revoked. */
  async authenticate(authorization: string): Promise<Viewer | undefined> {
    const token = tokenIn(authorization);
    const claims = token === undefined ? undefined : await verifySignature(token, this.#keys);
    if (!claims) return undefined;
    const { platformId, id } = claims;
    const [row] = await asPlatform(platformId, () => tokenStatement(this.#database.pool, platformId, id));
    return row && viewerOf(row);
  }

  #signing() {
    const key = this.#signingId === undefined ? undefined : this.#keys.get(this.#signingId);
    if (this.#signingId === undefined || !key) {
      throw new Refusal(
        'SERVICE_UNAVAILABLE',
        'client tokens need the setting CLIENT_TOKEN_KEY, with the same value on all instances',
      );
    }
    return { header: { alg: algorithm, typ: 'JWT', kid: this.#signingId }, key };
  }
}

function tokenIn(authorization: string): string | undefined {
  return /^bearer +([\w-]{1,2000}\.[\w-]{1,2000}\.[\w-]{1,200})$/i.exec(authorization)?.[1];
}

/** Returns the primary key of a token that this service signed. The database's clock decides whether it has expired. */
async function verifySignature(token: string, keys: ReadonlyMap<string, Uint8Array>) {
  try {
    const key = keys.get(String(decodeProtectedHeader(token).kid));
    if (!key) return undefined;
    // A JWT with a different issuer is not a client token, even if it is signed with the key. With this `currentDate`,
    // no token counts as expired.
    const { payload } = await jwtVerify(token, key, { algorithms: [algorithm], issuer, currentDate: new Date(0) });
    const [platformId, id] = [String(payload.platform), String(payload.jti)];
    if (!uuidForm.test(platformId) || !uuidForm.test(id)) return undefined;
    return { platformId, id };
  } catch {
    return undefined;
  }
}

function viewerOf(row: Row): Viewer {
  const subject = subjectOf(row);
  return {
    kind: 'CLIENT',
    platformId: row.platformId,
    environment: row.environment,
    permissions: row.permissions,
    grants: row.grants,
    tokenId: row.id,
    makers: row.makers,
    bound: boundOf(row),
    subject,
    keySpace: subject,
    expiresAt: row.expiresAt,
    addresses: [],
    trustedDocumentsOnly: row.trustedDocumentsOnly,
    documents: row.documents,
    rates: ownRates(row),
  };
}

function boundOf(row: Row): Bound {
  if (row.customerId !== null) return { kind: 'CUSTOMER', customerId: row.customerId };
  if (row.boundTransactionId === null) throw new Error(`client token ${row.id} has no record that it is bound to`);
  return { kind: 'PAYMENT', transactionId: row.boundTransactionId, quoteId: row.boundQuoteId };
}

export function subjectOf(bound: Pick<ClientToken, 'customerId' | 'quoteId' | 'transactionId'>): string {
  if (bound.customerId !== null) return publicId('Customer', bound.customerId);
  if (bound.quoteId !== null) return publicId('Quote', bound.quoteId);
  return publicId('Transaction', bound.transactionId ?? '');
}

import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { publicId } from '../core/ids.ts';
import type { Database } from '../database/database.ts';
import type { Environment, Permission } from '../database/generated/client/client.ts';
import { statement } from '../database/statement.ts';
import type { Viewer } from './viewer.ts';

/** Secrets are 256 random bits (the fixed one of the local sandbox aside), so one SHA-256 keeps them. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** A new clientId and secret. A clientId has no colon, which parts the two in Basic credentials. */
export function newCredentials(): { clientId: string; secret: string } {
  return { clientId: randomBytes(12).toString('base64url'), secret: randomBytes(32).toString('base64url') };
}

interface TokenRow {
  id: string;
  platformId: string;
  secretHash: Buffer;
  permissions: Permission[];
  environment: Environment;
}

const tokenStatement = statement<TokenRow>(
  'api_token_by_client_id',
  `select t.id, t.platform_id, t.secret_hash, t.permissions::text[] as permissions, p.environment
   from api_token t join platform p on p.id = t.platform_id where t.client_id = $1 and t.revoked_at is null`,
);

const usedStatement = statement<object>(
  'api_token_used',
  `update api_token set last_used_at = clock_ms()
   where platform_id = $1 and id = $2 and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')`,
);

/** How long a good answer is remembered: a revoked token ends within this time. */
const rememberMs = 2_000;
const nobody = Buffer.alloc(32);

/** Tells who presents an Authorization header. Unknown tokens and wrong secrets are alike, in answer and in time. */
export class ApiTokens {
  readonly #database: Database;
  readonly #known = new LRUCache<string, Viewer>({ max: 10_000, ttl: rememberMs });

  constructor(database: Database) {
    this.#database = database;
  }

  /** The viewer behind `Basic base64(clientId:secret)`, or undefined when there is none. */
  async authenticate(authorization: string | null | undefined): Promise<Viewer | undefined> {
    if (!authorization) return undefined;
    // By a digest of the header as it came: what is remembered is no secret.
    const digest = hash('sha256', authorization, 'base64');
    const known = this.#known.get(digest);
    if (known) return known;

    const credentials = basicCredentials(authorization);
    if (!credentials) return undefined;
    const [row] = await tokenStatement(this.#database.pool, credentials.clientId);
    const right = timingSafeEqual(hashSecret(credentials.secret), row?.secretHash ?? nobody);
    if (!row || !right) return undefined;
    const viewer: Viewer = {
      kind: 'PLATFORM',
      platformId: row.platformId,
      environment: row.environment,
      permissions: row.permissions,
      tokenId: row.id,
      bound: { kind: 'PLATFORM' },
      subject: publicId('Platform', row.platformId),
      expiresAt: null,
    };
    this.#known.set(digest, viewer);
    // For people who look after their tokens; a request does not wait for it.
    usedStatement(this.#database.pool, row.platformId, row.id).catch(() => undefined);
    return viewer;
  }
}

function basicCredentials(authorization: string): { clientId: string; secret: string } | undefined {
  const encoded = /^basic +([A-Za-z0-9+/=_-]{1,1000})$/i.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  // No clientId has one, and Postgres would not take U+0000 in a search for it.
  if (/\p{Cc}/u.test(decoded)) return undefined;
  return colon > 0 ? { clientId: decoded.slice(0, colon), secret: decoded.slice(colon + 1) } : undefined;
}

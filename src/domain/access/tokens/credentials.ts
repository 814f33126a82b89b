import { hash } from 'node:crypto';
import { boundedCache } from '../../../core/bounded-cache.ts';
import type { Database } from '../../../infra/database/database.ts';
import type { CredentialBrake } from '../limits/credential-brake.ts';
import { isAcceptedFrom, type Viewer } from '../viewer.ts';
import { authenticateServer } from './api-tokens.ts';
import type { ClientTokens } from './client-tokens.ts';

const proven = { max: 20_000, ttlMs: 3_600_000 } as const;
/** Short, so that a revoked token is rejected within a second. */
const authenticated = { max: 20_000, ttlMs: 900 } as const;

/** Authenticates an Authorization header of either kind: a server's `Basic` or an app's `Bearer`. */
export class Credentials {
  readonly #database: Database;
  readonly #apps: ClientTokens;
  readonly #brake: CredentialBrake;
  readonly #viewers = boundedCache<Viewer>(authenticated.max, authenticated.ttlMs);
  /** Headers verified earlier bypass the brake, even while someone at the same address is guessing credentials. */
  readonly #proven = boundedCache<true>(proven.max, proven.ttlMs);

  constructor(database: Database, apps: ClientTokens, brake: CredentialBrake) {
    this.#database = database;
    this.#apps = apps;
    this.#brake = brake;
  }

  /**
   * Authenticates credentials. Failures count against the address, including tokens not accepted from this address.
   * @throws RateLimited after too many wrong credentials, unless these have been verified before
   */
  async authenticateFrom(address: string, authorization: string | undefined): Promise<Viewer | undefined> {
    if (authorization === undefined || authorization === '') return undefined;
    const cached = this.cached(authorization);
    if (cached && isAcceptedFrom(cached, address)) return cached;
    const digest = digestOf(authorization);
    const attempt = this.#proven.has(digest) ? undefined : this.#brake.begin(address);
    try {
      const found = await this.authenticate(authorization);
      const viewer = found && isAcceptedFrom(found, address) ? found : undefined;
      if (viewer) {
        this.#proven.set(digest, true);
        attempt?.succeed();
      } else this.#proven.delete(digest);
      return viewer;
    } catch (error) {
      // The database is unreachable, so the credentials may be correct, and the attempt does not count as a failure.
      attempt?.succeed();
      throw error;
    }
  }

  /** Authenticates credentials that `authenticateFrom` has accepted before; undefined for any that are not valid. */
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

import { hash } from 'node:crypto';
import { boundedCache } from '../../../core/bounded-cache.ts';
import type { CredentialBrake } from '../limits/credential-brake.ts';
import { isAcceptedFrom, type Viewer } from '../viewer.ts';
import type { ApiTokens } from './api-tokens.ts';
import type { ClientTokens } from './client-tokens.ts';

/** How many verified credentials are remembered, and for how many milliseconds. */
const proven = { max: 20_000, ttlMs: 3_600_000 } as const;

/** Authenticates an Authorization header of either kind: a server's `Basic` or an app's `Bearer`. */
export class Credentials {
  readonly #servers: ApiTokens;
  readonly #apps: ClientTokens;
  readonly #brake: CredentialBrake;
  /**
   * Digests of verified headers: the brake does not stop them, even while somebody else guesses at the same address.
   */
  readonly #proven = boundedCache<true>(proven.max, proven.ttlMs);

  constructor(servers: ApiTokens, apps: ClientTokens, brake: CredentialBrake) {
    this.#servers = servers;
    this.#apps = apps;
    this.#brake = brake;
  }

  /**
   * Authenticates credentials that a client sends, and counts wrong ones against its address. From an address that its token is not
   * accepted from, they are wrong.
   * @returns the viewer, or undefined for credentials that are missing or wrong, without telling how
   * @throws RateLimited when too many credentials from this address were wrong, and these are not known
   */
  async authenticateFrom(address: string, authorization: string | undefined): Promise<Viewer | undefined> {
    if (authorization === undefined || authorization === '') return undefined;
    const cached = this.cached(authorization);
    if (cached && isAcceptedFrom(cached, address)) return cached;
    const digest = hash('sha256', authorization, 'base64');
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
      // Unknown whether they are valid: the database is unreachable.
      attempt?.succeed();
      throw error;
    }
  }

  /**
   * Authenticates credentials that `authenticateFrom` has accepted before. Returns undefined for credentials that are missing,
   * malformed, unknown, expired or revoked, without telling which.
   */
  authenticate(authorization: string | null | undefined): Promise<Viewer | undefined> {
    return this.#holders(authorization).authenticate(authorization);
  }

  /** Returns the viewer for credentials that were authenticated a moment ago, without asking the database. */
  cached(authorization: string | undefined): Viewer | undefined {
    return authorization === undefined ? undefined : this.#holders(authorization).cached(authorization);
  }

  #holders(authorization: string | null | undefined): ApiTokens | ClientTokens {
    return /^bearer /i.test(authorization ?? '') ? this.#apps : this.#servers;
  }
}

import type { ApiTokens } from './api-tokens.ts';
import type { ClientTokens } from './client-tokens.ts';
import type { Viewer } from './viewer.ts';

/** Authenticates an Authorization header of either kind: a server's `Basic` or an app's `Bearer`. */
export class Credentials {
  readonly #servers: ApiTokens;
  readonly #apps: ClientTokens;

  constructor(servers: ApiTokens, apps: ClientTokens) {
    this.#servers = servers;
    this.#apps = apps;
  }

  /**
   * Returns the viewer, or undefined for credentials that are missing, malformed, unknown, expired or revoked, without
   * telling which.
   */
  authenticate(authorization: string | null | undefined): Promise<Viewer | undefined> {
    return /^bearer /i.test(authorization ?? '')
      ? this.#apps.authenticate(authorization)
      : this.#servers.authenticate(authorization);
  }
}

import type { Caller } from './caller.ts';
import type { Rates } from './rates.ts';

/** Returns whether a viewer may do everything that another of the same subject may. */
export function mayDoAllThat(viewer: Viewer, other: Viewer): boolean {
  return (
    other.permissions.every((permission) => viewer.permissions.includes(permission)) &&
    other.grants.every((grant) => viewer.grants.includes(grant))
  );
}

/** A caller that holds a token: a platform's server with an API token, or an app with a client token. */
export interface Viewer extends Caller {
  /** The uuid of the token: of an API token for a server, of a client token for an app. */
  readonly tokenId: string;
  /** The public id of the record that the token is bound to: a newer token of it may replace this one. */
  readonly subject: string;
  /** When the token expires; null for one that only ends when it is revoked. */
  readonly expiresAt: Date | null;
  readonly trustedDocumentsOnly: boolean;
  /** Its platform's own rate limits; null if the limits of the settings apply. */
  readonly rates: Rates;
}

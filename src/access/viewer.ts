import type { Caller } from './caller.ts';

/** Who is asking: a platform's server with an API token, or an app with a client token. */
export interface Viewer extends Caller {
  /** The uuid of the token. */
  readonly tokenId: string;
  /** The public id of what the token is bound to: a newer token of the same subject may take its place. */
  readonly subject: string;
  /** When the token ends by itself; null for one that only ends when it is revoked. */
  readonly expiresAt: Date | null;
}

import type { Tenant } from '../core/tenant.ts';
import type { Permission } from '../database/generated/client/client.ts';

/**
 * What a token is bound to, which is all that its bearer can see: everything of the platform, everything of one customer,
 * or one payment (its quote and its transaction).
 */
export type Bound =
  | { readonly kind: 'PLATFORM' }
  | { readonly kind: 'CUSTOMER'; readonly customerId: string }
  | { readonly kind: 'PAYMENT'; readonly transactionId: string; readonly quoteId: string | null };

/** Who is asking: a platform's server with an API token, or an app with a client token. */
export interface Viewer extends Tenant {
  readonly kind: 'PLATFORM' | 'CLIENT';
  readonly permissions: readonly Permission[];
  /** The uuid of the token. */
  readonly tokenId: string;
  readonly bound: Bound;
  /** The public id of what the token is bound to: a newer token of the same subject may take its place. */
  readonly subject: string;
  /** When the token ends by itself; null for one that only ends when it is revoked. */
  readonly expiresAt: Date | null;
}

import type { Tenant } from '../core/tenant.ts';
import type { Permission } from '../database/generated/client/client.ts';

/**
 * What a caller is bound to, which is all that it can see: everything of the platform, everything of one customer, or one
 * payment (its quote and its transaction).
 */
export type Bound =
  | { readonly kind: 'PLATFORM' }
  | { readonly kind: 'CUSTOMER'; readonly customerId: string }
  | { readonly kind: 'PAYMENT'; readonly transactionId: string; readonly quoteId: string | null };

/**
 * On whose behalf a command runs, what it may do and what it may see: a viewer who holds a token, or the platform itself
 * (platform-itself.ts).
 */
export interface Caller extends Tenant {
  /** A platform's server, or an app of one. */
  readonly kind: 'PLATFORM' | 'CLIENT';
  readonly permissions: readonly Permission[];
  readonly bound: Bound;
  /** Idempotency keys of an app are its own: no other app of the platform can meet or probe them. */
  readonly keySpace?: string | undefined;
}

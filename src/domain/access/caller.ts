import { publicId } from '../../core/ids.ts';
import type { Tenant } from '../../core/tenant.ts';
import type { ClientGrant, Permission } from '../../infra/database/generated/client/client.ts';
import type { ActFacts, Operator } from './operator-acts.ts';

/** The part of a platform that a caller can see: all, all of one customer, or one payment (quote and transaction). */
export type Bound =
  | { readonly kind: 'PLATFORM' }
  | { readonly kind: 'CUSTOMER'; readonly customerId: string }
  | { readonly kind: 'PAYMENT'; readonly transactionId: string; readonly quoteId: string | null };

/** On whose behalf a command runs, with what it may do and see: a viewer with a token, or the platform itself. */
export interface Caller extends Tenant {
  /** A platform's server, or an app of a platform. */
  readonly kind: 'PLATFORM' | 'CLIENT';
  readonly permissions: readonly Permission[];
  /** Extra rights that the platform gives the app of a customer; none for others. */
  readonly grants: readonly ClientGrant[];
  /** The uuid of the caller's token; null for the platform itself. */
  readonly tokenId: string | null;
  /** The uuids of that token and of the API tokens that it was made by, one from the other: their policies limit it, too. */
  readonly makers: readonly string[];
  readonly bound: Bound;
  /** The namespace of an app's idempotency keys: no other app of the platform can collide with them or probe them. */
  readonly keySpace?: string | undefined;
  /** The operator who acts in the platform's name, and the subject: commands on plain records write the act. */
  readonly operator?: (Operator & Pick<ActFacts, 'subject' | 'after'>) | undefined;
}

/** Returns the public id of the caller's token, as a payment stores it; null for the platform itself. */
export function tokenOf({ kind, tokenId }: Caller): string | null {
  return tokenId === null ? null : publicId(kind === 'CLIENT' ? 'ClientToken' : 'ApiToken', tokenId);
}

import { publicId } from '../../core/ids.ts';
import type { Tenant } from '../../core/tenant.ts';
import type { ClientGrant, Permission } from '../../infra/database/generated/client/client.ts';
import type { ActFacts, Operator } from './operator-acts.ts';

/** The part of a platform that a caller can see: all of it, one customer, or one payment (quote and transaction). */
export type Bound =
  | { readonly kind: 'PLATFORM' }
  | { readonly kind: 'CUSTOMER'; readonly customerId: string }
  | { readonly kind: 'PAYMENT'; readonly transactionId: string; readonly quoteId: string | null };

/** The party on whose behalf a command runs (a viewer with a token, or the platform itself), with its permissions. */
export interface Caller extends Tenant {
  readonly kind: 'PLATFORM' | 'CLIENT';
  readonly permissions: readonly Permission[];
  /** Extra rights that the platform grants to a customer's app; empty for other callers. */
  readonly grants: readonly ClientGrant[];
  readonly tokenId: string | null;
  /** The uuids of the caller's token and of its direct and indirect creators, whose policies limit the caller. */
  readonly makers: readonly string[];
  readonly bound: Bound;
  /** The namespace of an app's idempotency keys, so that the platform's other apps can neither use nor probe them. */
  readonly keySpace?: string | undefined;
  /** The operator acting on the platform's behalf, and the object of the action. `runIdempotent` records both. */
  readonly operator?: (Operator & Pick<ActFacts, 'subject' | 'after'>) | undefined;
}

/** Returns the public id of the caller's token, as stored with payments; null for the platform itself. */
export function tokenOf({ kind, tokenId }: Caller): string | null {
  return tokenId === null ? null : publicId(kind === 'CLIENT' ? 'ClientToken' : 'ApiToken', tokenId);
}

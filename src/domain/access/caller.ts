import ipaddr from 'ipaddr.js';
import { isWithin, type Range } from '../../core/address-ranges.ts';
import { publicId } from '../../core/ids.ts';
import type { Tenant } from '../../core/tenant.ts';
import type { ClientGrant, Permission } from '../../infra/database/generated/client/client.ts';
import type { ActFacts, Operator } from './operator-acts.ts';
import type { Rates } from './rates.ts';

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

/** Returns whether a viewer may do everything that another viewer with the same subject may do. */
export function mayDoAllThat(viewer: Viewer, other: Viewer): boolean {
  return (
    other.permissions.every((permission) => viewer.permissions.includes(permission)) &&
    other.grants.every((grant) => viewer.grants.includes(grant))
  );
}

/** A caller that holds a token: a platform's server with an API token, or an app with a client token. */
export interface Viewer extends Caller {
  readonly tokenId: string;
  /** The public id of the record that the token is bound to. A newer token for the same record may replace this one. */
  readonly subject: string;
  readonly expiresAt: Date | null;
  readonly addresses: readonly Range[];
  readonly trustedDocumentsOnly: boolean;
  /** The hashes of the registered documents that the token may send; empty if it is not limited to a list. */
  readonly documents: readonly string[];
  /** The platform's own rate limits; null where the limit from the settings applies. */
  readonly rates: Rates;
}

/** Returns whether a token is accepted from an address: an IPv4 address, or the /64 network of an IPv6 address. */
export function isAcceptedFrom({ addresses }: Pick<Viewer, 'addresses'>, address: string): boolean {
  const [host = ''] = address.split('/');
  return addresses.length === 0 || (ipaddr.isValid(host) && isWithin(addresses)(ipaddr.process(host)));
}

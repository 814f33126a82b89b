import ipaddr from 'ipaddr.js';
import { isWithin, type Range } from '../../core/address-ranges.ts';
import type { Caller } from './caller.ts';
import type { Rates } from './rates.ts';

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
  /** Null if the limits from the settings apply. */
  readonly rates: Rates;
}

/** Returns whether a token is accepted from an address: an IPv4 address, or the /64 network of IPv6. */
export function isAcceptedFrom({ addresses }: Pick<Viewer, 'addresses'>, address: string): boolean {
  const [host = ''] = address.split('/');
  return addresses.length === 0 || (ipaddr.isValid(host) && isWithin(addresses)(ipaddr.process(host)));
}

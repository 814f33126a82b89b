import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type Address, isWithin, type Range } from '../../core/address-ranges.ts';

/** Returns the address of a request's client, as limits by address count it: an IPv4 address, or the /64 network of IPv6. */
export type AddressOf = (request: IncomingMessage) => string;

/**
 * Returns the function that finds the address of a client. Behind trusted proxies it is the last address in X-Forwarded-For
 * that does not belong to a trusted proxy: each proxy appends its client, and everything before that may be forged.
 * @param trusted the ranges of the proxies; none: the header is not read
 */
export function addressFinder(trusted: readonly Range[]): AddressOf {
  const isTrusted = isWithin(trusted);
  return ({ socket: { remoteAddress = '' }, headers }) => {
    if (!ipaddr.isValid(remoteAddress)) return remoteAddress;
    let client = ipaddr.process(remoteAddress);
    const hops = trusted.length === 0 ? [] : String(headers['x-forwarded-for'] ?? '').split(',');
    while (hops.length > 0 && isTrusted(client)) {
      const hop = hops.pop()?.trim() ?? '';
      // Anything that is not an address was written by the client itself: the proxy after it is the best known.
      if (!ipaddr.isValid(hop)) break;
      client = ipaddr.process(hop);
    }
    return networkOf(client);
  };
}

/** Returns the function that finds the address of the client of a connection: undefined for a trusted proxy. */
export function directAddressFinder(trusted: readonly Range[]): (socket: Socket) => string | undefined {
  const isTrusted = isWithin(trusted);
  return ({ remoteAddress = '' }) => {
    if (!ipaddr.isValid(remoteAddress)) return remoteAddress;
    const address = ipaddr.process(remoteAddress);
    return isTrusted(address) ? undefined : networkOf(address);
  };
}

/** An IPv6 client has a /64 network of its own, with more addresses than can be counted. */
function networkOf(address: Address): string {
  if (address instanceof ipaddr.IPv4) return address.toString();
  return `${new ipaddr.IPv6([...address.parts.slice(0, 4), 0, 0, 0, 0])}/64`;
}

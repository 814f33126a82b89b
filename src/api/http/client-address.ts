import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type Address, isWithin, type Range } from '../../core/address-ranges.ts';

/** Returns the client address that rate limits are keyed on: an IPv4 address, or the /64 network of an IPv6 address. */
export type AddressOf = (request: IncomingMessage) => string;

/**
 * Returns the function that finds a client's address. Behind trusted proxies, that is the last address in
 * X-Forwarded-For that is not a proxy's. Each proxy appends its client's address, and anything before it may be forged.
 * @param trusted the proxies' address ranges; if empty, the header is ignored
 */
export function addressFinder(trusted: readonly Range[]): AddressOf {
  const isTrusted = isWithin(trusted);
  return ({ socket: { remoteAddress = '' }, headers }) => {
    if (!ipaddr.isValid(remoteAddress)) return remoteAddress;
    let client = ipaddr.process(remoteAddress);
    const hops = trusted.length === 0 ? [] : String(headers['x-forwarded-for'] ?? '').split(',');
    while (hops.length > 0 && isTrusted(client)) {
      const hop = hops.pop()?.trim() ?? '';
      // Only the client can have written a value that is not an address, so the address of its nearest proxy is used.
      if (!ipaddr.isValid(hop)) break;
      client = ipaddr.process(hop);
    }
    return networkOf(client);
  };
}

/** Finds the address of a connection's client; returns undefined for a trusted proxy. */
export function directAddressFinder(trusted: readonly Range[]): (socket: Socket) => string | undefined {
  const isTrusted = isWithin(trusted);
  return ({ remoteAddress = '' }) => {
    if (!ipaddr.isValid(remoteAddress)) return remoteAddress;
    const address = ipaddr.process(remoteAddress);
    return isTrusted(address) ? undefined : networkOf(address);
  };
}

/** An IPv6 client usually has a whole /64 network, with too many addresses to count individually. */
function networkOf(address: Address): string {
  if (address instanceof ipaddr.IPv4) return address.toString();
  return `${new ipaddr.IPv6([...address.parts.slice(0, 4), 0, 0, 0, 0])}/64`;
}

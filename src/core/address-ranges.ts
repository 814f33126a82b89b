import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type Range = readonly [Address, number];

/** Parses a range such as `10.0.0.0/8`, or a single address. @throws Error for any other string */
export function parseRange(text: string): Range {
  return text.includes('/') ? ipaddr.parseCIDR(text) : [ipaddr.process(text), text.includes(':') ? 128 : 32];
}

export function isWithin(ranges: readonly Range[]) {
  return (address: Address) =>
    ranges.some(([range, bits]) => address.kind() === range.kind() && address.match(range, bits));
}

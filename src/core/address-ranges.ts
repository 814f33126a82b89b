import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type Range = readonly [Address, number];

/** Parses a range such as `10.0.0.0/8`, or a single address. @throws Error for any other string */
export function parseRange(text: string): Range {
  // The library also accepts other notations, and would read 010.0.0.1 as 8.0.0.1.
  const isPlain = text.includes(':') || ipaddr.IPv4.isValidFourPartDecimal(text.replace(/\/.*/, ''));
  if (!isPlain) throw new RangeError(`${text} is not an address`);
  const [address, bits] = text.includes('/')
    ? ipaddr.parseCIDR(text)
    : ([ipaddr.parse(text), text.includes(':') ? 128 : 32] as const);
  // Client addresses such as ::ffff:10.0.0.1 are compared as IPv4, so ranges of such addresses are converted as well.
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96
    ? [address.toIPv4Address(), bits - 96]
    : [address, bits];
}

/** Parses a range typed by a person. Refuses input such as 10/8, which ipaddr.js reads as 0.0.0.10/8. @throws Error */
export function enteredRange(text: string): Range {
  if (isIP(text.split('/', 1).join()) === 0) throw new RangeError(`${text} is not an address or a range`);
  return parseRange(text);
}

export function isWithin(ranges: readonly Range[]) {
  return (address: Address) =>
    ranges.some(([range, bits]) => address.kind() === range.kind() && address.match(range, bits));
}

import { Resolver as DnsResolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Returns every address of a host name. */
export type Resolver = (hostname: string) => Promise<readonly string[]>;

const dns = new DnsResolver({ timeout: 2_000, tries: 2 });
const unknown: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA']);

/** Resolves a host name with DNS queries, because the system's lookup would block one of the process's few threads. */
export const dnsResolver: Resolver = async (hostname) => {
  if (hostname === 'localhost') return ['127.0.0.1', '::1'];
  const answers = await Promise.allSettled([dns.resolve4(hostname), dns.resolve6(hostname)]);
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (addresses.length > 0) return addresses;
  const absent = answers.every((answer) => answer.status === 'rejected' && unknown.has(answer.reason?.code));
  throw Object.assign(new Error(`cannot look up ${hostname}`), { code: absent ? 'ENOTFOUND' : 'EAI_AGAIN' });
};

/** The error for a host whose address webhooks must not use. Omits the address, which would reveal the network. */
export class RefusedAddress extends Error {
  constructor() {
    super('the host name does not resolve to public addresses only');
    this.name = 'RefusedAddress';
  }
}

/** The public addresses of cloud platforms' internal services. Their other addresses are in ranges refused anyway. */
const cloudInternal: ReadonlySet<string> = new Set(['168.63.129.16']);
/** The only part of IPv6 that is assigned for global unicast (RFC 4291, 2.4). */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/** Returns whether an address is public: global unicast, but not the IPv6 form of an IPv4 address, such as NAT64. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast' || cloudInternal.has(parsed.toString())) return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(globalUnicast);
}

export function isLoopbackAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.parse(address).range() === 'loopback';
}

/** Returns a lookup that fails unless every address is allowed. It checks the very addresses that the socket uses. */
export function checkedLookup(resolve: Resolver, allowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        if (addresses.length === 0 || !addresses.every(allowed)) return callback(new RefusedAddress(), '');
        const resolved = addresses.map((address) => ({
          address,
          family: ipaddr.parse(address).kind() === 'ipv4' ? 4 : 6,
        }));
        const [first] = resolved;
        if (options.all || !first) return callback(null, resolved);
        return callback(null, first.address, first.family);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), ''),
    );
  };
}

import { Resolver as DnsResolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Finds every address of a name. */
export type Resolver = (hostname: string) => Promise<readonly string[]>;

const dns = new DnsResolver({ timeout: 2_000, tries: 2 });
const unknown: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA']);

/**
 * Asks the name servers themselves. The operating system's look-up would hold one of the process's few threads for as
 * long as a slow name server likes, and so could delay everybody else's deliveries.
 */
export const systemResolver: Resolver = async (hostname) => {
  if (hostname === 'localhost') return ['127.0.0.1', '::1'];
  const answers = await Promise.allSettled([dns.resolve4(hostname), dns.resolve6(hostname)]);
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (addresses.length > 0) return addresses;
  const absent = answers.every((answer) => answer.status === 'rejected' && unknown.has(answer.reason?.code));
  throw Object.assign(new Error(`cannot look up ${hostname}`), { code: absent ? 'ENOTFOUND' : 'EAI_AGAIN' });
};

/** A name that leads where webhooks must not go. What the address is stays here: it would map our network to a tenant. */
export class RefusedAddress extends Error {
  constructor() {
    super('the host name does not resolve to public addresses only');
    this.name = 'RefusedAddress';
  }
}

/**
 * Public by its range, yet answered by the machine's own cloud: the metadata and key service of one large host.
 * (The others' are in ranges that are refused as a whole.)
 */
const cloudInternal: ReadonlySet<string> = new Set(['168.63.129.16']);
/** The one part of IPv6 that is given out for global unicast (RFC 4291, 2.4). */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an address is one of the open internet: global unicast and nothing else. Not loopback, private, link-local,
 * shared (RFC 6598), documentation, benchmarking or multicast; and no IPv6 form that carries an IPv4 address (mapped,
 * compatible, NAT64, 6to4, Teredo), behind which any of these may hide.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast' || cloudInternal.has(parsed.toString())) return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(globalUnicast);
}

/** Whether an address is this machine itself. */
export function isLoopbackAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.parse(address).range() === 'loopback';
}

/**
 * A socket's own name lookup, that answers only when every address of the name is allowed. The socket connects to what
 * was checked here, so a name that changes its answer between check and connection gains nothing.
 */
export function checkedLookup(resolve: Resolver, allowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        if (addresses.length === 0 || !addresses.every(allowed)) return callback(new RefusedAddress(), '');
        const found = addresses.map((address) => ({
          address,
          family: ipaddr.parse(address).kind() === 'ipv4' ? 4 : 6,
        }));
        const [first] = found;
        if (options.all || !first) return callback(null, found);
        return callback(null, first.address, first.family);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), ''),
    );
  };
}

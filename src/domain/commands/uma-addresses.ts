import { domainToASCII } from 'node:url';
import { type FieldPath, Refusal } from '../../core/refusal.ts';

/** The domain under which this service assigns names to its platforms. */
export const serviceDomain = 'uma.money';

/** Matches a domain name in ASCII: at least two labels, the last of which is not a number. */
const domainName = /^(?=.{3,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Checked first, because `domainToASCII` would decode and truncate other strings instead of refusing them. */
const writtenName = /^[\p{L}\p{M}\p{N}.\-\u3002\uff0e\uff61]+$/u;

/** Reserved top-level domains, and local network names that ICANN never delegates (RFC 6761, 6762, 7686, 9476). */
const machines: ReadonlySet<string> = new Set([
  ...['localhost', 'local', 'localdomain', 'internal', 'intranet', 'private', 'corp', 'home', 'lan'],
  ...['arpa', 'onion', 'invalid', 'alt'],
]);

/** Domains reserved for tests and examples (RFC 2606, RFC 6761). */
const fictional = ['test', 'example', 'example.com', 'example.net', 'example.org'] as const;

/** Returns a domain name in lower-case ASCII (Punycode); undefined for a bare host name, IP address or local name. */
export function normalDomain(domain: string): string | undefined {
  if (!writtenName.test(domain)) return undefined;
  const ascii = domainToASCII(domain);
  const last = ascii.slice(ascii.lastIndexOf('.') + 1);
  return domainName.test(ascii) && !machines.has(last) ? ascii : undefined;
}

/** Returns whether a domain is reserved for tests and examples, which only the sandbox uses. */
export function isFictional(domain: string): boolean {
  return fictional.some((one) => isBelow(domain, one));
}

export function isOfService(domain: string): boolean {
  return isBelow(domain, serviceDomain);
}

function isBelow(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`);
}

/** The handle, including its `$`, has at most 64 characters. */
const addressForm = /^\s*\$([a-z0-9._+-]{1,63})@([^@]+)$/i;

/**
 * Returns a UMA address in its stored form: `$local@domain` in lower case, without surrounding spaces and with the
 * domain in ASCII; undefined if it is not a UMA address.
 */
export function normalUmaAddress(address: string): string | undefined {
  const [, name, written = ''] = addressForm.exec(address) ?? [];
  const domain = normalDomain(written.trimEnd());
  return name === undefined || domain === undefined ? undefined : `$${name.toLowerCase()}@${domain}`;
}

/** Validates a UMA address, and returns its stored form. @throws Refusal INVALID_UMA_ADDRESS */
export function checkUmaAddress(address: string, path: FieldPath): string {
  const stored = normalUmaAddress(address);
  if (stored !== undefined) return stored;
  const rule = addressForm.test(address)
    ? 'end in a domain name such as pay.example.com, not in a bare host name, an IP address or a port'
    : 'have the form $name@domain, with only a-z, 0-9, -, _, . and + in the name';
  throw new Refusal('INVALID_UMA_ADDRESS', `a UMA address must ${rule}`, { path, value: address });
}

const addressPath: FieldPath = ['umaAddress'];

/**
 * Validates a customer's new address. It must be in the platform's own domain, so that customers cannot receive
 * payments meant for others. The current address is always accepted.
 * @throws Refusal INVALID_UMA_ADDRESS
 */
export function checkCustomerAddress(umaDomain: string, address: string, current?: string): string {
  const umaAddress = checkUmaAddress(address, addressPath);
  if (umaAddress.endsWith(`@${umaDomain}`) || umaAddress === current) return umaAddress;
  const message = `addresses of this platform's customers must be in its domain, ${umaDomain}`;
  throw new Refusal('INVALID_UMA_ADDRESS', message, { path: addressPath, value: address });
}

import { type FieldPath, Refusal } from '../../core/refusal.ts';
import { normalDomain } from './uma-domains.ts';

/**
 * Validates a UMA address, and returns its stored form: `$local@domain` in lower case, with the domain in ASCII,
 * without surrounding spaces. The handle, including its `$`, has at most 64 characters.
 * @throws Refusal INVALID_UMA_ADDRESS
 */
export function checkUmaAddress(address: string, path: FieldPath): string {
  const [, name = '', written = ''] = /^\$([a-z0-9._+-]{1,63})@([^@]+)$/i.exec(address.trim()) ?? [];
  if (!name) {
    const message = 'a UMA address must have the form $name@domain, with a-z 0-9 - _ . + in the name';
    throw new Refusal('INVALID_UMA_ADDRESS', message, { path, value: address });
  }
  const domain = normalDomain(written);
  if (domain === undefined) {
    const message =
      'a UMA address must end in a domain name such as pay.example.com, not in a bare host name, an IP address or a port';
    throw new Refusal('INVALID_UMA_ADDRESS', message, { path, value: address });
  }
  return `$${name.toLowerCase()}@${domain}`;
}

const addressPath: FieldPath = ['umaAddress'];

/**
 * Validates the new UMA address of a customer, and returns its stored form. Its domain must be the platform's own: with
 * an address in another domain, the customer would receive payments meant for others (decision 61).
 * @param current the customer's current address, which is always accepted
 * @throws Refusal INVALID_UMA_ADDRESS
 */
export function checkCustomerAddress(umaDomain: string, address: string, current?: string): string {
  const umaAddress = checkUmaAddress(address, addressPath);
  if (umaAddress.endsWith(`@${umaDomain}`) || umaAddress === current) return umaAddress;
  const message = `addresses of this platform's customers must be in its domain, ${umaDomain}`;
  throw new Refusal('INVALID_UMA_ADDRESS', message, { path: addressPath, value: address });
}

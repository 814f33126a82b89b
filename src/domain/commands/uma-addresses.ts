import { type FieldPath, Refusal } from '../../core/refusal.ts';
import { normalDomain } from './uma-domains.ts';

/**
 * Checks a UMA address and returns its stored form: `$local@domain`, in lower case, the domain in ASCII. The handle has at
 * most 64 characters with its `$`.
 * @throws Refusal INVALID_UMA_ADDRESS
 */
export function checkUmaAddress(address: string, path: FieldPath): string {
  const [, name = '', written = ''] = /^\$([a-z0-9._+-]{1,63})@([^@]+)$/i.exec(address) ?? [];
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

/** The path of the address of a customer in the inputs of createCustomer and updateCustomer. */
const addressPath: FieldPath = ['umaAddress'];

/**
 * Checks the UMA address that a customer gets and returns its stored form. Its domain is the platform's own: with an address
 * anywhere else the customer would get payments meant for others (decision 61).
 * @param current the address that the customer has, and may get again
 * @throws Refusal INVALID_UMA_ADDRESS
 */
export function checkCustomerAddress(umaDomain: string, address: string, current?: string): string {
  const umaAddress = checkUmaAddress(address, addressPath);
  if (umaAddress.endsWith(`@${umaDomain}`) || umaAddress === current) return umaAddress;
  const message = `addresses of this platform's customers must be in its domain, ${umaDomain}`;
  throw new Refusal('INVALID_UMA_ADDRESS', message, { path: addressPath, value: address });
}

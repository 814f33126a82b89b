import type { FieldPath } from '../core/path.ts';
import { Refusal } from '../core/refusal.ts';
import type { Tenant } from '../core/tenant.ts';
import type { Payments } from './command.ts';

/** A UMA address in its stored form: `$local@domain`, lower case, the handle at most 64 characters with its `$`. */
export function checkUmaAddress(address: string, path: FieldPath): string {
  const lower = address.toLowerCase();
  if (!/^\$[a-z0-9._+-]{1,63}@(?=.{1,253}$)[a-z0-9-]+(\.[a-z0-9-]+)*(:\d{1,5})?$/.test(lower)) {
    throw new Refusal(
      'INVALID_UMA_ADDRESS',
      'a UMA address has the form $name@domain, with a-z 0-9 - _ . + in the name',
      { path, value: address },
    );
  }
  return lower;
}

/** Where a customer's own address is, in the input that makes a customer and the one that changes it. */
const addressPath: FieldPath = ['umaAddress'];

/**
 * A UMA address that a customer of this platform may take: not one on the domain of another platform of this
 * installation, whose customers it would pass itself off as.
 * @throws Refusal INVALID_UMA_ADDRESS
 */
export async function checkCustomerAddress(payments: Payments, tenant: Tenant, address: string): Promise<string> {
  const umaAddress = checkUmaAddress(address, addressPath);
  const domain = umaAddress.slice(umaAddress.indexOf('@') + 1);
  const owner = await payments.database.prisma.platform.findUnique({
    where: { umaDomain: domain },
    select: { id: true },
  });
  if (owner && owner.id !== tenant.platformId) {
    throw new Refusal('INVALID_UMA_ADDRESS', `${domain} is the UMA domain of another platform`, {
      path: addressPath,
      value: address,
    });
  }
  return umaAddress;
}

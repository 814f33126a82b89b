import type { FieldPath } from '../core/path.ts';
import { Refusal } from '../core/refusal.ts';
import type { Tenant } from '../core/tenant.ts';
import { statement } from '../database/statement.ts';
import type { Payments } from './command.ts';

const domainStatement = statement<{ platformId: string | null }>(
  'platform_of_uma_domain',
  'select find_uma_domain($1) as platform_id',
);

/**
 * Checks a UMA address and returns its stored form: `$local@domain`, in lower case. The handle has at most 64
 * characters with its `$`.
 * @throws Refusal INVALID_UMA_ADDRESS
 */
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

/** The path of the address of a customer in the inputs of createCustomer and updateCustomer. */
const addressPath: FieldPath = ['umaAddress'];

/**
 * Checks the UMA address of a customer and returns its stored form. The domain of another platform of this installation
 * is refused: the customer could pretend to be one of its customers.
 * @throws Refusal INVALID_UMA_ADDRESS
 */
export async function checkCustomerAddress(payments: Payments, tenant: Tenant, address: string): Promise<string> {
  const umaAddress = checkUmaAddress(address, addressPath);
  const domain = umaAddress.slice(umaAddress.indexOf('@') + 1);
  const [owner] = await domainStatement(payments.database.pool, domain);
  if (owner?.platformId && owner.platformId !== tenant.platformId) {
    throw new Refusal('INVALID_UMA_ADDRESS', `${domain} is the UMA domain of another platform`, {
      path: addressPath,
      value: address,
    });
  }
  return umaAddress;
}

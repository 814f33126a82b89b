import type { FieldPath } from '../core/path.ts';
import { Refusal } from '../core/refusal.ts';
import type { Tenant } from '../core/tenant.ts';
import { statement } from '../database/statement.ts';
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

const foreignDomainStatement = statement<{ found: boolean }>(
  'foreign_uma_domain',
  'select exists (select from platform where lower(uma_domain) = $1 and id <> $2) as found',
);

/**
 * A UMA address that a customer of this platform may take: not one on the domain of another platform of this
 * installation, whose customers it would pass itself off as.
 * @throws Refusal INVALID_UMA_ADDRESS
 */
export async function checkCustomerAddress(payments: Payments, tenant: Tenant, address: string): Promise<string> {
  const umaAddress = checkUmaAddress(address, addressPath);
  const domain = umaAddress.slice(umaAddress.indexOf('@') + 1);
  const [row] = await foreignDomainStatement(payments.database.pool, domain, tenant.platformId);
  if (row?.found) {
    throw new Refusal('INVALID_UMA_ADDRESS', `${domain} is the UMA domain of another platform`, {
      path: addressPath,
      value: address,
    });
  }
  return umaAddress;
}

import type { Address } from '../payments/people.ts';
import { withoutNulls } from './numbers.ts';

/** A postal address (specification 2.8). */
export interface AddressRecord {
  readonly line1: string;
  readonly line2?: string;
  readonly city?: string;
  readonly state?: string;
  readonly postalCode: string;
  readonly country: string;
}

/** Converts an address to its record, without null fields. */
export function addressRecord(address: Address): AddressRecord {
  return withoutNulls(address);
}

import type { CustomerType } from '../database/generated/client/client.ts';

/** A customer whose identity is to be checked. */
export interface IdentityRequest {
  /** The uuid of the customer: the idempotency key of its check together with the name. */
  readonly customerId: string;
  readonly customerType: CustomerType;
  /** The full name, or the legal name of a business; null where none is known. */
  readonly name: string | null;
}

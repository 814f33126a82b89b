import type { CustomerType, KycStatus } from '../infra/database/generated/client/client.ts';

export interface IdentityRequest {
  /** The uuid of the customer: the idempotency key of its check together with the name. */
  readonly customerId: string;
  readonly customerType: CustomerType;
  /** The full name, or the legal name of a business; null where none is known. */
  readonly name: string | null;
  /** How often the rail was asked about the customer before. */
  readonly attempts: number;
}

/** A rail's answer about the identity of a customer: its status alone where that is final. */
export type IdentityAnswer = KycStatus | IdentityCheck;

/** An answer that may change. */
export interface IdentityCheck {
  readonly status: KycStatus;
  /** Check again after so many milliseconds; undefined where the answer is final. */
  readonly checkInMs?: number | undefined;
}

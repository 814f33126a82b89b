import type { CustomerType, ExternalAccountType, KycStatus } from '../infra/database/generated/client/client.ts';

/** An external account or wallet, as the rail sees it. */
export interface RailAccount {
  readonly type: ExternalAccountType;
  /**
   * The number of the account at its bank or network, in canonical form: account number, IBAN, address, … Two banks may
   * have the same number: `details` name the bank.
   */
  readonly identifier: string;
  /** The details of the account by their names in the interface, such as `routingNumber`. */
  readonly details: Readonly<Record<string, string>>;
}

/**
 * The steps of a payment that a rail performs. PAY_REQUEST asks whether the sender of an incoming UMA payment, who has
 * looked its receiver up, has sent its pay request (`settled` then). PULL is the collection that comes before a payment
 * from an external account. SETTLEMENT is the delivery or collection that ends a payment.
 */
export type RailStep = 'PAY_REQUEST' | 'PULL' | 'SETTLEMENT';

export interface IdentityRequest {
  /** The uuid of the customer: the idempotency key of its check together with the name. */
  readonly customerId: string;
  readonly customerType: CustomerType;
  /** The full name, or the legal name of a business; null if none is known. */
  readonly name: string | null;
  /** How often the rail was asked about the customer before. */
  readonly attempts: number;
}

/** A rail's answer about the identity of a customer: its status alone where that is final. */
export type IdentityAnswer = KycStatus | IdentityCheck;

/** An answer that may change. */
export interface IdentityCheck {
  readonly status: KycStatus;
  /** Check again after so many milliseconds; undefined if the answer is final. */
  readonly checkInMs?: number | undefined;
}

import type { CustomerType, ExternalAccountType, KycStatus } from '../infra/database/generated/client/client.ts';

/** An external account or wallet, as the rail sees it. */
export interface RailAccount {
  readonly type: ExternalAccountType;
  /**
   * The account's number at its bank or network, in canonical form, such as an account number, IBAN or address. Two
   * banks may use the same number, so `details` identifies the bank.
   */
  readonly identifier: string;
  /** The details of the account by their names in the API, such as `routingNumber`. */
  readonly details: Readonly<Record<string, string>>;
}

/**
 * The steps of a payment that a rail performs. PAY_REQUEST asks the rail whether the sender of an incoming UMA
 * payment, who has looked up the receiver, has sent the pay request (`settled` if so). PULL is the collection that
 * precedes a payment from an external account. SETTLEMENT is the delivery or collection that ends a payment.
 */
export type RailStep = 'PAY_REQUEST' | 'PULL' | 'SETTLEMENT';

export interface IdentityRequest {
  /** The uuid of the customer, which together with the name is the idempotency key of the check. */
  readonly customerId: string;
  readonly customerType: CustomerType;
  /** The full name, or the legal name of a business; null if none is known. */
  readonly name: string | null;
  /** The number of earlier queries to the rail about the customer. */
  readonly attempts: number;
}

/** A rail's answer about a customer's identity: a bare status is final. */
export type IdentityAnswer = KycStatus | IdentityCheck;

/** An answer that may change. */
export interface IdentityCheck {
  readonly status: KycStatus;
  /** When to check again, in milliseconds from now; undefined if the answer is final. */
  readonly checkInMs?: number | undefined;
}

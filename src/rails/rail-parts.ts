import type { Currency } from '../core/currencies.ts';
import type {
  BeneficiaryVerificationStatus,
  CustomerType,
  ExternalAccountType,
  FailureReason,
  KycStatus,
} from '../infra/database/generated/client/client.ts';

/** An external account or wallet, as the rail sees it. */
export interface RailAccount {
  readonly type: ExternalAccountType;
  /** The account's number at its bank or network, such as an IBAN, in canonical form. `details` identifies the bank. */
  readonly identifier: string;
  /** The account's details, keyed by their names in the API, such as `routingNumber`. */
  readonly details: Readonly<Record<string, string>>;
}

/**
 * The steps of a payment that a rail performs. PAY_REQUEST asks the rail whether the sender of an incoming UMA payment
 * has sent a pay request after looking up the receiver (`settled` if so). PULL is the collection that precedes a
 * payment from an external account. SETTLEMENT is the delivery or collection that ends a payment.
 */
export type RailStep = 'PAY_REQUEST' | 'PULL' | 'SETTLEMENT';

export interface IdentityRequest {
  /** The customer's UUID. Together with the name, it forms the check's idempotency key. */
  readonly customerId: string;
  readonly customerType: CustomerType;
  /** The full name, or the legal name of a business; null if none is known. */
  readonly name: string | null;
  /** How many times the rail has already been asked about the customer. */
  readonly attempts: number;
}

/** A rail's answer about a customer's identity. A bare status is final. */
export type IdentityAnswer = KycStatus | IdentityCheck;

/** An answer that may change. */
export interface IdentityCheck {
  readonly status: KycStatus;
  /** When to check again, in milliseconds from now; undefined if the answer is final. */
  readonly checkInMs?: number | undefined;
}

/** A request for the deposits since a given time; `cursor` is the previous page's `nextCursor`. */
export interface DepositsRequest {
  readonly from: Date;
  readonly cursor: string | undefined;
}

/** A page of deposits. The last page has no `nextCursor`. */
export interface DepositsPage {
  readonly deposits: readonly RailDeposit[];
  /** When the last examined movement began, even if it is not a deposit. The next query can start at that time. */
  readonly lookedUpTo?: Date | undefined;
  readonly nextCursor?: string | undefined;
}

/** Money that has arrived, or is arriving, at the provider without an order from the gateway. */
export interface RailDeposit {
  /** The provider's own reference, which never changes for a deposit. */
  readonly reference: string;
  /** When it began, by the provider's clock. */
  readonly at: Date;
  /** The gateway keeps asking about a deposit until it has settled or failed, and credits it once it has settled. */
  readonly state: 'UNDER_WAY' | 'SETTLED' | 'FAILED';
  readonly amount: bigint;
  readonly currency: string;
  /** The customer's UUID; undefined if the provider does not report it. */
  readonly customerId: string | undefined;
  /** The account at the provider that holds the money. */
  readonly heldAt: string;
  /** The payer's UMA address and message, if the provider knows them. */
  readonly payer?: string | undefined;
  readonly memo?: string | undefined;
}

export interface DepositToTake extends Pick<RailDeposit, 'reference' | 'amount' | 'currency' | 'heldAt'> {
  /** The deposit's UUID in the gateway, derived from its reference. */
  readonly id: string;
}

/** The outcome of `takeDeposit`. If the provider refuses, `explanation` tells the operator why. */
export type TakenDeposit = { readonly kind: 'taken' } | { readonly kind: 'refused'; readonly explanation: string };

/** A request for a provider's movements in a period; `cursor` is the previous page's `nextCursor`. */
export interface MovementsRequest extends DepositsRequest {
  readonly to: Date;
}

/** A page of a provider's movements. The last page has no `nextCursor`. */
export interface MovementsPage {
  readonly movements: readonly RailMovement[];
  readonly nextCursor?: string | undefined;
}

/** A payment at a provider. */
export interface RailMovement {
  /** The id of the gateway's order for the movement; undefined if there is none. */
  readonly orderId: string | undefined;
  /** The id of the gateway's order that the movement refunds; undefined if it refunds none. */
  readonly returnOf?: string | undefined;
  /** The provider's own reference. */
  readonly reference: string;
  readonly amount: bigint;
  readonly currency: string;
  /** Whether the movement credited or debited the platform's account at the provider. */
  readonly direction?: 'IN' | 'OUT' | undefined;
  /** When it began, by the provider's clock. */
  readonly at?: Date | undefined;
  readonly state: 'UNDER_WAY' | 'SETTLED' | 'FAILED' | 'RETURNED';
}

/** A webhook as it arrived, unverified. */
export interface RailWebhook {
  /** The header fields, keyed by their lowercase names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
}

/** A webhook that has been verified as coming from the provider. */
export interface ReceivedWebhook {
  /** The provider's id for the webhook, the same for every delivery attempt, so that it is processed only once. */
  readonly id: string;
  /** The response status: 200 by default, or 202 if the webhook requests a decision that is made later. */
  readonly status?: 200 | 202 | undefined;
}

/** The content of a webhook. It is only a hint: the gateway then asks the rail for the actual state. */
export type RailNews =
  | OrderNews
  /** A deposit has arrived or is in transit. The gateway lists deposits immediately. */
  | { readonly kind: 'deposit' }
  /** The identity check of the customer with this UUID has a new result. The gateway checks again immediately. */
  | { readonly kind: 'identity'; readonly customerId: string };

/** One of the gateway's orders has changed. The gateway immediately asks the rail about it. */
export interface OrderNews {
  readonly kind: 'order';
  readonly orderId: string;
  /** Whether the order's money may have come back. If not, a settled order is queried no earlier than planned. */
  readonly mayHaveReturned: boolean;
}

/** A conversion to lock. */
export interface LockRequest {
  /** The quote's UUID, which is the lock's idempotency key. */
  readonly id: string;
  /** The id of the order that will use the lock. */
  readonly orderId: string;
  readonly sending: Currency;
  readonly receiving: Currency;
  readonly lockedSide: 'SENDING' | 'RECEIVING';
  /** The amount on the locked side, in its currency's smallest unit; for SENDING, the total that the rail will take. */
  readonly amount: bigint;
  /** The external account to pay; undefined if the converted money stays in an internal account. */
  readonly account: RailAccount | undefined;
  /** Set for a payment whose receiver was found by `lookUp`. Then `sending` and `receiving` may be the same. */
  readonly uma?: UmaPayment | undefined;
}

/** A payment to a UMA address that the rail has looked up. */
export interface UmaPayment {
  readonly address: string;
  readonly sender: Omit<IdentityRequest, 'attempts'> & {
    /** The facts about the sender that the receiver requires, keyed by field name. */
    readonly information: Readonly<Record<string, string>>;
  };
}

/** A rate that the provider has promised. Amounts are in the smallest unit of their currency. */
export interface RateLock {
  /** The provider's own reference for the lock. */
  readonly reference: string;
  /** The amount that the rail takes, in the sending currency, including its fees. */
  readonly sent: bigint;
  /** The amount that arrives, in the receiving currency. */
  readonly received: bigint;
  /** The rate without fees: major units sent per major unit received, with at most 15 significant digits. */
  readonly rate: string;
  /** The fees included in `sent`, in the sending currency. */
  readonly fees: bigint;
}

/** The answer to a lock request. */
export type LockAnswer =
  | {
      readonly kind: 'locked';
      readonly lock: RateLock;
      /** How long the lock is valid, in milliseconds from the call. An order sent within that time gets the rate. */
      readonly validMs: number;
    }
  /** The provider refuses the amount, the account, the currency pair, the UMA receiver, or the sender. */
  | {
      readonly kind: 'refused';
      readonly because: 'AMOUNT' | 'ACCOUNT' | 'PAIR' | 'RECEIVER' | 'SENDER';
      readonly explanation: string;
    };

/** The domain of the receivers and senders that a sandbox simulates. No platform uses it. */
export const simulatedDomain = 'sandbox.uma.money';

/** A simulation of the outside world. If a rail has none, operations that need one are FORBIDDEN. */
export interface Simulation {
  /** Returns what is wrong with a caller's scenario (the field and the reason), or undefined if it is usable. */
  scenarioFault(scenario: Scenario): ScenarioFault | undefined;

  /** Returns the simulated deposit for a real-time funded quote of `amount`, following the scenario if it has one. */
  deposit(scenario: unknown, amount: bigint): Deposit;

  /** Returns the scenario's decision on an incoming payment; undefined if the platform decides. */
  approval(scenario: unknown): 'APPROVE' | 'REJECT' | undefined;

  /** Returns the information that the sender of a UMA payment gives about itself, keyed by field name. */
  senderInformation(umaAddress: string): Readonly<Record<string, string>>;
}

/** How a simulated payment should proceed. Stored as JSON with the order. Only rails with a simulation receive it. */
export type Scenario = {
  /** The step to which the scenario applies: SETTLEMENT if omitted. */
  readonly step?: RailStep | undefined;
  /** How long the step takes, in milliseconds. The default is the sandbox's pace. */
  readonly delayMs?: number | undefined;
  /** The decision on an incoming payment, made in place of the receiving platform. */
  readonly approval?: 'APPROVE' | 'REJECT' | undefined;
  /** The payment fails for this reason. */
  readonly failureReason?: FailureReason | undefined;
  /** The receiving side refuses the payment. */
  readonly reject?: boolean | undefined;
  /** If the payment fails, its refund fails too. */
  readonly refundFails?: boolean | undefined;
  /** The payment settles, and the bank returns it this many milliseconds later. */
  readonly returnAfterMs?: number | undefined;
  /** How the deposit for a real-time funded quote goes wrong: it is half the amount, arrives twice, or is late. */
  readonly deposit?: 'SHORT' | 'TWICE' | 'LATE' | undefined;
};

export interface ScenarioFault {
  readonly field: keyof Scenario;
  /** The reason, without the field name. */
  readonly reason: string;
}

/** A simulated deposit. */
export interface Deposit {
  /** The amount in the currency's smallest unit. */
  readonly amount: bigint;
  /** Whether a second deposit of the same amount arrives with it. */
  readonly twice: boolean;
  /** Whether to treat it as arriving after the quote's expiry. */
  readonly late: boolean;
}

export interface AccountVerification {
  /** Null if there is no owner to compare. */
  readonly verification: BeneficiaryVerificationStatus | null;
  /** The owner's name as reported by the bank; null if it reports none. */
  readonly verifiedName: string | null;
}

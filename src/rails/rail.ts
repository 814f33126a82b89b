import type { Currency } from '../core/currencies.ts';
import type {
  BeneficiaryVerificationStatus,
  ExternalAccountStatus,
  ExternalAccountType,
  FailureReason,
  RailOrderKind,
} from '../infra/database/generated/client/client.ts';
import type { RailDeposits } from './rail-deposits.ts';
import type { RailBooks } from './rail-movements.ts';
import type { IdentityAnswer, IdentityRequest, RailAccount, RailStep } from './rail-parts.ts';
import type { RailWebhooks } from './rail-webhooks.ts';
import type { RailLocks, RateLock } from './rate-lock.ts';
import type { Simulation } from './simulation.ts';

/**
 * The port through which money arrives and leaves. The domain gets rates, payouts and collections from a rail, and does
 * not know which rail it is. Every method is optional: operations without it are refused. A real provider is connected
 * by implementing this interface (src/rails/README.md).
 */
export interface Rail extends RailBooks, RailDeposits, RailLocks, RailWebhooks {
  readonly name: string;

  /**
   * Returns the current terms of converting one currency into another, or undefined for a pair that the rail does not
   * serve. The rate returned here is the rate used.
   */
  rate?(sending: Currency, receiving: Currency): Promise<RateTerms | undefined>;

  /**
   * Returns all payment instructions under this reference; none if the rail does not accept such deposits. Their
   * addresses and account numbers belong to this quote or account alone.
   */
  paymentInstructions?(request: FundingRequest): Promise<PaymentInstruction[]>;

  /** Returns how the receiver at a UMA address can be paid, or undefined when there is none. */
  lookUp?(umaAddress: string): Promise<UmaReceiver | undefined>;

  /**
   * Pays out, or returns the current state of the payout. Called again after `checkInMs`, and again after a crash at
   * any point: an implementation passes `order.id` to its provider as the idempotency key. An exception means that the
   * outcome is unknown, and the order is queried again. An order that settled with a `watchMs` is asked about once more
   * after it, with `settled` set: either it has come back by then (`returned`), or it is final (`settled`).
   */
  payOut?(order: RailOrder): Promise<RailOutcome>;

  /**
   * Collects money from an account or a UMA address, or returns the current state of the collection; called as `payOut`
   * is. A rail with this method has `giveBack`, too.
   */
  collect?(order: RailOrder): Promise<RailOutcome>;

  /**
   * Returns the state of an order, and sends nothing: an operator asks before ending it by hand. Undefined if the
   * provider does not have it. Without this method `payOut` or `collect` is asked, which may send it.
   */
  findOrder?(order: RailOrder): Promise<RailOutcome | undefined>;

  /**
   * Refunds a collection to its source because no account here can take it: the balance would exceed its limit. Called
   * at least once, with the order of the collection. The payment is FAILED once this returns; after an exception it is
   * called again. After the first call `collect` must answer `failed` for this order, so that the refunded money is not
   * credited when there is capacity again.
   */
  giveBack?(order: RailOrder): Promise<void>;

  /**
   * Returns the amount of a collection that names none, in smallest units. Without this method a transfer-in must name
   * its amount.
   */
  collectionAmount?(currency: Currency): bigint;

  /**
   * Estimates how long an order will take from now, in milliseconds, to tell the customer. A rail that pays out or
   * collects has this method.
   */
  expectedMs?(order: RailRequest): number;

  /**
   * Returns the delay before the rail gets a new order, in milliseconds. Without this method there is none, since a
   * provider must get the order before it can begin. Payments to UMA addresses have no delay.
   */
  firstAskMs?(order: RailRequest): number;

  /**
   * Checks an external account before it is registered, and again after each `checkInMs`: whether it exists, whether it
   * can be paid now, and whether its owner is who the platform says. `ownerName` is undefined for a wallet, which has
   * no owner to verify. `ageMs` is the time since the account was registered, by the clock of the database: 0 before it
   * is. An exception means that the result is unknown: a new account is refused then, and a registered one is checked
   * again. Without this method every new account is PENDING.
   */
  checkAccount?(account: AccountToCheck, ownerName: string | undefined, ageMs: number): Promise<AccountCheck>;

  /**
   * Checks the identity of a new customer, and of one whose name has changed; again after each `checkInMs`, and when a
   * webhook reports a change. An exception means that the result is unknown: a command is refused, and a later check is
   * repeated. Without this method every new customer is PENDING_REVIEW.
   */
  checkIdentity?(customer: IdentityRequest): Promise<IdentityAnswer>;

  /** The simulation of the outside world for developers; left out by a rail that moves real money. */
  readonly simulation?: Simulation;

  /**
   * Returns the rail for one platform, such as with the credentials of that platform. Without this method all platforms
   * share one.
   */
  forPlatform?(platformId: string): Rail;

  /**
   * Tests the platform's connection to its provider, and returns a report for the operator. It moves nothing.
   * @throws Error that says what is wrong
   */
  checkConnection?(): Promise<string>;

  /** Releases the rail's resources. Nothing is called afterwards. */
  close?(): Promise<void>;
}

/** The facts of an order before it is written. */
export type RailRequest = Pick<RailOrder, 'step' | 'account' | 'umaAddress' | 'scenario'>;

/** A rail's answer about an external account. */
export type AccountCheck =
  | {
      readonly accepted: true;
      /** A new account cannot be INACTIVE: it is not accepted then. */
      readonly status: ExternalAccountStatus;
      /** Null if there is no owner to compare. */
      readonly verification: BeneficiaryVerificationStatus | null;
      /** The name of the owner at the bank, where the rail knows it. */
      readonly verifiedName: string | null;
      /** The name that was compared; left out where it is the owner's name as the platform gave it. */
      readonly comparedName?: string | undefined;
      /** The reason, for people; undefined if there is nothing to explain. */
      readonly explanation?: string | undefined;
      /** Check again after so many milliseconds; undefined when this answer is final. */
      readonly checkInMs?: number | undefined;
    }
  /**
   * The account cannot be used. `explanation` is for the refusal, or the reason why a registered account becomes
   * INACTIVE.
   */
  | { readonly accepted: false; readonly explanation: string };

/** The terms of a conversion. */
export interface RateTerms {
  /** Sending units per receiving unit, major units, fee-exclusive, at most 15 significant digits. */
  readonly rate: string;
  /** Fixed fee of the service, in the sending currency's smallest unit. */
  readonly serviceFixedFee: bigint;
  /** Variable fee of the service: a fraction from 0 up to, not including, 1. */
  readonly serviceVariableFeeRate: string;
  /** Fixed fee of the receiving side, in the receiving currency's smallest unit. */
  readonly counterpartyFixedFee: bigint;
  /** The smallest and the largest amount to send, in the smallest unit of the sending currency. */
  readonly minSendingAmount: bigint;
  readonly maxSendingAmount: bigint;
  /** Price of one bitcoin in the sending currency: the bridge of `rateDetails`' multipliers. */
  readonly bridge: string;
}

/** An external account or wallet to check, with all its known facts. */
export interface AccountToCheck extends RailAccount {
  /** The uuid of the account: the idempotency key of its registration at a provider. */
  readonly id: string;
  readonly currency: string;
  /** The owner of a bank account, as the interface has it; null for a wallet. */
  readonly beneficiary: Readonly<Record<string, unknown>> | null;
  /**
   * The name of the owner in the characters that the rails of this type of account carry (SEPA, ACH), at most as long
   * as they carry it; the name as it is for other types, and undefined for a wallet. `carriedText` does the same for
   * others.
   */
  readonly carriedName: string | undefined;
}

/** An order to a rail. */
export interface RailOrder {
  readonly id: string;
  readonly step: RailStep;
  /** PAYOUT pays the account; COLLECTION pulls money from it. */
  readonly kind: RailOrderKind;
  readonly amount: bigint;
  readonly currency: string;
  /** The external account; undefined if the money stays here, or the other party has a UMA address. */
  readonly account: RailAccount | undefined;
  /** The UMA address of the other party: of the receiver of a payout, or of the sender of a collection. */
  readonly umaAddress: string | undefined;
  /** The rate that the rail has locked for it. */
  readonly lock?: RateLock | undefined;
  /** Whether the rail has answered `settled` before. */
  readonly settled: boolean;
  /** The time since the order was created, in milliseconds, by the clock of the database. */
  readonly ageMs: number;
  /** How often the rail got the order before. */
  readonly attempts: number;
  /** The requested course of events (`Scenario`), for a rail that simulates; any other ignores it. */
  readonly scenario: unknown;
}

/** The state of an order, as the rail reports it. */
export type RailOutcome =
  | { readonly kind: 'pending'; readonly checkInMs: number }
  | {
      readonly kind: 'settled';
      /** It may still come back; ask again after so many milliseconds. */
      readonly watchMs?: number | undefined;
      /**
       * The amount that arrived by the provider's report, in smallest units. If it differs from that of the order, an
       * operator gets a case, and the payment stays under way until it is resolved.
       */
      readonly amount?: bigint | undefined;
      /**
       * What a payout took, with a lock in the sending currency. Without a lock it may be left out: the payout took
       * what has arrived.
       */
      readonly sent?: bigint | undefined;
      /**
       * What the receiving institution has reported about the receiver of a payment to a UMA address, by field name.
       */
      readonly information?: Readonly<Record<string, string>> | undefined;
    }
  /** It did not happen and will not. `explanation` is for the timeline. */
  | {
      readonly kind: 'failed';
      readonly explanation: string;
      /**
       * The specification's reason. When left out, QUOTE_EXECUTION_FAILED for a payout and OFFRAMP_FAILED for a
       * collection.
       */
      readonly failureReason?: FailureReason | undefined;
      /** Whether the money has not come back either: then it waits in suspense. */
      readonly moneyStuck?: boolean | undefined;
    }
  /** The receiving side refused it. */
  | { readonly kind: 'rejected'; readonly explanation: string }
  /** The order had settled, and its money was returned. */
  | { readonly kind: 'returned'; readonly explanation: string }
  /**
   * The provider contradicts an earlier report, such as failed after settled. Nothing changes, and an operator
   * investigates.
   */
  | { readonly kind: 'contradiction'; readonly explanation: string };

/** The receiver at a UMA address, as its institution describes it. */
export interface UmaReceiver {
  readonly vaspName: string;
  readonly currencies: readonly ReceiverLimits[];
  /** The fields that the sender must or may give about itself. */
  readonly requiredFields: readonly RequiredField[];
  /** What the institution says about the receiver, by field name. */
  readonly information: Readonly<Record<string, string>>;
}

/** The limits of what can be received in one currency, in its smallest unit. */
export interface ReceiverLimits {
  readonly code: string;
  readonly minAmount: bigint;
  readonly maxAmount: bigint;
}

/** A field that one side requests about the other (decision 48). */
export interface RequiredField {
  readonly name: string;
  readonly mandatory: boolean;
}

/** A request for payment instructions. */
export interface FundingRequest {
  /** The uuid of the quote or account that the money is for. Its instructions belong to it alone. */
  readonly owner: string;
  /** The owner of the account; null for the platform's own accounts, and undefined for a quote. */
  readonly customerId?: string | null | undefined;
  /** The reference that the payer must write on the payment. */
  readonly reference: string;
  readonly currency: Currency;
  /** The amount in smallest units; undefined if the payer chooses it. */
  readonly amount: bigint | undefined;
  /** The time when the quote or account was created, by the clock of the database. */
  readonly createdAt: Date;
  /** The time until which it can be paid; undefined for an account, which does not expire. */
  readonly expiresAt: Date | undefined;
}

/**
 * A payment instruction, by the type of account or wallet to pay to (decision 49). If there is a `reference`, the
 * payment must carry it; otherwise the address belongs to this payment alone.
 */
export type PaymentInstruction =
  | BankInstruction<'US_ACCOUNT', 'accountNumber' | 'routingNumber' | 'accountCategory' | 'bankName'>
  | BankInstruction<'CLABE', 'clabeNumber'>
  | BankInstruction<'IBAN', 'iban' | 'swiftBic'>
  | BankInstruction<'NGN_ACCOUNT' | 'PHP_ACCOUNT', 'accountNumber' | 'bankName'>
  | BankInstruction<'CAD_ACCOUNT', 'bankCode' | 'branchCode' | 'accountNumber' | 'bankName'>
  | BankInstruction<'GBP_ACCOUNT', 'sortCode' | 'accountNumber' | 'bankName'>
  | BankInstruction<'SGD_ACCOUNT', 'accountNumber' | 'swiftCode' | 'bankName'>
  | Instruction<'PIX', 'pixKey' | 'pixKeyType' | 'taxId'>
  | Instruction<'UPI', 'vpa'>
  | Instruction<'LIGHTNING', 'invoice'>
  | Instruction<'LAYER2_WALLET', 'address' | 'invoice' | 'assetType'>
  | Instruction<'SOLANA_WALLET' | 'BASE_WALLET' | 'POLYGON_WALLET' | 'TRON_WALLET', 'address' | 'assetType'>;

type Instruction<Type extends ExternalAccountType, Field extends string> = Type extends ExternalAccountType
  ? { readonly accountType: Type } & { readonly [Name in Field]: string }
  : never;

type BankInstruction<Type extends ExternalAccountType, Field extends string> = Instruction<Type, Field | 'reference'>;

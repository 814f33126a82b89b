import type { Currency } from '../core/currencies.ts';
import type {
  ExternalAccountStatus,
  ExternalAccountType,
  FailureReason,
  RailOrderKind,
} from '../infra/database/generated/client/client.ts';
import type * as parts from './rail-parts.ts';

/**
 * The port through which money arrives and leaves. The domain does not depend on any particular rail. Every method is
 * optional. Operations that need a missing method are refused. To connect a provider, see src/rails/README.md.
 */
export interface Rail {
  readonly name: string;

  /** Returns the current terms of a conversion, which the gateway then uses; undefined for an unsupported pair. */
  rate?(sending: Currency, receiving: Currency): Promise<RateTerms | undefined>;

  /**
   * Locks a rate at the provider for one payment, before a quote promises that rate. Moves no money. The payment's
   * order then contains the lock (`RailOrder.lock`). `payOut` takes the lock's `sent` and delivers its `received`, and
   * reports both amounts when it returns `settled`. An unused lock expires by itself. An exception means that nothing
   * is locked, or that the lock will expire unused. Without this method, quotes use the rate from `rate`.
   */
  lockRate?(request: parts.LockRequest): Promise<parts.LockAnswer>;

  /**
   * Returns all payment instructions for a quote or account. Each of them is either exclusive to that quote or account
   * or contains a reference that identifies it.
   */
  paymentInstructions?(request: FundingRequest): Promise<PaymentInstruction[]>;

  /** Returns how the receiver at a UMA address can be paid, or undefined if there is none. */
  lookUp?(umaAddress: string): Promise<UmaReceiver | undefined>;

  /**
   * Pays out, or returns the current state of the payout. It is called again after `checkInMs`, and after a crash at
   * any point, so pass `order.id` to the provider as the idempotency key. An exception means that the outcome is
   * unknown, and the method is called again. If an order settled with a `watchMs`, the method is called once more after
   * that time, with `settled` set. It then returns `returned` if the money has come back, and `settled` otherwise.
   */
  payOut?(order: RailOrder): Promise<RailOutcome>;

  /** Collects money from an account or a UMA address. Called in the same way as `payOut`. Requires `giveBack`. */
  collect?(order: RailOrder): Promise<RailOutcome>;

  /**
   * Returns an order's state without sending it, for an operator who is about to end it manually; undefined if the
   * provider does not have the order. Without this method, `payOut` or `collect` is called, which may send the order.
   */
  findOrder?(order: RailOrder): Promise<RailOutcome | undefined>;

  /**
   * Refunds a collection to its source when the internal account cannot receive it without exceeding its limit.
   * Called at least once, with the collection's order. Once this returns, the payment is FAILED. After an exception, it
   * is called again. After the first call, `collect` must answer `failed` for this order, so that the refunded money is
   * not credited when the account has capacity again.
   */
  giveBack?(order: RailOrder): Promise<void>;

  /** Returns the amount to collect if none is given. If this method is omitted, every collection needs an amount. */
  collectionAmount?(currency: Currency): bigint;

  /** Estimates how long an order will take, in milliseconds from now. Required of rails that pay out or collect. */
  expectedMs?(order: RailRequest): number;

  /**
   * Returns how long the gateway waits before it passes a new order to the rail, in milliseconds. Without this method,
   * it does not wait. Orders for payments to UMA addresses are never delayed.
   */
  firstAskMs?(order: RailRequest): number;

  /**
   * Checks an external account before it is registered, and again after each `checkInMs`: whether it exists, whether it
   * can currently be paid, and whether its owner matches the platform's data. `ownerName` is undefined for a wallet,
   * which has no owner to verify. `ageMs` is the time since registration, by the database's clock: 0 before that. An
   * exception means that the result is unknown: a new account is then refused, and a registered one is checked again.
   * Without this method every new account is PENDING.
   */
  checkAccount?(account: AccountToCheck, ownerName: string | undefined, ageMs: number): Promise<AccountCheck>;

  /**
   * Checks the identity of a customer who is new or whose name has changed. The check is repeated after each
   * `checkInMs`, and when a webhook reports a change. An exception means that the result is unknown: a command that
   * needs it is refused, and a later check is retried. Without this method every new customer is PENDING_REVIEW.
   */
  checkIdentity?(customer: parts.IdentityRequest): Promise<parts.IdentityAnswer>;

  /**
   * Lists deposits that began at or after a given time by the provider's clock, including deposits still in progress:
   * oldest first, page by page. Excludes money collected by the gateway's own orders. Requires `takeDeposit`.
   */
  deposits?(request: parts.DepositsRequest): Promise<parts.DepositsPage>;

  /**
   * Makes a deposit available for the platform's payments, perhaps by moving it to the account that pays them. Called
   * at least once before the customer is credited, so pass `id` to the provider as the idempotency key. An exception
   * means that the outcome is unknown, and the method is called again.
   */
  takeDeposit?(deposit: parts.DepositToTake): Promise<parts.TakenDeposit>;

  /** Lists the platform's movements at the provider, page by page, for a period measured by the provider's clock. */
  movements?(request: parts.MovementsRequest): Promise<parts.MovementsPage>;

  /** Returns the platform's current balances at the provider, keyed by currency code, in smallest units. */
  balances?(): Promise<ReadonlyMap<string, bigint>>;

  /**
   * Checks that a webhook comes from the provider, and returns its id. If it does not, returns undefined, and the
   * gateway responds with 401. An exception means that the origin could not be checked: the gateway responds with 503,
   * and the provider retries. The method must have no side effects. The gateway stores an accepted webhook and responds
   * to it before it calls `readWebhook`, which is also required.
   */
  receiveWebhook?(webhook: parts.RailWebhook): Promise<parts.ReceivedWebhook | undefined>;

  /**
   * Returns what a stored webhook is about. Called at least once for each webhook, even if the gateway crashes, and in
   * any order. After an exception, the method is called again later.
   */
  readWebhook?(body: Uint8Array): Promise<readonly parts.RailNews[]>;

  /** A simulation of the outside world for developers. A rail that moves real money omits it. */
  readonly simulation?: parts.Simulation;

  /** Returns the rail for one platform, for example with its credentials. If omitted, all platforms share one rail. */
  forPlatform?(platformId: string): Rail;

  /** Tests the connection to the provider without moving money, and returns a report. @throws Error naming the fault */
  checkConnection?(): Promise<string>;

  /** Releases the rail's resources. No method is called afterwards. */
  close?(): Promise<void>;
}

/** The order data that is known before the order is stored. */
export type RailRequest = Pick<RailOrder, 'step' | 'account' | 'umaAddress' | 'scenario'>;

/** A rail's answer about an external account. */
export type AccountCheck =
  | (parts.AccountVerification & {
      readonly accepted: true;
      /** A new account cannot be INACTIVE. Return `accepted: false` instead. */
      readonly status: ExternalAccountStatus;
      /** The name that was compared; omitted if it is the owner's name as given by the platform. */
      readonly comparedName?: string | undefined;
      /** The human-readable reason; undefined if there is nothing to explain. */
      readonly explanation?: string | undefined;
      /** When to check again, in milliseconds from now; undefined if this answer is final. */
      readonly checkInMs?: number | undefined;
    })
  /** The account cannot be used. `explanation` is the refusal's message, or the reason for the status INACTIVE. */
  | { readonly accepted: false; readonly explanation: string };

/** The terms of a conversion. */
export interface RateTerms {
  /** The rate without fees: major units sent per major unit received, with at most 15 significant digits. */
  readonly rate: string;
  /** The service's fixed fee, in the sending currency's smallest unit. */
  readonly serviceFixedFee: bigint;
  /** The service's variable fee: a fraction of at least 0 and less than 1. */
  readonly serviceVariableFeeRate: string;
  /** The receiving side's fixed fee, in the receiving currency's smallest unit. */
  readonly counterpartyFixedFee: bigint;
  /** The minimum and maximum amounts to send, in the smallest unit of the sending currency. */
  readonly minSendingAmount: bigint;
  readonly maxSendingAmount: bigint;
  /** The price of one bitcoin in the sending currency, from which the multipliers in `rateDetails` are computed. */
  readonly bridge: string;
}

/** An external account or wallet to check, with everything that is known about it. */
export interface AccountToCheck extends parts.RailAccount {
  /** The account's UUID, which is the idempotency key for its registration at a provider. */
  readonly id: string;
  readonly currency: string;
  /** The owner of a bank account, in the API's format; null for a wallet. */
  readonly beneficiary: Readonly<Record<string, unknown>> | null;
  /**
   * The owner's name; undefined for a wallet. For an account that is paid through SEPA or ACH, the name contains only
   * characters that the network can carry. To convert other text in the same way, use `carriedText`.
   */
  readonly carriedName: string | undefined;
}

export interface RailOrder {
  readonly id: string;
  readonly step: parts.RailStep;
  /** PAYOUT pays the account; COLLECTION pulls money from it. */
  readonly kind: RailOrderKind;
  readonly amount: bigint;
  readonly currency: string;
  /** The external account; undefined if the money stays in the gateway, or if the order names a UMA address. */
  readonly account: parts.RailAccount | undefined;
  /** The other party's UMA address: a payout's receiver, or a collection's sender. */
  readonly umaAddress: string | undefined;
  /** The rate lock that the rail granted for the order. */
  readonly lock?: parts.RateLock | undefined;
  /** Whether the rail has already answered `settled`. */
  readonly settled: boolean;
  /** The time since the order was created, in milliseconds, by the database's clock. */
  readonly ageMs: number;
  /** How many times the order has already been passed to the rail. */
  readonly attempts: number;
  /** The requested `Scenario`, for rails with a simulation. Other rails ignore it. */
  readonly scenario: unknown;
}

/** The state of an order as reported by the rail. */
export type RailOutcome =
  | { readonly kind: 'pending'; readonly checkInMs: number }
  | {
      readonly kind: 'settled';
      /** How long the money may still come back, in milliseconds. After that, the rail is queried once more. */
      readonly watchMs?: number | undefined;
      /** The amount that arrived, in smallest units. If it differs from the order's, an operator decides what to do. */
      readonly amount?: bigint | undefined;
      /** The amount a payout took; by default `amount`. With a lock, it is required and in the sending currency. */
      readonly sent?: bigint | undefined;
      /** For a UMA payment, the receiving institution's information about the receiver, keyed by field name. */
      readonly information?: Readonly<Record<string, string>> | undefined;
    }
  /** The order was not carried out and will not be. `explanation` is for the timeline. */
  | {
      readonly kind: 'failed';
      readonly explanation: string;
      /** The reason given to the platform; by default QUOTE_EXECUTION_FAILED for a payout, otherwise OFFRAMP_FAILED. */
      readonly failureReason?: FailureReason | undefined;
      /** Set if the money has not gone back to its source. It is then held in suspense. */
      readonly moneyStuck?: boolean | undefined;
    }
  /** The receiving side refused the order. */
  | { readonly kind: 'rejected'; readonly explanation: string }
  /** The order had settled, and its money has been returned. */
  | { readonly kind: 'returned'; readonly explanation: string }
  /** The provider contradicts an earlier report: `failed` after `settled`. Nothing changes; an operator gets a case. */
  | { readonly kind: 'contradiction'; readonly explanation: string };

/** The receiver at a UMA address, as described by its institution. */
export interface UmaReceiver {
  readonly vaspName: string;
  readonly currencies: readonly ReceiverLimits[];
  /** The information that the sender must or may provide about itself. */
  readonly requiredFields: readonly RequiredField[];
  /** The institution's information about the receiver, keyed by field name. */
  readonly information: Readonly<Record<string, string>>;
}

/** The minimum and maximum amounts to receive in one currency, in its smallest unit. */
export interface ReceiverLimits {
  readonly code: string;
  readonly minAmount: bigint;
  readonly maxAmount: bigint;
}

/** Information that one side requests about the other. */
export interface RequiredField {
  readonly name: string;
  readonly mandatory: boolean;
}

/** A request for payment instructions. */
export interface FundingRequest {
  /** The UUID of the quote or account to be paid. */
  readonly owner: string;
  /** The owner of the account; null for the platform's own accounts, undefined for a quote. */
  readonly customerId?: string | null | undefined;
  /** The reference that the payer must include in the payment. */
  readonly reference: string;
  readonly currency: Currency;
  /** The amount in the currency's smallest unit; undefined if the payer chooses it. */
  readonly amount: bigint | undefined;
  /** When the quote or account was created, by the database's clock. */
  readonly createdAt: Date;
  /** When the quote expires; undefined for an account, which does not expire. */
  readonly expiresAt: Date | undefined;
}

/**
 * A payment instruction for one type of account or wallet. If there is a `reference`, the payment must include it.
 * Otherwise the instruction is exclusive to its quote or account.
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

import type { Currency } from '../core/currencies.ts';
import type {
  BeneficiaryVerificationStatus,
  ExternalAccountStatus,
  ExternalAccountType,
  FailureReason,
  RailOrderKind,
} from '../database/generated/client/client.ts';
import type { RailStep } from './rail-step.ts';
import type { Simulation } from './simulation.ts';

/**
 * How money arrives and leaves. The domain asks a rail to name a rate, to pay out and to collect; it never knows which
 * rail it talks to. A real provider is connected by implementing this interface (src/rails/README.md).
 */
export interface Rail {
  readonly name: string;

  /**
   * The terms on which the rail converts one currency into another now, or undefined when it does not serve the pair.
   * The rate named here is the rate used.
   */
  rate(sending: Currency, receiving: Currency): Promise<RateTerms | undefined>;

  /**
   * How a payer outside can bring money in under this reference: all the ways that the currency has, none where the rail
   * takes in no such money. What they name belongs to this quote or account alone.
   */
  paymentInstructions(request: FundingRequest): Promise<PaymentInstruction[]>;

  /** What the receiver behind a UMA address can be paid, or undefined when there is none. */
  lookUp(umaAddress: string): Promise<UmaReceiver | undefined>;

  /** About how long an order will take from now, in milliseconds, to tell the customer. */
  expectedMs(order: Pick<RailOrder, 'step' | 'account' | 'umaAddress' | 'scenario'>): number;

  /**
   * After how many milliseconds a new order is told to the rail; at once where a rail does not say, since a provider must be
   * told before it can begin. Payments to UMA addresses are always told at once.
   */
  firstAskMs?(order: Pick<RailOrder, 'step' | 'account' | 'umaAddress' | 'scenario'>): number;

  /** How much is pulled by a collection that names no amount, in smallest units. */
  collectionAmount(currency: Currency): bigint;

  /**
   * Carries an order out, or tells how it stands. Asked again after `checkInMs`, and again after a crash at any point:
   * an implementation hands `order.id` to its provider as the idempotency key. An exception means nothing is known; the
   * order is asked about again. An order that settled with a `watchMs` is asked about once more after it, with
   * `settled` set: it has come back by then (`returned`), or it stands (`settled`).
   */
  perform(order: RailOrder): Promise<RailOutcome>;

  /**
   * Gives back to where it came from what a collection has brought in and no account here can take, as its balance would
   * pass its bound. Told at least once, with the collection's order; the payment is FAILED once this returns, and an
   * exception means that it is told again. From the first time on `perform` answers `failed` for this order, so that what
   * has been given back is not credited when there is room again.
   */
  giveBack(order: RailOrder): Promise<void>;

  /**
   * Looks at an account outside before it is registered, and again whenever it asked to be (`checkInMs`): whether it
   * exists, whether it can be paid now, and whether its owner is who the platform says. `ownerName` is undefined for a
   * wallet, which has no owner to compare. `ageMs` tells how long ago the account was registered, by the database's clock:
   * 0 before it is. An exception means nothing is known: before the account is registered it refuses it, later the rail is
   * asked again.
   */
  checkAccount(account: OutsideAccount, ownerName: string | undefined, ageMs: number): Promise<AccountCheck>;

  /** What a developer may have happen outside; left out by a rail that moves real money. */
  readonly simulation?: Simulation;
}

/** What a rail says of an account outside. */
export type AccountCheck =
  | {
      readonly accepted: true;
      /** An account that is registered anew cannot be INACTIVE: it is not accepted then. */
      readonly status: ExternalAccountStatus;
      /** Null where there is no owner to compare. */
      readonly verification: BeneficiaryVerificationStatus | null;
      /** The owner's name at the bank, where the rail tells it. */
      readonly verifiedName: string | null;
      /** Why, in words; undefined where there is nothing to explain. */
      readonly explanation?: string | undefined;
      /** Ask again after so many milliseconds; undefined when this is the rail's last word. */
      readonly checkInMs?: number | undefined;
    }
  /** The account cannot be used. `explanation` is for the refusal, and why a registered one becomes INACTIVE. */
  | { readonly accepted: false; readonly explanation: string };

export interface RateTerms {
  /** Sending units per receiving unit, major units, fee-exclusive, at most 15 significant digits. */
  readonly rate: string;
  /** Fixed fee of the service, in the sending currency's smallest unit. */
  readonly serviceFixedFee: bigint;
  /** Variable fee of the service: a fraction from 0 up to, not including, 1. */
  readonly serviceVariableFeeRate: string;
  /** Fixed fee of the receiving side, in the receiving currency's smallest unit. */
  readonly counterpartyFixedFee: bigint;
  /** Least and most that may be sent, in the sending currency's smallest unit. */
  readonly minSendingAmount: bigint;
  readonly maxSendingAmount: bigint;
  /** Price of one bitcoin in the sending currency: the bridge of `rateDetails`' multipliers. */
  readonly bridge: string;
}

/** An account or wallet outside, as the rail sees it. */
export interface OutsideAccount {
  readonly type: ExternalAccountType;
  /** The value that names it at its bank or network: account number, IBAN, address, … */
  readonly identifier: string;
}

export interface RailOrder {
  readonly id: string;
  readonly step: RailStep;
  /** PAYOUT brings money out to the account; COLLECTION pulls it in. */
  readonly kind: RailOrderKind;
  readonly amount: bigint;
  readonly currency: string;
  /** The account outside; undefined where the money stays here or the far side is a UMA address. */
  readonly account: OutsideAccount | undefined;
  /** The UMA address on the far side: of the receiver of a payout, of the sender of a collection. */
  readonly umaAddress: string | undefined;
  /** The rail has said before that it settled. */
  readonly settled: boolean;
  /** How long ago the order was given, by the database's clock. */
  readonly ageMs: number;
  /** How often the rail was asked before. */
  readonly attempts: number;
  /** What shall happen to it (`Scenario`), for a rail that simulates; any other ignores it. */
  readonly scenario: unknown;
}

export type RailOutcome =
  | { readonly kind: 'pending'; readonly checkInMs: number }
  /** `watchMs`: it may still come back; ask again after so long. */
  | { readonly kind: 'settled'; readonly watchMs?: number | undefined }
  /** It did not happen and will not. `explanation` is for the timeline. */
  | {
      readonly kind: 'failed';
      readonly explanation: string;
      /** The specification's word for it; QUOTE_EXECUTION_FAILED going out and OFFRAMP_FAILED coming in when left out. */
      readonly failureReason?: FailureReason | undefined;
      /** The rail has not given the money back either: it waits in suspense. */
      readonly moneyStuck?: boolean | undefined;
    }
  /** The receiving side refused it. */
  | { readonly kind: 'rejected'; readonly explanation: string }
  /** It had settled and has come back. */
  | { readonly kind: 'returned'; readonly explanation: string };

/** A receiver behind a UMA address, as its institution describes it. */
export interface UmaReceiver {
  readonly vaspName: string;
  readonly currencies: readonly ReceiverLimits[];
  /** What the sender must or may tell of itself. */
  readonly requiredFields: readonly RequiredField[];
  /** What the institution tells of the receiver, by field name. */
  readonly information: Readonly<Record<string, string>>;
}

/** What can be received in one currency, in its smallest units. */
export interface ReceiverLimits {
  readonly code: string;
  readonly minAmount: bigint;
  readonly maxAmount: bigint;
}

/** A fact that one side asks of the other (decision 48). */
export interface RequiredField {
  readonly name: string;
  readonly mandatory: boolean;
}

export interface FundingRequest {
  /** The uuid of the quote or account that the money is for: its instructions are its own. */
  readonly owner: string;
  /** What the payer must write on the payment. */
  readonly reference: string;
  readonly currency: Currency;
  /** In smallest units, where the way to pay states an amount. */
  readonly amount: bigint | undefined;
  /** When the quote or account was made, by the database's clock. */
  readonly madeAt: Date;
  /** Until when it can be paid; undefined for an account, which has no end. */
  readonly expiresAt: Date | undefined;
}

/**
 * One way to pay in, by the kind of account or wallet that is paid to (decision 49). `reference` must be given with
 * the payment where there is one; elsewhere the address itself is the payment's own.
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

import type { Claim } from '../core/idempotency.ts';
import type {
  Account,
  Arrival,
  Customer,
  ExternalAccountStatus,
  Quote,
  QuoteStatus,
  RailOrder,
  SystemAccount,
  Transaction,
  TransactionStatus,
} from '../database/generated/client/client.ts';

/**
 * Everything one command wants done, as data. `commitPlan` hands it to the database, which locks, checks and applies it
 * in one transaction, or refuses it whole. Commands differ only in the plan they make.
 */
export interface Plan {
  readonly claim?: Claim | undefined;
  /** Who and what must be fit to take part: customers allowed to move money, external accounts that are ACTIVE. */
  readonly requireActive?: { readonly customers?: readonly string[]; readonly accounts?: readonly string[] };
  /** Internal accounts that this will bring so much to later: refused now where their balances would pass their bound then. */
  readonly capacity?: readonly { readonly account: string; readonly amount: bigint }[] | undefined;
  readonly insert?: {
    readonly customer?: readonly NewRow<Customer>[];
    readonly account?: readonly NewRow<Account>[];
    readonly transaction?: readonly NewRow<Transaction>[];
    readonly quote?: readonly NewRow<Quote>[];
    readonly arrival?: readonly Arrival[];
    readonly rail_order?: readonly NewOrder[];
    /** External accounts about which the rail is to be asked again, and after how many milliseconds. */
    readonly account_check?: readonly { readonly accountId: string; readonly dueInMs: number }[];
  };
  readonly quotes?: readonly QuoteMove[];
  readonly transactions?: readonly TransactionMove[];
  readonly customers?: readonly { readonly id: string; readonly set: Partial<Omit<Customer, 'platformId' | 'id'>> }[];
  /** External accounts whose status or verification moves. */
  readonly accounts?: readonly AccountMove[];
  /** When the rail is asked about an external account again; null: never, the last word on it has been said. */
  readonly checks?: readonly { readonly accountId: string; readonly dueInMs: number | null }[];
  readonly journals?: readonly Journal[];
  /** When the rail is asked about an order again; null: never, it has its outcome. */
  readonly orders?: readonly { readonly id: string; readonly dueInMs: number | null }[];
  /** The row that the caller is answered with, as it is after the plan. */
  readonly result?: { readonly type: ResultType; readonly id: string };
  /** What happens instead where the plan would be refused because a quote has expired. */
  readonly otherwise?: Alternative;
}

/**
 * What happens instead of a plan that comes too late for its quote: decided in the database, under the quote's lock. It
 * changes nothing that its plan does not name. It may come too late itself, and have an alternative again.
 */
export interface Alternative extends Pick<Plan, 'quotes' | 'transactions' | 'journals'> {
  /** Quotes that must be EXPIRED and not paid yet: locked, and left as they are. */
  readonly expired?: readonly { readonly id: string }[];
  readonly otherwise?: Alternative;
}

/** A plan, and whose it is. */
export interface PlatformPlan {
  readonly platformId: string;
  readonly plan: Plan;
}

/** Plans of one platform or several that happen together or not at all. */
export type PlanGroup = readonly PlatformPlan[];

export type ResultType = 'Quote' | 'Transaction' | 'Customer' | 'Account';

type Nullable<T> = { [K in keyof T]-?: null extends T[K] ? K : never }[keyof T];
type Stamped = 'version' | 'createdAt' | 'updatedAt';

/** A row to insert: nullable columns may be left out, and the database stamps version and times. */
export type NewRow<T> = Omit<T, Stamped | Nullable<T>> & Partial<Pick<T, Exclude<Nullable<T>, Stamped>>>;

export type NewOrder = Pick<RailOrder, 'platformId' | 'id' | 'transactionId' | 'kind'> &
  Partial<Pick<RailOrder, 'scenario'>> & {
    /** When the rail is asked first, in milliseconds from now; at once when left out. */
    readonly dueInMs?: number;
  };

export interface QuoteMove {
  readonly id: string;
  readonly from: readonly QuoteStatus[];
  readonly to: QuoteStatus;
  /** Why, in words for the timeline. */
  readonly reason?: string | undefined;
  /** Only before the quote's expiry, or only after it, by the database's clock once the quote is locked. */
  readonly expiry?: 'before' | 'after';
  /** The quote is inserted by the same plan. */
  readonly isNew?: boolean;
}

export interface TransactionMove {
  readonly id: string;
  readonly from: readonly TransactionStatus[];
  readonly to: TransactionStatus;
  readonly reason?: string | undefined;
  readonly set?: Partial<
    Pick<
      Transaction,
      | 'failureReason'
      | 'refundReference'
      | 'refundAmount'
      | 'receivedAmount'
      | 'counterpartyInformation'
      | 'destinationAccountId'
      | 'requestedInformation'
    >
  >;
  /** The refund that `set` starts has not arrived anywhere yet: it has no time of settlement. */
  readonly refundWaits?: boolean | undefined;
  /** It pays a refund that waits in suspense: refused where none waits. `to` is the status that it has. */
  readonly paysRefund?: boolean | undefined;
  /** When settlement is expected, from now. */
  readonly expectedInMs?: number | undefined;
  /** How long its platform has from now to approve or reject it. */
  readonly approvalInMs?: number | undefined;
  readonly isNew?: boolean;
}

export interface AccountMove {
  readonly id: string;
  readonly from: readonly ExternalAccountStatus[];
  /** The new status, or the one that it has where only its verification moves. */
  readonly to: ExternalAccountStatus;
  /** Only if this is still its version. */
  readonly version?: number;
  readonly reason: string;
  readonly set?: Partial<Pick<Account, 'beneficiaryVerificationStatus' | 'beneficiaryVerifiedName'>>;
}

/** One movement of money. Its legs sum to zero in each currency. */
export interface Journal {
  /** What the movement is: `execute`, `settle`, `refund`, `fund`, … */
  readonly kind: string;
  readonly transactionId?: string | undefined;
  readonly legs: readonly Leg[];
}

/**
 * One side of a movement, in the currency's smallest unit: positive comes in, negative goes out. System accounts:
 * OUTSIDE is the world beyond the rails, CLEARING money under way to it, LIQUIDITY the other side of a conversion,
 * FEES what was earned, SUSPENSE what neither arrived nor came back.
 */
export type Leg = { readonly currency: string; readonly amount: bigint } & (
  | {
      readonly account: string;
      /** It comes in whatever the account holds already: given back, or earned (check_balance.sql). */
      readonly exempt?: true;
    }
  | { readonly system: SystemAccount }
);

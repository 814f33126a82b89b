import type { Claim } from '../../core/idempotency.ts';
import type * as model from '../../infra/database/generated/client/client.ts';

/**
 * A plan: all changes that a command makes, as data. `commitPlan` sends it to the database, which locks, checks and
 * applies it in one transaction, or refuses it as a whole. Commands differ only in their plans.
 */
export interface Plan {
  readonly claim?: Claim | undefined;
  /** Preconditions: customers may move money, external accounts are ACTIVE, nothing is frozen, lookups are valid. */
  readonly requireActive?: {
    readonly customers?: readonly string[];
    readonly accounts?: readonly string[];
    readonly unfrozen?: readonly string[];
    readonly lookups?: readonly string[];
  };
  /** The internal accounts that the payment will credit. The plan is refused if a balance would exceed its limit. */
  readonly capacity?: readonly { readonly account: string; readonly amount: bigint }[] | undefined;
  /** The payment that the plan begins. Policies allow or refuse it, and count it. */
  readonly spend?: Spend;
  readonly insert?: {
    readonly customer?: readonly NewRow<model.Customer>[];
    readonly account?: readonly NewRow<model.Account>[];
    readonly transaction?: readonly NewRow<model.Transaction>[];
    readonly quote?: readonly NewRow<model.Quote>[];
    readonly arrival?: readonly model.Arrival[];
    readonly rail_order?: readonly NewOrder[];
    /** External accounts that the rail checks again, each after a delay in milliseconds. */
    readonly account_check?: readonly { readonly accountId: string; readonly dueInMs: number }[];
    /** Customers whose identity the rail checks again, each after a delay in ms; null if its answer is final. */
    readonly identity_check?: readonly { readonly customerId: string; readonly dueInMs: number | null }[];
  };
  readonly quotes?: readonly QuoteMove[];
  readonly transactions?: readonly TransactionMove[];
  /** Customers to change. A customer who is to be deleted must hold no money and have no payment in flight. */
  readonly customers?: readonly { readonly id: string; readonly set: Changes<model.Customer> }[];
  readonly accounts?: readonly AccountMove[];
  /** When the rail checks accounts again, in milliseconds from now; null if its last answer was final. */
  readonly checks?: readonly { readonly accountId: string; readonly dueInMs: number | null }[];
  readonly journals?: readonly Journal[];
  /** The approval of a balance correction. The plan's only journal makes the correction. */
  readonly adjustments?: readonly Approval[];
  /** The case to settle, and the order that settling it concludes. The plan's only journal books the difference. */
  readonly cases?: readonly SettledCase[];
  /**
   * When to query the rail again about an order, in milliseconds from now; null once the order has its outcome.
   * `begins` tells whether the order was waiting for approval, in which case its age is counted from now.
   */
  readonly orders?: readonly { readonly id: string; readonly dueInMs: number | null; readonly begins?: boolean }[];
  /** The version that the row must still have. Otherwise the plan is refused. */
  readonly expected?: { readonly type: ResultType; readonly id: string; readonly version: number };
  /** The row to return to the caller, in its state after the plan. */
  readonly result?: { readonly type: ResultType; readonly id: string };
  /** What to carry out instead if this plan is refused because a quote has expired. */
  readonly otherwise?: Alternative;
}

export interface Spend {
  readonly transactionId: string;
  readonly kind: model.PaymentKind;
  /** The uuids of the subjects whose policies may limit the payment: platform, customer, token and its creators. */
  readonly subjects: readonly string[];
  /** In the currency's smallest unit. */
  readonly amount: bigint;
  readonly currency: string;
  /** The receiver: an account's public id, with the country of an external account if it is known, or a UMA address. */
  readonly accountId: string | null;
  readonly country: string | null;
  readonly umaAddress: string | null;
  /** The quote's expiry, after which no approval is possible. */
  readonly until?: Date | undefined;
  readonly waits?: true;
}

/** Carried out instead of a plan whose quote has expired. It may change only rows that the plan names. */
export interface Alternative extends Pick<Plan, 'quotes' | 'transactions' | 'journals'> {
  /** Quotes that must be EXPIRED and unpaid. They are locked, but not changed. */
  readonly expired?: readonly { readonly id: string }[];
  readonly otherwise?: Alternative;
}

export interface PlatformPlan {
  readonly platformId: string;
  readonly plan: Plan;
}

/** Plans of one or more platforms that are carried out together or not at all. */
export type PlanGroup = readonly PlatformPlan[];

export type ResultType = 'Quote' | 'Transaction' | 'Customer' | 'Account';

type Nullable<T> = { [K in keyof T]-?: null extends T[K] ? K : never }[keyof T];
type Stamped = 'version' | 'createdAt' | 'updatedAt';

/** A row to insert. Nullable columns may be omitted, and the database sets the version and times. */
export type NewRow<T> = Omit<T, Stamped | Nullable<T>> & Partial<Pick<T, Exclude<Nullable<T>, Stamped>>>;

export type NewOrder = Pick<model.RailOrder, 'platformId' | 'id' | 'transactionId' | 'kind'> &
  Partial<Pick<model.RailOrder, 'scenario' | 'rateLock'>> & {
    /** In milliseconds from now; immediately if omitted. */
    readonly dueInMs?: number;
  };

/** New values for a row's columns. For transactions, apply_plans.sql applies only certain columns. */
type Changes<Row> = Partial<Omit<Row, 'platformId' | 'id' | Stamped>>;

/** A change to a row's status. The database refuses it unless the current status is one of those in `from`. */
interface Move<Status> {
  readonly id: string;
  readonly from: readonly Status[];
  readonly to: Status;
  readonly reason?: string | undefined;
  readonly isNew?: boolean;
}

export interface QuoteMove extends Move<model.QuoteStatus> {
  /** Allows the move only before or only after the quote's expiry, by the database's clock under the quote's lock. */
  readonly expiry?: 'before' | 'after';
}

export interface TransactionMove extends Move<model.TransactionStatus> {
  /** `approvalDueAt` can only be set to null. */
  readonly set?: Changes<model.Transaction>;
  /** Whether the refund that `set` starts must be held in suspense. It then has no settlement time yet. */
  readonly refundWaits?: boolean | undefined;
  /** Whether to pay the refund held in suspense. There must be one, and `to` must be the current status. */
  readonly paysRefund?: boolean | undefined;
  /** When settlement is expected, in milliseconds from now. */
  readonly expectedInMs?: number | undefined;
  /** The time left for the platform's decision, in milliseconds. */
  readonly approvalInMs?: number | undefined;
  /** Whether the change must happen before the approval deadline, by the database's clock under the lock. */
  readonly approval?: 'before';
  /** The token that approves the payment, and the tokens that created that token (may_approve.sql). */
  readonly makers?: readonly string[];
}

/** A change to an external account. A deleted account cannot be changed. */
export interface AccountMove extends Omit<Move<model.ExternalAccountStatus>, 'to' | 'isNew'> {
  readonly to?: model.ExternalAccountStatus;
  /** A new default deposit account replaces the previous one. */
  readonly set?: Changes<model.Account>;
}

export interface Approval {
  readonly id: string;
  readonly by: string;
  readonly reason?: string | undefined;
}

/** Closes a case whose payment an operator settles although the provider moved a different amount. */
export interface SettledCase {
  readonly orderId: string;
  readonly by: string;
  readonly reason: string;
  /** Null where no amount was due. */
  readonly movedOut: bigint | null;
  readonly movedIn: bigint | null;
}

export type JournalKind =
  | 'debit'
  | 'delivery'
  | 'refund'
  | 'return'
  | 'suspension'
  | 'resumption'
  | 'transfer'
  | 'deposit'
  | 'arrival'
  | 'adjustment'
  | 'difference';

/** A movement of money. Its legs sum to zero in each currency. */
export interface Journal {
  readonly kind: JournalKind;
  readonly transactionId?: string | undefined;
  readonly legs: readonly Leg[];
}

export interface Money {
  readonly currency: string;
  readonly amount: bigint;
}

/**
 * A leg's account. System accounts: OUTSIDE is the world beyond the rails, CLEARING is money on its way there,
 * LIQUIDITY is the other side of a conversion, FEES is what the service earns, SUSPENSE is money that neither arrived
 * nor came back, ADJUSTMENTS is the other side of operators' corrections, and DIFFERENCES is the difference between
 * what providers have moved and what was promised.
 */
export type Place =
  | {
      readonly account: string;
      /** Set for refunds and earned fees, which are exempt from the limit for new money (check_balances.sql). */
      readonly exempt?: true;
    }
  | { readonly system: model.SystemAccount };

/** One leg of a movement. A positive amount is a credit, a negative one a debit. */
export type Leg = Money & Place;

/** Merges plans in order, concatenating lists. @throws Error if several have a claim, a result or an alternative */
export function mergePlans(...plans: readonly Plan[]): Plan {
  return plans.reduce(merge, {});
}

/** The fields whose values are objects that hold lists. Other fields are lists, or occur in only one of the plans. */
const groups: ReadonlySet<string> = new Set<keyof Plan>(['insert', 'requireActive']);

function merge(one: object, other: object): object {
  const merged: Record<string, unknown> = { ...one };
  for (const [field, value] of Object.entries(other)) {
    const before = merged[field];
    if (value === undefined || value === null) continue;
    if (before === undefined || before === null) merged[field] = value;
    else if (Array.isArray(before)) merged[field] = [...before, ...value];
    else if (groups.has(field)) merged[field] = merge(before, value);
    else throw new Error(`cannot merge two plans that both have a ${field}`);
  }
  return merged;
}

import type { Breach } from '../../../src/domain/ledger/audit.ts';
import type { Evidence, Payment } from '../history.ts';

/** The state of a payment outside the service, as one side sees it. */
export type State = 'UNDER_WAY' | 'SETTLED' | 'FAILED' | 'RETURNED';

export interface Amount {
  readonly amount: bigint;
  readonly currency: string;
}

/** An order that the gateway has sent to its upstream service. */
export interface BookedOrder extends Amount {
  readonly id: string;
  readonly transactionId: string;
  readonly status: string;
  readonly direction: 'IN' | 'OUT';
  readonly state: State;
  /** If the order converts money for an internal account, the amount credited upstream in the new currency. */
  readonly converted?: Amount;
}

/** An upstream deposit, as the gateway has recorded it. */
export interface BookedDeposit extends Amount {
  readonly id: string;
  readonly reference: string;
  readonly status: string;
  readonly reason: string | undefined;
  readonly attempts: number;
  readonly transactionId: string | undefined;
}

/** A payment on the gateway's upstream account. */
export interface Movement extends Amount {
  readonly reference: string;
  /** The gateway order named in the payment's memo. */
  readonly orderId: string | undefined;
  /** Whether the payment is a deposit for a customer, which the gateway did not order. */
  readonly isDeposit: boolean;
  readonly direction: 'IN' | 'OUT';
  readonly state: State;
}

/** A difference reported by the reconciliation. */
export interface Named {
  readonly fault: string;
  readonly transaction?: string | null;
  readonly reference?: string | null;
  readonly here?: string | null;
  readonly there?: string | null;
}

/** The visible state of both sides when no payments are in flight. */
export interface Books extends Pick<Evidence, 'history' | 'internalErrors' | 'receipts' | 'feed'> {
  readonly payments: readonly Payment[];
  readonly orders: readonly BookedOrder[];
  readonly deposits: readonly BookedDeposit[];
  readonly movements: readonly Movement[];
  /** By currency: how much the upstream balance has changed since the start. */
  readonly held: ReadonlyMap<string, bigint>;
  readonly named: readonly Named[];
  readonly breaches: Readonly<Record<'here' | 'upstream', readonly Breach[]>>;
  readonly restores: Restores;
}

/** The payments and orders that were undone when either side was restored from a backup. */
export interface Restores {
  /** The upstream payments that were undone when the upstream was restored. */
  readonly vanished: readonly Movement[];
  /** The orders that had settled in the gateway when the upstream was restored. */
  readonly settledBefore: ReadonlySet<string>;
  /** The gateway's payments and orders that were undone when the gateway was restored. */
  readonly undonePayments: ReadonlySet<string>;
  readonly undoneOrders: ReadonlySet<string>;
  /** The payments that an operator has ended because the upstream no longer knows their quotes. */
  readonly endedByHand: ReadonlySet<string>;
}

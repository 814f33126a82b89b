import type { Breach } from '../../../src/domain/ledger/audit.ts';
import type { Evidence, Payment } from '../history.ts';

/** The state of a payment outside, on either side. */
export type State = 'UNDER_WAY' | 'SETTLED' | 'FAILED' | 'RETURNED';

/** An amount in the smallest unit of its currency. */
export interface Amount {
  readonly amount: bigint;
  readonly currency: string;
}

/** An order of the gateway to its upstream service. */
export interface BookedOrder extends Amount {
  readonly id: string;
  readonly transactionId: string;
  /** The status of its payment. */
  readonly status: string;
  readonly direction: 'IN' | 'OUT';
  readonly state: State;
  /** What it brings in upstream in another currency, where it converts what stays here. */
  readonly converted?: Amount;
}

/** A deposit upstream, as the gateway has it. */
export interface BookedDeposit extends Amount {
  readonly id: string;
  readonly reference: string;
  readonly status: string;
  /** Why it was not credited. */
  readonly reason: string | undefined;
  readonly attempts: number;
  readonly transactionId: string | undefined;
}

/** A payment upstream on the account of the gateway. */
export interface Movement extends Amount {
  readonly reference: string;
  /** The order of the gateway that it names. */
  readonly orderId: string | undefined;
  /** Whether it came in by itself for a customer. */
  readonly isDeposit: boolean;
  readonly direction: 'IN' | 'OUT';
  readonly state: State;
}

/** A difference that the reconciliation has named. */
export interface Named {
  readonly fault: string;
  readonly transaction?: string | null;
  readonly reference?: string | null;
  readonly here?: string | null;
  readonly there?: string | null;
}

/** What can be seen of both sides when nothing is under way any more. */
export interface Books extends Pick<Evidence, 'history' | 'internalErrors' | 'receipts' | 'feed'> {
  readonly payments: readonly Payment[];
  readonly orders: readonly BookedOrder[];
  readonly deposits: readonly BookedDeposit[];
  readonly movements: readonly Movement[];
  /** By currency: the balance of the account upstream, less its balance before there were payments. */
  readonly held: ReadonlyMap<string, bigint>;
  readonly named: readonly Named[];
  /** The broken rules of each ledger. */
  readonly breaches: Readonly<Record<'here' | 'upstream', readonly Breach[]>>;
  readonly restores: Restores;
}

/** What restores of earlier backups have undone. */
export interface Restores {
  /** The payments upstream that a restore there undid. */
  readonly vanished: readonly Movement[];
  /** The orders that had settled here when upstream was restored. */
  readonly settledBefore: ReadonlySet<string>;
  /** The payments and the orders here that a restore here undid. */
  readonly undonePayments: ReadonlySet<string>;
  readonly undoneOrders: ReadonlySet<string>;
  /** The payments that a person has ended, since upstream does not know their quotes any more. */
  readonly endedByHand: ReadonlySet<string>;
}

import type { Currency } from '../core/currencies.ts';
import type { IdentityRequest, RailAccount } from './rail-parts.ts';

/** The part of a rail that converts money itself, at a rate that its provider has promised (decision 83). */
export interface RailLocks {
  /**
   * Locks a rate at the provider for one payment, before a quote promises it. It moves no money. The payment's order
   * then contains the lock (`RailOrder.lock`): `payOut` takes `sent` for it, in the sending currency, delivers
   * `received`, and reports both amounts when it has `settled`. A lock that no order uses expires. An exception means
   * that nothing is locked, or that the lock will expire unused. Without this method quotes use the rate from `rate`.
   */
  lockRate?(request: LockRequest): Promise<LockAnswer>;
}

/** A conversion to lock. */
export interface LockRequest {
  /** The uuid of the quote, which is the idempotency key of the lock. */
  readonly id: string;
  /** The id of the order that will use the lock. */
  readonly orderId: string;
  readonly sending: Currency;
  readonly receiving: Currency;
  readonly lockedSide: 'SENDING' | 'RECEIVING';
  /** The amount of the locked side, in its smallest unit; on the sending side, the total that the rail will take. */
  readonly amount: bigint;
  /**
   * The external account to pay; undefined if the money stays in the gateway and the rail converts it for the platform.
   */
  readonly account: RailAccount | undefined;
  /** The receiver at a UMA address, found by `lookUp`; undefined otherwise. The two currencies may be the same. */
  readonly uma?: UmaPayment | undefined;
}

/** A payment to a UMA address that the rail has looked up. */
export interface UmaPayment {
  readonly address: string;
  readonly sender: Omit<IdentityRequest, 'attempts'> & {
    /** The facts about the sender that the receiver requires, by field name. */
    readonly information: Readonly<Record<string, string>>;
  };
}

/** A rate that the provider has promised. Amounts are in smallest units. */
export interface RateLock {
  /** The provider's own reference for the lock. */
  readonly reference: string;
  /** The amount that the rail takes, in the sending currency, including its fees. */
  readonly sent: bigint;
  /** The amount that arrives, in the receiving currency. */
  readonly received: bigint;
  /** Sending units per receiving unit, major units, fee-exclusive, at most 15 significant digits. */
  readonly rate: string;
  /** The fees in `sent`, in the sending currency. */
  readonly fees: bigint;
}

/** The answer to a lock request. */
export type LockAnswer =
  | {
      readonly kind: 'locked';
      readonly lock: RateLock;
      /** How long the lock holds from the call, in milliseconds. An order sent within that time gets the rate. */
      readonly validMs: number;
    }
  /**
   * The provider refuses the conversion: the amount is out of range, the account or the receiver at a UMA address
   * cannot be paid, the currency pair is not supported, or the sender may not pay there.
   */
  | {
      readonly kind: 'refused';
      readonly because: 'AMOUNT' | 'ACCOUNT' | 'PAIR' | 'RECEIVER' | 'SENDER';
      readonly explanation: string;
    };

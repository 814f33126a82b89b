import type { Currency } from '../core/currencies.ts';
import type { IdentityRequest, RailAccount } from './rail-parts.ts';

/** The part of a rail that converts money itself, at a rate that its provider has promised (decision 83). */
export interface RailLocks {
  /**
   * Locks a rate at the provider for one payment, before a quote promises it here. It moves no money. The payment's
   * order then has the lock (`RailOrder.lock`), and `payOut` takes `sent` for it, in the sending currency, and delivers
   * `received`; its `settled` names both amounts. A lock that no order uses ends by itself. An exception means that
   * nothing is locked, or that it will end unused. Without this method quotes have the rate of `rate`.
   */
  lockRate?(request: LockRequest): Promise<LockAnswer>;
}

/** A conversion to lock. */
export interface LockRequest {
  /** The uuid of the quote: the idempotency key of the lock. */
  readonly id: string;
  /** The id of the order that will use the lock. */
  readonly orderId: string;
  readonly sending: Currency;
  readonly receiving: Currency;
  readonly lockedSide: 'SENDING' | 'RECEIVING';
  /** The amount of the locked side, in its smallest unit; on the sending side, all that the rail will take. */
  readonly amount: bigint;
  /** The external account to pay; undefined if the money stays here, and the rail converts it for the platform. */
  readonly account: RailAccount | undefined;
  /** The receiver at a UMA address, found by `lookUp`; undefined for any other. Its currency may be the one sent. */
  readonly uma?: UmaPayment | undefined;
}

/** A payment to a UMA address that the rail has looked up. */
export interface UmaPayment {
  readonly address: string;
  readonly sender: Omit<IdentityRequest, 'attempts'> & {
    /** The facts that the receiver requires about the sender, by the name of the field. */
    readonly information: Readonly<Record<string, string>>;
  };
}

/** A rate that the provider has promised. Amounts in smallest units. */
export interface RateLock {
  /** The provider's own reference of the lock. */
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

/** The answer to a request for a lock. */
export type LockAnswer =
  | {
      readonly kind: 'locked';
      readonly lock: RateLock;
      /** How long it holds from the call on, in milliseconds. An order that is sent until then gets it. */
      readonly validMs: number;
    }
  /**
   * The provider does not convert this: the amount is out of its range, the account or the receiver at a UMA address
   * cannot be paid, the currency pair is not supported, or the sender may not pay there.
   */
  | {
      readonly kind: 'refused';
      readonly because: 'AMOUNT' | 'ACCOUNT' | 'PAIR' | 'RECEIVER' | 'SENDER';
      readonly explanation: string;
    };

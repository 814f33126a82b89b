import type { Rail, RailOrder } from '../rail.ts';
import type { LockRequest, RailDeposit, RailWebhook } from '../rail-parts.ts';

/** A rail's trial: what its author provides for the conformance suite. A module exports it as `trial`. */
export interface RailTrial {
  /** Opens the rail as a starting process would. Called several times; the provider keeps its state between calls. */
  open(): Promise<Rail>;

  /**
   * Returns an order that `settles`, is `refused` (by the provider), or is `slow` (stays in progress for some time,
   * then settles). The suite sets its id, age and attempts. Undefined if the rail or its provider cannot produce one.
   */
  order(course: Course, kind: RailOrder['kind']): TrialOrder | undefined;

  /** For rails that lock rates: returns a conversion whose payment settles. The suite sets its ids. */
  lock?(lockedSide: LockRequest['lockedSide']): TrialLock | undefined;

  /** The provider, into which faults can be injected; undefined for a rail that makes no calls outside its process. */
  readonly provider?: TrialProvider;

  /** UMA addresses to look up; undefined if the rail does not look up receivers. */
  readonly receivers?: TrialReceivers;

  /** The provider's webhooks and deposits; undefined if the rail has no methods for them, or they cannot be tested. */
  readonly incoming?: TrialIncoming;

  close?(): Promise<void>;
}

export type Course = 'settles' | 'refused' | 'slow';

export type TrialOrder = Pick<RailOrder, 'amount' | 'currency' | 'account' | 'umaAddress'>;

export type TrialLock = Omit<LockRequest, 'id' | 'orderId'>;

export interface TrialReceivers {
  /** An address with a receiver, and an address without one. */
  readonly known: string;
  readonly unknown: string;
  /** For a rail that locks rates: returns a payment to the known address that settles. */
  lock?(lockedSide: LockRequest['lockedSide']): TrialLock;
}

/** Webhooks and deposits, for a rail with `receiveWebhook` or `deposits`. Implement what the rail has methods for. */
export interface TrialIncoming {
  /** Returns a new webhook about this order, as the provider would sign and send it now. */
  webhook?(orderId: string): Promise<RailWebhook>;
  /** Creates a deposit for a customer. Returns it as the rail should list it once settled. */
  deposit?(): Promise<Pick<RailDeposit, 'amount' | 'currency' | 'customerId'>>;
  /** Returns how much the provider has made available for a deposit: zero, its amount, or a multiple of it. */
  taken?(reference: string): Promise<bigint>;
}

export interface TrialProvider {
  /**
   * Returns the amount that the provider has moved for an order, in smallest units: a multiple of its amount if the
   * order was sent more than once. Refunded money does not count. With a lock, this is the amount delivered.
   */
  moved(orderId: string): Promise<bigint>;

  /** Applies a fault to every call from now on, replacing the previous one. */
  setFault(fault: ProviderFault): Promise<void>;
}

/**
 * A provider's fault. `loses-answers`: it carries out requests, but the connection breaks before it answers. `is-down`:
 * it neither answers nor carries anything out. `is-slow`: its answers take longer than the gateway waits.
 * `contradicts`: it reports a settled order as failed.
 */
export type ProviderFault = 'none' | 'loses-answers' | 'is-down' | 'is-slow' | 'contradicts';

/** The time limits of the suite, in milliseconds. */
export interface TrialTimes {
  /** How long the gateway waits for one answer. */
  readonly answerMs: number;
  /** How long an order may take to reach its outcome. */
  readonly outcomeMs: number;
}

export interface CheckResult {
  readonly check: string;
  readonly kind: RailOrder['kind'] | 'WEBHOOK' | 'DEPOSIT' | 'RECEIVER';
  readonly result: 'passed' | 'failed' | 'not tried';
  /** The fault, or why the check was skipped. */
  readonly reason?: string;
}

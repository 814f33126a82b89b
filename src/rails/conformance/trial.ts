import type { Rail, RailOrder } from '../rail.ts';

/** What a rail's author provides for the conformance suite. A module exports it as `trial`. */
export interface RailTrial {
  /** Opens the rail as a starting process would. Called several times. The provider keeps its state between calls. */
  open(): Promise<Rail>;

  /**
   * Returns an order that `settles`, is `refused` (by the provider), or is `slow` (stays in progress for some time,
   * then settles). The suite sets its id, age and attempts. Returns undefined if no such order is possible.
   */
  order(course: Course, kind: RailOrder['kind']): TrialOrder | undefined;

  /** The provider, into which faults can be injected; undefined for a rail that makes no calls outside its process. */
  readonly provider?: TrialProvider;

  close?(): Promise<void>;
}

export type Course = 'settles' | 'refused' | 'slow';

export type TrialOrder = Pick<RailOrder, 'amount' | 'currency' | 'account' | 'umaAddress'>;

export interface TrialProvider {
  /**
   * Returns the amount that the provider has moved for an order, in the currency's smallest unit. It is a multiple of
   * the order's amount if the order was carried out more than once. Refunded money does not count.
   */
  moved(orderId: string): Promise<bigint>;

  /** Applies a fault to every call from now on, replacing the previous fault. */
  setFault(fault: ProviderFault): Promise<void>;
}

/**
 * A provider fault. With `loses-answers`, the provider carries out requests, but the connection breaks before it
 * answers. With `is-down`, it neither answers nor carries anything out. With `is-slow`, it takes longer to answer than
 * the gateway waits. With `contradicts`, it reports a settled order as failed.
 */
export type ProviderFault = 'none' | 'loses-answers' | 'is-down' | 'is-slow' | 'contradicts';

/** The suite's time limits, in milliseconds. */
export interface TrialTimes {
  /** How long the gateway waits for one answer. */
  readonly answerMs: number;
  /** How long an order may take to reach its outcome. */
  readonly outcomeMs: number;
}

export interface CheckResult {
  readonly check: string;
  readonly kind: RailOrder['kind'];
  readonly result: 'passed' | 'failed' | 'not tried';
  /** Why the check failed or was not tried. */
  readonly reason?: string;
}

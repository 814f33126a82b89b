import type { Rail, RailOrder } from '../rail.ts';
import type { RailDeposit } from '../rail-deposits.ts';
import type { RailWebhook } from '../rail-webhooks.ts';
import type { LockRequest } from '../rate-lock.ts';

/** The trial of a rail: what its author provides to the conformance suite, as the export `trial` of a module. */
export interface RailTrial {
  /** Opens the rail, as a process that starts does. The provider stays as it is. Called several times. */
  open(): Promise<Rail>;

  /**
   * Returns an order that takes this course: `settles`, `refused` by the provider, or `slow`, which is under way for
   * some time and then settles. The suite gives it its id, age and attempts. Undefined if the rail or its provider
   * knows no such course.
   */
  order(course: Course, kind: RailOrder['kind']): TrialOrder | undefined;

  /**
   * Returns a conversion whose payment settles, for a rail that locks rates. The suite gives it its ids. Where its
   * locks hold for less than an order may take (`TrialTimes`), the suite also waits for the end of one.
   */
  lock?(lockedSide: LockRequest['lockedSide']): TrialLock | undefined;

  /** The provider, with faults on request; undefined for a rail that calls nobody outside its process. */
  readonly provider?: TrialProvider;

  /** Receivers at UMA addresses; undefined if the rail looks none up. */
  readonly receivers?: TrialReceivers;

  /** Webhooks and deposits of the provider; undefined if the rail has no such methods, or they cannot be tried. */
  readonly incoming?: TrialIncoming;

  /** Ends the trial. */
  close?(): Promise<void>;
}

export type Course = 'settles' | 'refused' | 'slow';

export type TrialOrder = Pick<RailOrder, 'amount' | 'currency' | 'account' | 'umaAddress'>;

export type TrialLock = Omit<LockRequest, 'id' | 'orderId'>;

/** Receivers at UMA addresses, for a rail with `lookUp`. */
export interface TrialReceivers {
  /** An address at which somebody receives, and one at which nobody does. */
  readonly known: string;
  readonly unknown: string;
  /** Returns a payment to the known one that settles, for a rail that locks rates. */
  lock?(lockedSide: LockRequest['lockedSide']): TrialLock;
}

/** Webhooks and deposits, for a rail with `receiveWebhook` or `deposits`: each only if the rail has the method. */
export interface TrialIncoming {
  /** Returns a new webhook as the provider signs and sends it now, about this order. */
  webhook?(orderId: string): Promise<RailWebhook>;
  /** Creates a deposit for a customer, and returns it as the rail should list it once it has settled. */
  deposit?(): Promise<Pick<RailDeposit, 'amount' | 'currency' | 'customerId'>>;
  /** Returns how much money the provider has made available of a deposit: nothing, its amount, or a multiple of it. */
  taken?(reference: string): Promise<bigint>;
}

/** A provider, or its test system, with faults on request. */
export interface TrialProvider {
  /**
   * Returns how much money the provider has moved for an order, in smallest units: nothing, the amount of the order, or
   * a multiple of it where it was sent more than once. What was given back does not count. Of an order with a lock, it
   * is what was delivered.
   */
  moved(orderId: string): Promise<bigint>;

  /** Brings a fault into every call from now on, instead of the one before. */
  setFault(fault: ProviderFault): Promise<void>;
}

/**
 * A fault of a provider. `loses-answers`: it carries out requests, and the connection ends before its answer.
 * `is-down`: nobody answers, and nothing is done. `is-slow`: its answers take longer than the gateway waits.
 * `contradicts`: it reports a settled order as failed.
 */
export type ProviderFault = 'none' | 'loses-answers' | 'is-down' | 'is-slow' | 'contradicts';

/** The time limits of the suite, in milliseconds. */
export interface TrialTimes {
  /** How long the gateway waits for one answer. */
  readonly answerMs: number;
  /** How long an order may take until its outcome. */
  readonly outcomeMs: number;
}

export interface CheckResult {
  readonly check: string;
  readonly kind: RailOrder['kind'] | 'WEBHOOK' | 'DEPOSIT' | 'RECEIVER';
  readonly result: 'passed' | 'failed' | 'not tried';
  /** What was wrong, or why the check was skipped. */
  readonly reason?: string;
}

import type { BeneficiaryVerificationStatus, FailureReason } from '../infra/database/generated/client/client.ts';
import type { RailStep } from './rail-parts.ts';

/** The domain of the receivers and senders that a sandbox simulates (decision 21). No platform uses it. */
export const simulatedDomain = 'sandbox.uma.money';

/**
 * The simulation of the outside world for developers, which is an optional part of the port. A rail that moves real
 * money omits it, and every operation that needs it is FORBIDDEN.
 */
export interface Simulation {
  /** Returns what is wrong with a caller's scenario, as field and reason; undefined if it is usable. */
  scenarioFault(scenario: Scenario): ScenarioFault | undefined;

  /**
   * Returns the deposit for a real-time funded quote.
   * @param scenario as validated, or as stored with the quote; null or undefined if there is none
   * @param amount the amount to pay in, in smallest units
   */
  deposit(scenario: unknown, amount: bigint): Deposit;

  /**
   * Returns the decision on an incoming payment that a scenario makes instead of the receiving platform; undefined if
   * the platform decides.
   * @param scenario as stored with the order; null or undefined if there is none
   */
  approval(scenario: unknown): 'APPROVE' | 'REJECT' | undefined;

  /** Returns the information that the sender of a UMA payment gives about itself, by field name. */
  senderInformation(umaAddress: string): Readonly<Record<string, string>>;

  /**
   * Returns a verification of an account's owner, with the name at the bank. `ownerName` is undefined for a wallet,
   * which has no owner to verify.
   */
  accountVerification(ownerName: string | undefined, verification: BeneficiaryVerificationStatus): AccountVerification;
}

/** The requested course of a payment, stored with its order as JSON. A rail without a simulation never gets one. */
export type Scenario = {
  /** The step that the scenario concerns: SETTLEMENT if omitted. */
  readonly step?: RailStep | undefined;
  /** The duration of the step, in milliseconds, instead of one pace. */
  readonly delayMs?: number | undefined;
  /** The decision on an incoming payment, made in place of the receiving platform. */
  readonly approval?: 'APPROVE' | 'REJECT' | undefined;
  /** The payment fails for this reason. */
  readonly failureReason?: FailureReason | undefined;
  /** The receiving side refuses the payment. */
  readonly reject?: boolean | undefined;
  /** If the payment fails, the money does not come back either. */
  readonly refundFails?: boolean | undefined;
  /** The payment settles, and the bank returns it after this time, in milliseconds. */
  readonly returnAfterMs?: number | undefined;
  /** The deposit for a real-time funded quote: half the amount, the amount twice, or one after the quote's expiry. */
  readonly deposit?: 'SHORT' | 'TWICE' | 'LATE' | undefined;
};

export interface ScenarioFault {
  readonly field: keyof Scenario;
  /** The reason, without the field name. */
  readonly reason: string;
}

/** A simulated deposit. */
export interface Deposit {
  /** The amount in smallest units. */
  readonly amount: bigint;
  /** Whether a second deposit of the same amount arrives with it. */
  readonly twice: boolean;
  /** Whether it counts as arriving after the quote's expiry. */
  readonly late: boolean;
}

export interface AccountVerification {
  /** Null if there is no owner to compare. */
  readonly verification: BeneficiaryVerificationStatus | null;
  /** The owner's name at the bank; null if the bank does not report one. */
  readonly verifiedName: string | null;
}

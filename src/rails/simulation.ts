import type { BeneficiaryVerificationStatus, FailureReason } from '../infra/database/generated/client/client.ts';
import type { RailStep } from './rail-parts.ts';

/** The domain of the receivers and senders that a sandbox simulates (decision 21). No platform has it. */
export const simulatedDomain = 'sandbox.uma.money';

/**
 * The simulation of the outside world for developers: the optional part of the port. A rail that moves real money
 * leaves it out, and every operation that needs it is FORBIDDEN.
 */
export interface Simulation {
  /** Returns what is wrong with the scenario of a caller, as field and reason, or undefined for a usable one. */
  scenarioFault(scenario: Scenario): ScenarioFault | undefined;

  /**
   * Returns the deposit for a real-time funded quote.
   * @param scenario as it was checked, or as it was stored with the quote; null or undefined when there is none
   * @param amount the amount to pay in, in smallest units
   */
  deposit(scenario: unknown, amount: bigint): Deposit;

  /**
   * Returns the decision on an incoming payment that a scenario gives instead of the receiving platform; undefined if
   * the platform decides.
   * @param scenario as it was stored with the order; null or undefined when there is none
   */
  approval(scenario: unknown): 'APPROVE' | 'REJECT' | undefined;

  /** Returns what the sender of a UMA payment says about itself, by field name. */
  senderInformation(umaAddress: string): Readonly<Record<string, string>>;

  /**
   * Returns a verification of the owner of an account, with the name that the bank has. `ownerName` is undefined for a
   * wallet, which has no owner to verify.
   */
  accountVerification(ownerName: string | undefined, verification: BeneficiaryVerificationStatus): AccountVerification;
}

/** The requested course of a payment. Stored with its order as JSON; a rail without simulation never gets one. */
export type Scenario = {
  /** The step that the scenario is about: SETTLEMENT when left out. */
  readonly step?: RailStep | undefined;
  /** The duration of the step, in milliseconds, instead of one pace. */
  readonly delayMs?: number | undefined;
  /** The decision of the receiving platform on an incoming payment, in its place. */
  readonly approval?: 'APPROVE' | 'REJECT' | undefined;
  /** The payment ends FAILED, for this reason. */
  readonly failureReason?: FailureReason | undefined;
  /** The receiving side refuses the payment. */
  readonly reject?: boolean | undefined;
  /** When it fails, the money does not come back either. */
  readonly refundFails?: boolean | undefined;
  /** The payment settles, and the bank returns it so many milliseconds later. */
  readonly returnAfterMs?: number | undefined;
  /** The deposit for a real-time funded quote: half of it, two of it, or one after the expiry of the quote. */
  readonly deposit?: 'SHORT' | 'TWICE' | 'LATE' | undefined;
};

export interface ScenarioFault {
  readonly field: keyof Scenario;
  /** The reason, without the name of the field. */
  readonly reason: string;
}

/** A simulated deposit. */
export interface Deposit {
  /** The amount in smallest units. */
  readonly amount: bigint;
  /** Whether a second one of the same amount comes with it. */
  readonly twice: boolean;
  /** Whether it counts as arriving after the quote's expiry. */
  readonly late: boolean;
}

/** The verification of the owner of an account. */
export interface AccountVerification {
  /** Null if there is no owner to compare. */
  readonly verification: BeneficiaryVerificationStatus | null;
  /** The name of the owner at the bank; null if the bank gives none. */
  readonly verifiedName: string | null;
}

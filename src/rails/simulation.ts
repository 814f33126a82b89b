import type { BeneficiaryVerificationStatus, FailureReason, KycStatus } from '../database/generated/client/client.ts';
import type { RailStep } from './rail-step.ts';

/**
 * What a developer may have the world outside do, where the rail only pretends it: the optional part of the port. A rail
 * that moves real money leaves it out, and everything that is asked of it is FORBIDDEN.
 */
export interface Simulation {
  /** What is wrong with a scenario that a caller gives, as field and reason; undefined when it can be carried out. */
  scenarioFault(scenario: Scenario): ScenarioFault | undefined;

  /**
   * How the deposit for a real-time funded quote arrives.
   * @param scenario as it was checked, or as it was stored with the quote; null or undefined when there is none
   * @param amount what shall arrive, in smallest units
   */
  deposit(scenario: unknown, amount: bigint): Deposit;

  /** What the sender of a UMA payment tells of itself, by field name. */
  senderInformation(umaAddress: string): Readonly<Record<string, string>>;

  /**
   * A verification of an account's owner, with the name that the bank tells for it. `ownerName` is undefined for a wallet,
   * which has no owner to compare.
   */
  accountVerification(ownerName: string | undefined, verification: BeneficiaryVerificationStatus): AccountVerification;

  /** What the identity check of a customer of this name comes to: when it is made, and again when its name changes. */
  identityStatus(name: string | null): KycStatus;
}

/** What shall happen to a payment. Stored with its order as JSON; a rail without simulation never sees one. */
export type Scenario = {
  /** The step that it is about: SETTLEMENT when left out. */
  readonly step?: RailStep | undefined;
  /** How long the step takes, in milliseconds, instead of one pace. */
  readonly delayMs?: number | undefined;
  /** It ends FAILED, for this reason. */
  readonly failureReason?: FailureReason | undefined;
  /** The receiving side refuses it. */
  readonly reject?: boolean | undefined;
  /** When it fails, the money does not come back either. */
  readonly refundFails?: boolean | undefined;
  /** It settles, and is returned by the bank so many milliseconds later. */
  readonly returnAfterMs?: number | undefined;
  /** How the deposit for a real-time funded quote arrives: half of it, two of it, or after the quote's expiry. */
  readonly deposit?: 'SHORT' | 'TWICE' | 'LATE' | undefined;
};

export interface ScenarioFault {
  readonly field: keyof Scenario;
  /** Why, in words that name no field. */
  readonly reason: string;
}

/** How a simulated deposit arrives. */
export interface Deposit {
  /** In smallest units. */
  readonly amount: bigint;
  /** A second one of the same amount comes with it. */
  readonly twice: boolean;
  /** It comes as if the quote had expired. */
  readonly late: boolean;
}

export interface AccountVerification {
  /** Null where there is no owner to compare. */
  readonly verification: BeneficiaryVerificationStatus | null;
  /** The owner's name at the bank; null where the bank tells none. */
  readonly verifiedName: string | null;
}

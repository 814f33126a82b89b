import { z } from 'zod';
import { FailureReason } from '../../infra/database/generated/client/client.ts';
import type { RailStep } from '../rail-parts.ts';
import type { Deposit, Scenario, ScenarioFault } from '../simulation.ts';

/** The maximum duration that a scenario may give to a step, in milliseconds: an hour. */
const maxMs = 3_600_000;

const duration = z.int().min(0).max(maxMs).optional();

const scenarioSchema = z.object({
  step: z.enum(['PAY_REQUEST', 'PULL', 'SETTLEMENT']).optional(),
  delayMs: duration,
  approval: z.enum(['APPROVE', 'REJECT']).optional(),
  failureReason: z.enum(FailureReason).optional(),
  reject: z.boolean().optional(),
  refundFails: z.boolean().optional(),
  returnAfterMs: duration,
  deposit: z.enum(['SHORT', 'TWICE', 'LATE']).optional(),
} satisfies Record<keyof Scenario, z.ZodType>);

/** Returns the scenario if it is for this step of its payment; an empty one if it is for another step. */
export function scenarioAt(step: RailStep, value: unknown): Scenario {
  const scenario = readScenario(value);
  return (scenario.step ?? 'SETTLEMENT') === step ? scenario : {};
}

/** Reads a scenario from a caller or from the database; an empty one if there is none. */
function readScenario(value: unknown): Scenario {
  return value === null || value === undefined ? {} : scenarioSchema.parse(value);
}

/** Returns what is wrong with a scenario, or undefined. */
export function scenarioFault(scenario: Scenario): ScenarioFault | undefined {
  const { step, delayMs, failureReason, reject, refundFails, returnAfterMs } = scenario;
  for (const [field, ms] of [
    ['delayMs', delayMs],
    ['returnAfterMs', returnAfterMs],
  ] as const) {
    if (!duration.safeParse(ms).success) return { field, reason: `a time must be between 0 and ${maxMs} ms` };
  }
  if (step === 'PAY_REQUEST' || step === 'PULL') {
    const requested = { reject, refundFails, returnAfterMs };
    const unfit = (['reject', 'refundFails', 'returnAfterMs'] as const).find((field) => requested[field] !== undefined);
    if (unfit) return { field: unfit, reason: `this belongs to the step SETTLEMENT, not to ${step}` };
  }
  if (reject && failureReason) return { field: 'reject', reason: 'a payment can be rejected or fail, not both' };
  if (refundFails && !failureReason) return { field: 'refundFails', reason: 'refundFails needs a failureReason' };
  if (returnAfterMs !== undefined && (failureReason || reject)) {
    return { field: 'returnAfterMs', reason: 'only a payment that settles can be returned' };
  }
  return undefined;
}

/** Returns the decision that a stored scenario makes on an incoming payment, if any. */
export function simulatedApproval(scenario: unknown): Scenario['approval'] {
  return readScenario(scenario).approval;
}

/** Returns the simulated deposit of `amount` (smallest units) for a scenario from a caller or from the database. */
export function simulatedDeposit(scenario: unknown, amount: bigint): Deposit {
  const { deposit } = readScenario(scenario);
  const short = deposit === 'SHORT' && amount > 1n;
  return { amount: short ? amount / 2n : amount, twice: deposit === 'TWICE', late: deposit === 'LATE' };
}

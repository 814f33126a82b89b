import { z } from 'zod';
import { FailureReason } from '../../database/generated/client/client.ts';
import type { RailStep } from '../rail.ts';

/** The longest that a scenario may let a step take: an hour. */
const maxMs = 3_600_000;

const duration = z.int().min(0).max(maxMs).optional();

/**
 * What the sandbox is asked to do to one order, for what the documented suffixes cannot say. Stored with the order; a
 * real rail ignores it.
 */
const scenarioSchema = z.object({
  /** The step that it is about: SETTLEMENT when left out. */
  step: z.enum(['PAY_REQUEST', 'PULL', 'SETTLEMENT']).optional(),
  /** How long the step takes, in milliseconds, instead of one pace. */
  delayMs: duration,
  /** It ends FAILED, for this reason. */
  failureReason: z.enum(FailureReason).optional(),
  /** The receiving side refuses it. */
  reject: z.boolean().optional(),
  /** When it fails, the money does not come back either. */
  refundFails: z.boolean().optional(),
  /** It settles, and is returned by the bank so many milliseconds later. */
  returnAfterMs: duration,
  /** How the deposit for a real-time funded quote arrives: half of it, two of it, or after the quote's expiry. */
  deposit: z.enum(['SHORT', 'TWICE', 'LATE']).optional(),
});

export type SandboxScenario = z.infer<typeof scenarioSchema>;

/** What a scenario asks of one step of its payment; nothing where it is about another. */
export function scenarioAt(step: RailStep, value: unknown): SandboxScenario {
  const scenario = readScenario(value);
  return (scenario.step ?? 'SETTLEMENT') === step ? scenario : {};
}

/** The scenario in a stored or given value; none when there is none. */
export function readScenario(value: unknown): SandboxScenario {
  return value === null || value === undefined ? {} : scenarioSchema.parse(value);
}

/** What is wrong with a scenario that a caller gives, as field and reason, or undefined. */
export function scenarioFault(value: object): { readonly field: string; readonly reason: string } | undefined {
  const issue = scenarioSchema.safeParse(value).error?.issues[0];
  if (issue) return { field: issue.path.join('.'), reason: `must lie between 0 and ${maxMs}` };
  const { step, failureReason, reject, refundFails, returnAfterMs } = readScenario(value);
  if (step === 'PAY_REQUEST' || step === 'PULL') {
    const unfit = Object.entries({ reject, refundFails, returnAfterMs }).find(([, asked]) => asked !== undefined);
    if (unfit) return { field: unfit[0], reason: `is of the step SETTLEMENT, not of ${step}` };
  }
  if (reject && failureReason) return { field: 'reject', reason: 'goes without failureReason' };
  if (refundFails && !failureReason) return { field: 'refundFails', reason: 'goes with failureReason' };
  if (returnAfterMs !== undefined && (failureReason || reject)) {
    return { field: 'returnAfterMs', reason: 'is of a payment that settles' };
  }
  return undefined;
}

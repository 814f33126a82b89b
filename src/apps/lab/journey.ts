import { firstSteps } from './first-steps.ts';
import { furtherSteps } from './further-steps.ts';
import type { Step } from './step.ts';

/** The steps of a first day with the service. Each has a tab, with a document that is ready to be sent. */
export const journey: readonly Step[] = [...firstSteps, ...furtherSteps];

export function stepOf(operation: string | null | undefined): Step | undefined {
  return journey.find((step) => step.operation === operation);
}

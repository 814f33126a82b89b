import { Refusal } from '../../core/refusal.ts';
import type { Tenant } from '../../core/tenant.ts';
import type { RailStep } from '../../rails/rail.ts';
import { readScenario, type SandboxScenario, scenarioFault } from '../../rails/sandbox/scenario.ts';

export { readScenario, type SandboxScenario };

/** A scenario as a door hands it on: what is null is not asked for. */
export type GivenScenario = { readonly [K in keyof SandboxScenario]?: SandboxScenario[K] | null };

/** How a simulated deposit arrives. */
export interface Deposit {
  readonly amount: bigint;
  /** A second one of the same amount comes with it. */
  readonly twice: boolean;
  /** It comes as if the quote had expired. */
  readonly late: boolean;
}

/** The deposit of `amount` (smallest units) as a scenario has it arrive. */
export function depositOf(scenario: Pick<SandboxScenario, 'deposit'>, amount: bigint): Deposit {
  const short = scenario.deposit === 'SHORT' && amount > 1n;
  return {
    amount: short ? amount / 2n : amount,
    twice: scenario.deposit === 'TWICE',
    late: scenario.deposit === 'LATE',
  };
}

/**
 * What a payment's order keeps of the scenario that its caller asked for, or null. `step`: what the payment goes through
 * before its settlement, if anything.
 * @throws Refusal FORBIDDEN (production), INVALID_INPUT naming the field
 */
export function checkScenario(
  tenant: Tenant,
  scenario: GivenScenario | null | undefined,
  { deposit = false, step }: { readonly deposit?: boolean; readonly step?: RailStep | undefined } = {},
): SandboxScenario | null {
  if (scenario === null || scenario === undefined) return null;
  if (tenant.environment !== 'SANDBOX') throw new Refusal('FORBIDDEN', 'only sandbox platforms have scenarios');
  const given = Object.fromEntries(
    Object.entries(scenario).filter(([, value]) => value !== null && value !== undefined),
  );
  const fault = scenarioFault(given);
  if (fault) {
    const field = fault.field ? `sandboxScenario.${fault.field}` : 'sandboxScenario';
    throw new Refusal('INVALID_INPUT', `${field} ${fault.reason}`, { field });
  }
  if ('deposit' in given && !deposit) {
    throw new Refusal('INVALID_INPUT', 'there is no deposit here: it is for real-time funded quotes', {
      field: 'sandboxScenario.deposit',
    });
  }
  const checked = given as SandboxScenario;
  checkStep(checked, step);
  return checked;
}

/**
 * Refuses a scenario for a step that its payment does not have: every payment has its settlement, and some a step before.
 * @throws Refusal INVALID_INPUT
 */
export function checkStep(scenario: SandboxScenario | null, step?: RailStep): void {
  if (!scenario?.step || scenario.step === 'SETTLEMENT' || scenario.step === step) return;
  throw new Refusal('INVALID_INPUT', `this payment has no step ${scenario.step}`, { field: 'sandboxScenario.step' });
}

import { type SandboxScenario, scenarioFault } from '../rails/sandbox/scenario.ts';
import type { Tenant } from './command.ts';
import { Refusal } from './refusal.ts';

export type { SandboxScenario };

/** A scenario as a door hands it on: what is null is not asked for. */
export type GivenScenario = { readonly [K in keyof SandboxScenario]?: SandboxScenario[K] | null };

/**
 * What a payment's order keeps of the scenario that its caller asked for, or null.
 * @throws Refusal FORBIDDEN (production), INVALID_INPUT naming the field
 */
export function checkScenario(tenant: Tenant, scenario: GivenScenario | null | undefined): SandboxScenario | null {
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
  return given as SandboxScenario;
}

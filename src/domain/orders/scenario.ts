import { invalid, pathsIn } from '../../core/refusal.ts';
import type { Tenant } from '../../core/tenant.ts';
import type { FailureReason } from '../../infra/database/generated/client/client.ts';
import type { RailStep, Scenario } from '../../rails/rail-parts.ts';
import { type Payments, simulationOf } from '../commands/command.ts';

/** A scenario as passed on by an API, where null means omitted. */
export type GivenScenario = { readonly [K in keyof Scenario]?: Scenario[K] | null };

const at = pathsIn<{ readonly sandboxScenario: Scenario }>();

/** The possible failure reasons for a payment funded by a deposit (specification 2.6, 7.1). */
const depositFailures: readonly FailureReason[] = ['QUOTE_EXPIRED', 'QUOTE_EXECUTION_FAILED'];

/**
 * Validates a caller's scenario and returns it as stored with the order, or null. `deposit`: whether a deposit funds
 * the payment. `approval`: whether a platform decides on it. `step`: the step that the payment has before settlement,
 * if any.
 * @throws Refusal FORBIDDEN (its rail simulates nothing), INVALID_INPUT with the path of the field
 */
export function checkScenario(
  payments: Payments,
  tenant: Tenant,
  scenario: GivenScenario | null | undefined,
  {
    deposit,
    approval,
    step,
  }: { readonly deposit?: boolean; readonly approval?: boolean; readonly step?: RailStep } = {},
): Scenario | null {
  if (scenario === null || scenario === undefined) return null;
  const simulation = simulationOf(payments, tenant);
  const requested = Object.fromEntries(Object.entries(scenario).filter(([, value]) => value != null)) as Scenario;
  const fault = simulation.scenarioFault(requested);
  if (fault) throw invalid(fault.reason, at('sandboxScenario', fault.field));
  if (requested.deposit !== undefined && !deposit) {
    const message = 'this payment has no deposit: use `deposit` only for real-time funded quotes';
    throw invalid(message, at('sandboxScenario', 'deposit'));
  }
  if (requested.approval !== undefined && !approval) {
    const message = 'this payment needs no approval: use `approval` only for incoming payments from UMA addresses';
    throw invalid(message, at('sandboxScenario', 'approval'));
  }
  if (deposit && requested.failureReason && !depositFailures.includes(requested.failureReason)) {
    const message = `a payment funded by a deposit can only fail with ${depositFailures.join(' or ')}`;
    throw invalid(message, at('sandboxScenario', 'failureReason'));
  }
  checkStep(requested, step);
  return requested;
}

/** Refuses a scenario for a step that the payment does not have before its settlement. @throws Refusal INVALID_INPUT */
export function checkStep(scenario: Scenario | null, step?: RailStep): void {
  if (!scenario?.step || scenario.step === 'SETTLEMENT' || scenario.step === step) return;
  throw invalid(`this payment has no step ${scenario.step}`, at('sandboxScenario', 'step'));
}

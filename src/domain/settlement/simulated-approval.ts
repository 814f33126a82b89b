import type { Postponement } from '../../infra/database/leases.ts';
import { platformItself } from '../access/platform-itself.ts';
import { type Decision, decideUnlessDecided } from '../approvals/approvals.ts';
import { connectedRail, type Payments } from '../commands/command.ts';
import type { DueOrder } from '../orders/orders.ts';

/** Returns the decision on an incoming payment that its order's scenario makes instead of its platform, if any. */
export function simulatedDecision(
  payments: Payments,
  order: Pick<DueOrder, 'platformId' | 'environment' | 'scenario'>,
) {
  return connectedRail(payments, order)?.simulation?.approval(order.scenario);
}

const decisions: Readonly<Record<'APPROVE' | 'REJECT', Decision>> = {
  APPROVE: { kind: 'approve' },
  REJECT: { kind: 'reject', reason: 'sandbox scenario' },
};

/**
 * Decides on a waiting incoming payment as its scenario specifies, if it does. A decision that was made earlier stands.
 * @returns when to process the order again: at once after a decision
 */
export async function decideBySimulation(payments: Payments, order: DueOrder, leftMs: number): Promise<Postponement> {
  const decision = simulatedDecision(payments, order);
  if (!decision) return { lease: order, dueInMs: leftMs };
  await decideUnlessDecided(payments, platformItself(order), order.transaction.id, decisions[decision]);
  return { lease: order, dueInMs: 0 };
}

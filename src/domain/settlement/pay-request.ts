import type { Postponement } from '../../infra/database/leases.ts';
import { platformItself } from '../access/platform-itself.ts';
import { type Decision, decideUnlessDecided } from '../approvals/approvals.ts';
import { connectedRail, type Payments } from '../commands/command.ts';
import type { PlanGroup, TransactionMove } from '../ledger/plan.ts';
import { type DueOrder, wholeMs } from '../orders/orders.ts';
import type { CredibleOutcome } from './cases.ts';

// An incoming UMA payment in CREATED (specification 3.2): its sender has looked up the receiver, but not sent its pay
// request yet. When the request arrives, the payment becomes PENDING, and the approval period begins. If it does not
// arrive within the lifetime of a quote, the payment expires.

/** Returns the time left for the pay request, in milliseconds by the database's clock. */
function leftMs(payments: Payments, order: DueOrder): number {
  return payments.quoteSeconds * 1_000 - order.ageMs;
}

/** Plans the expiry of a payment whose sender did not send the pay request in time. */
export function planPayRequestExpiry(payments: Payments, order: DueOrder): PlanGroup | undefined {
  if (leftMs(payments, order) > 0) return undefined;
  return planMove(order, null, { to: 'EXPIRED', reason: 'the sender did not send the pay request in time' });
}

/** Plans the transition after the rail's answer: CREATED → PENDING, CREATED → FAILED, or another query later. */
export function concludePayRequest(
  payments: Payments,
  order: DueOrder,
  outcome: CredibleOutcome,
): PlanGroup | Postponement {
  switch (outcome.kind) {
    case 'pending':
      return { lease: order, dueInMs: Math.min(wholeMs(outcome.checkInMs), leftMs(payments, order)) };
    case 'settled':
      return planMove(order, simulatedDecision(payments, order) ? 0 : payments.approvalMs, {
        to: 'PENDING',
        reason: 'awaits approval by the platform',
        approvalInMs: payments.approvalMs,
      });
    default: {
      const failureReason = (outcome.kind === 'failed' && outcome.failureReason) || 'PAY_REQUEST_FAILED';
      return planMove(order, null, { to: 'FAILED', reason: outcome.explanation, set: { failureReason } });
    }
  }
}

function planMove(order: DueOrder, dueInMs: number | null, to: Omit<TransactionMove, 'id' | 'from'>): PlanGroup {
  const { platformId, id, transaction } = order;
  const transactions: TransactionMove[] = [{ id: transaction.id, from: ['CREATED'], ...to }];
  return [{ platformId, plan: { orders: [{ id, dueInMs }], transactions } }];
}

/** Returns the decision that an incoming payment's scenario makes in place of the platform, if any. */
export function simulatedDecision(
  payments: Payments,
  order: Pick<DueOrder, 'platformId' | 'environment' | 'scenario'>,
) {
  return connectedRail(payments, order)?.simulation?.approval(order.scenario);
}

/** Makes the decision that a waiting payment's scenario specifies, if any. An earlier decision remains in force. */
export async function decideBySimulation(payments: Payments, order: DueOrder, leftMs: number): Promise<Postponement> {
  const simulated = simulatedDecision(payments, order);
  if (!simulated) return { lease: order, dueInMs: leftMs };
  const decision: Decision =
    simulated === 'APPROVE' ? { kind: 'approve' } : { kind: 'reject', reason: 'sandbox scenario' };
  await decideUnlessDecided(payments, platformItself(order), order.transaction.id, decision);
  return { lease: order, dueInMs: 0 };
}

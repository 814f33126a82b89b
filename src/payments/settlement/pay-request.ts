import type { PlanGroup, TransactionMove } from '../../ledger/plan.ts';
import type { RailOutcome } from '../../rails/rail.ts';
import type { Payments } from '../command.ts';
import { type DueOrder, type Postponement, wholeMs } from '../orders/orders.ts';

/**
 * An incoming UMA payment in CREATED (specification 3.2): its sender has looked the receiver up, and its pay request has
 * not come. No money is under way and the platform has not been asked; when the request comes the payment is PENDING, and
 * only then the time for the approval begins. A request that does not come within the life of a quote lets it expire.
 */

/** How much longer the pay request may take, in milliseconds of the database's clock. */
function leftMs(payments: Payments, order: DueOrder): number {
  return payments.quoteSeconds * 1_000 - order.ageMs;
}

/** Whether the time for the pay request is over. */
export function payRequestIsLate(payments: Payments, order: DueOrder): boolean {
  return leftMs(payments, order) <= 0;
}

/** CREATED → EXPIRED. */
export function payRequestExpired(order: DueOrder): PlanGroup {
  return moved(order, null, { to: 'EXPIRED', reason: 'the pay request of its sender did not come in time' });
}

/** What the rail's word on the pay request means: CREATED → PENDING, CREATED → FAILED, or to be asked about again. */
export function payRequestConcluded(
  payments: Payments,
  order: DueOrder,
  outcome: RailOutcome,
): PlanGroup | Postponement {
  switch (outcome.kind) {
    case 'pending':
      return { order, dueInMs: Math.min(wholeMs(outcome.checkInMs), leftMs(payments, order)) };
    case 'settled':
      return moved(order, payments.approvalMs, {
        to: 'PENDING',
        reason: 'waits for the approval of the platform',
        approvalInMs: payments.approvalMs,
      });
    case 'failed':
    case 'rejected':
    case 'returned': {
      const failureReason = (outcome.kind === 'failed' && outcome.failureReason) || 'PAY_REQUEST_FAILED';
      return moved(order, null, { to: 'FAILED', reason: outcome.explanation, set: { failureReason } });
    }
  }
}

function moved(order: DueOrder, dueInMs: number | null, to: Omit<TransactionMove, 'id' | 'from'>): PlanGroup {
  const { platformId, id, transaction } = order;
  const transactions: TransactionMove[] = [{ id: transaction.id, from: ['CREATED'], ...to }];
  return [{ platformId, plan: { orders: [{ id, dueInMs }], transactions } }];
}

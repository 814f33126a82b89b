import type { ApprovalRequired } from '../ledger/commit.ts';
import type { Plan } from '../ledger/plan.ts';
import { reservation } from './movements.ts';

/**
 * Converts the plan of a payment into one that awaits approval: the payment is CREATED, and its money is taken from the
 * account only if a policy reserves it. Its order is due at the deadline; the rail learns nothing of it before the
 * approval. A transfer to an internal account, which has no order, gets one as a timer. A quote that a deposit will
 * execute has its own expiry.
 */
export function waitingPlan(plan: Plan, { dueAt, dueInMs, reserves }: ApprovalRequired): Plan {
  const { insert = {}, spend, quotes, journals = [] } = plan;
  if (!spend) throw new Error('only a payment can wait for an approval');
  const { transactionId: id } = spend;
  const reason = 'awaits approval';
  const [row, arrival] = insert.transaction ?? [];
  const awaitsDeposit = insert.quote !== undefined && quotes === undefined;
  const [
    order = arrival && { platformId: arrival.platformId, id: arrival.id, transactionId: id, kind: 'PAYOUT' as const },
  ] = insert.rail_order ?? [];
  const set = plan.transactions?.find((move) => move.id === id)?.set;
  return {
    ...plan,
    spend: { ...spend, waits: true },
    insert: {
      ...(insert.quote && { quote: insert.quote }),
      ...(row && {
        transaction: [
          {
            ...row,
            status: 'CREATED',
            statusReason: reason,
            approvalDueAt: new Date(dueAt),
            expectedSettlementAt: null,
          },
        ],
      }),
      ...(order && !awaitsDeposit && { rail_order: [{ ...order, dueInMs }] }),
    },
    transactions: row
      ? []
      : [{ id, from: ['PENDING'], to: 'CREATED', reason, approvalInMs: dueInMs, ...(set && { set }) }],
    journals: reserves ? journals.filter(({ transactionId }) => transactionId === id).map(reservation) : [],
  };
}

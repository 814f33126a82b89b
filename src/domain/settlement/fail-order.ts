import { publicId } from '../../core/ids.ts';
import { retryLostRaces } from '../../infra/database/retry.ts';
import { inTransaction } from '../../infra/database/transaction.ts';
import { type Operator, type RefusedByHand, recordAct, refusedByHand } from '../access/operator-acts.ts';
import type { Payments } from '../commands/command.ts';
import { commitGroupsOn, type PlanRefusal } from '../ledger/commit.ts';
import type { PlanGroup } from '../ledger/plan.ts';
import { type DueOrder, isPull } from '../orders/orders.ts';
import { askWithoutSending, endedMeanwhile, withOrder } from './order-by-hand.ts';
import { planFailure } from './outcomes.ts';
import { concludeWithoutCredit, isCreditRefused } from './refused-credit.ts';

/**
 * Ends an order by hand whose rail can no longer report its outcome (decision 80). The payment ends as when the rail refuses
 * it: its money is back at its source. No API offers this: only the operators' command does.
 */

/** The outcome. `said`: the rail's answer; undefined where it was not asked. */
export type FailedOrder =
  | { readonly kind: 'failed'; readonly orderId: string; readonly said: string | undefined }
  | RefusedByHand;

/** The decision of an operator. */
export interface ByHand {
  readonly operator: Operator;
  /** Whether to skip asking the rail once more: it is gone, or does not answer. */
  readonly withoutAsking: boolean;
}

/**
 * Ends the order of a payment that waits for its rail. Takes the order's lease, so no worker processes it in the meantime.
 * @param id the payment: `Transaction:…`
 */
export async function failOrder(payments: Payments, id: string, byHand: ByHand): Promise<FailedOrder> {
  return withOrder(payments, id, (order) => failLeased(payments, order, byHand));
}

async function failLeased(payments: Payments, order: DueOrder, byHand: ByHand): Promise<FailedOrder> {
  const id = publicId('Transaction', order.transaction.id);
  if (!isPull(order) && waitsForPlatform(order)) {
    return refusedByHand(`${id} has no order at a rail: it awaits the decision of the receiving platform`);
  }
  const open = await payments.database.prisma.railCase.findFirst({
    where: { platformId: order.platformId, orderId: order.id, closedAt: null },
  });
  if (open) {
    return refusedByHand(`the rail has reported: ${open.said}. Resolve and close the case of ${id} first`);
  }
  const answer = byHand.withoutAsking ? undefined : await askOnceMore(payments, order);
  if (answer && 'reason' in answer) return answer;
  return end(payments, order, { ...byHand, said: answer?.said });
}

function waitsForPlatform({ receiver, incoming }: DueOrder): boolean {
  if (!incoming) return receiver !== undefined;
  return incoming.transaction.approvalDueAt !== null && incoming.transaction.status === 'PENDING';
}

/**
 * Asks the rail once more, by the method that sends nothing if it has one.
 * @returns what it reported, where it does not know the outcome; else why the order is not ended by hand
 */
async function askOnceMore(payments: Payments, order: DueOrder): Promise<{ readonly said: string } | RefusedByHand> {
  const answer = await askWithoutSending(payments, order);
  if (answer.kind === 'refused') {
    return refusedByHand(`${answer.reason}. --without-asking ends the order anyway`);
  }
  const { outcome } = answer;
  if (!outcome) return { said: 'the provider has no such payment' };
  const explanation = 'explanation' in outcome ? ` (${outcome.explanation})` : '';
  switch (outcome.kind) {
    case 'pending':
      return { said: 'pending' };
    case 'settled':
      return refusedByHand('the rail reports that it has settled: the workers are booking it');
    case 'contradiction':
      return refusedByHand(`the rail contradicts itself${explanation}: investigate with the provider`);
    case 'failed':
    case 'rejected':
    case 'returned':
      return refusedByHand(`the rail reports ${outcome.kind}${explanation}: the workers are ending the payment`);
  }
}

/** The explanation for platforms. The operator's reason is in the act, and no API shows it (decision 79). */
const reasonForTimeline = 'ended by the operator of the service: the outcome could not be determined';

/** Commits the end, the act and, where the account of the refund is full, its wait in suspense. */
async function end(
  payments: Payments,
  order: DueOrder,
  { operator, said }: ByHand & { readonly said: string | undefined },
): Promise<FailedOrder> {
  const commit = (group: PlanGroup) =>
    retryLostRaces(() =>
      inTransaction(payments.database, async (act): Promise<PlanRefusal | undefined> => {
        const [outcome] = await commitGroupsOn(act.client, [group]);
        if (outcome?.kind === 'refused') return outcome.refusal;
        const { platformId, transaction } = order;
        const before = {
          order: order.id,
          status: transaction.status,
          attempts: order.attempts - 1,
          said: said ?? null,
        };
        const subject = publicId('Transaction', transaction.id);
        await recordAct(act, operator, { platformId, subject, before, after: { status: 'FAILED' } });
        return undefined;
      }),
    );
  const group = planFailure(order, { to: 'FAILED', reason: reasonForTimeline });
  let refused = await commit(group);
  if (refused && isCreditRefused(refused)) {
    refused = await commit(
      (await concludeWithoutCredit(payments, { order, outcome: undefined, group }, refused)).group,
    );
  }
  if (!refused) return { kind: 'failed', orderId: order.id, said };
  return endedMeanwhile(refused);
}

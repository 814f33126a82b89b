import type { PlanRefusal } from '../../ledger/commit.ts';
import type { Journal, Plan, PlanGroup } from '../../ledger/plan.ts';
import type { RailOutcome } from '../../rails/rail.ts';
import type { Payments } from '../command.ts';
import { suspension } from '../movements.ts';
import type { DueOrder } from '../orders/orders.ts';
import { railAnswer } from '../orders/rail-answer.ts';
import { railRequest } from '../orders/rail-request.ts';
import { delivered, failed, flowOf } from './outcomes.ts';

/** What came of an order: what its rail said, if it was asked, and the plans that this means. */
export interface Concluded {
  readonly order: DueOrder;
  readonly outcome: RailOutcome | undefined;
  readonly group: PlanGroup;
}

/**
 * What an order comes to where the database refused its outcome because the balance of an account would pass its bound
 * (check_balance.sql). Money that does not fit is given back: what was collected by the rail, what was debited here by a
 * refund. A refund that does not fit either, which takes a thousand of them, waits in suspense. Each of these asks less of
 * the accounts than the one before and the last asks nothing, so an order always ends.
 * @throws what the rail throws that is to give money back
 */
export async function concludedOtherwise(
  payments: Payments,
  { order, outcome, group }: Concluded,
  refusal: Extract<PlanRefusal, { code: 'AMOUNT_OUT_OF_RANGE' }>,
): Promise<Concluded> {
  if (group.some(({ plan }) => plan.journals?.some(isRefund))) {
    payments.log.error({ order: order.id, refusal }, 'a refund waits in suspense: its account cannot take it');
    return { order, outcome, group: refundSuspended(order, group) };
  }
  if (outcome?.kind === 'settled' && isShareOnly(order, refusal.id)) {
    // Delivered all the same: the service keeps the part of the fees that the platform's account cannot take.
    payments.log.error({ order: order.id, refusal }, "the platform's fee was not paid: its account cannot take it");
    const without = { ...order, platformAccount: undefined };
    return { order: without, outcome, group: delivered(without, outcome.watchMs) };
  }
  // The sender reads this, who may be another platform's: the account and what it holds are the receiver's.
  const reason = `the receiving account may hold at most ${refusal.limit} (smallest units); the money went back to its source`;
  if (order.kind === 'COLLECTION') await giveBack(payments, order);
  return { order, outcome, group: failed(order, { to: 'FAILED', reason }) };
}

/** Has the rail give back what it has collected: until it is known to do so, the payment does not end. */
async function giveBack(payments: Payments, order: DueOrder): Promise<void> {
  const rail = payments.rails[order.environment];
  if (!rail) throw new Error(`no rail is connected for ${order.environment}`);
  await railAnswer(rail.giveBack(railRequest(order, true)));
}

/** Whether an account takes part in a payment only by the platform's part of its fees. */
function isShareOnly({ platformAccount, destination, incoming }: DueOrder, accountId: string): boolean {
  return platformAccount?.id === accountId && ![destination?.id, incoming?.destination?.id].includes(accountId);
}

/** The same end of the payment, with its refund in suspense, as where the rail has not given the money back. */
function refundSuspended(order: DueOrder, group: PlanGroup): PlanGroup {
  return group.map(({ platformId, plan }) => ({ platformId, plan: suspended(order, plan) }));
}

function suspended(order: DueOrder, plan: Plan): Plan {
  return {
    ...plan,
    journals: plan.journals?.map((journal) => (isRefund(journal) ? suspension(flowOf(order)) : journal)) ?? [],
    transactions:
      plan.transactions?.map((move) =>
        move.set?.refundReference
          ? {
              ...move,
              refundWaits: true,
              reason: `${move.reason}; the refund waits in suspense until its account can take it`,
            }
          : move,
      ) ?? [],
  };
}

function isRefund({ kind }: Journal): boolean {
  return kind === 'refund';
}

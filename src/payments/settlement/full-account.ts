import type { PlanRefusal } from '../../ledger/commit.ts';
import type { Journal, Plan, PlanGroup } from '../../ledger/plan.ts';
import type { RailOutcome } from '../../rails/rail.ts';
import { type Payments, railOf } from '../command.ts';
import { suspension } from '../movements.ts';
import type { DueOrder } from '../orders/orders.ts';
import { railAnswer } from '../orders/rail-answer.ts';
import { railRequest } from '../orders/rail-request.ts';
import { inMajor } from '../plan-refusals.ts';
import { flowOf, planDelivery, planFailure } from './outcomes.ts';

/** The conclusion of an order: the answer of its rail, if it was asked, and the plans that follow. */
export interface Conclusion {
  readonly order: DueOrder;
  readonly outcome: RailOutcome | undefined;
  readonly group: PlanGroup;
}

/**
 * Concludes an order again after the database refused its outcome, because the balance of an account would pass its
 * bound (check_balance.sql). Money that does not fit is given back: by the rail what it collected, by a refund what was
 * debited here. A refund that does not fit either, which takes a thousand of them, waits in suspense. Each of these
 * needs less capacity than the one before, and the last needs none, so an order always ends.
 * @throws what the rail throws when it is asked to give money back
 */
export async function concludeWithoutCapacity(
  payments: Payments,
  { order, outcome, group }: Conclusion,
  refusal: Extract<PlanRefusal, { code: 'AMOUNT_OUT_OF_RANGE' }>,
): Promise<Conclusion> {
  if (group.some(({ plan }) => plan.journals?.some(isRefund))) {
    payments.log.error({ order: order.id, refusal }, 'a refund waits in suspense: its account cannot take it');
    return { order, outcome, group: suspendRefund(order, group) };
  }
  if (outcome?.kind === 'settled' && isShareOnly(order, refusal.id)) {
    // Delivered nevertheless: the service keeps the part of the fees that the account of the platform cannot take.
    payments.log.error({ order: order.id, refusal }, "the platform's fee was not paid: its account cannot take it");
    const withoutShare = { ...order, platformAccount: undefined };
    return { order: withoutShare, outcome, group: planDelivery(withoutShare, outcome) };
  }
  // The sender, perhaps of another platform, reads this. So it does not show the account of the receiver or its
  // balance.
  const reason = `the receiving account may hold at most ${inMajor(refusal.limit, refusal.currency)}; the money went back to its source`;
  if (order.kind === 'COLLECTION') await giveBack(payments, order);
  return { order, outcome, group: planFailure(order, { to: 'FAILED', reason }) };
}

/** Asks the rail to give back what it has collected. The payment does not end until this succeeds. */
async function giveBack(payments: Payments, order: DueOrder): Promise<void> {
  await railAnswer(railOf(payments, order, 'giveBack').giveBack(railRequest(order, true)));
}

/** Tells whether an account takes part in a payment only as the account for the fees of the platform. */
function isShareOnly({ platformAccount, destination, incoming }: DueOrder, accountId: string): boolean {
  return platformAccount?.id === accountId && ![destination?.id, incoming?.destination?.id].includes(accountId);
}

/** Returns the same end of the payment with its refund in suspense, as if the rail had not given the money back. */
function suspendRefund(order: DueOrder, group: PlanGroup): PlanGroup {
  return group.map(({ platformId, plan }) => ({ platformId, plan: suspendPlanRefund(order, plan) }));
}

function suspendPlanRefund(order: DueOrder, plan: Plan): Plan {
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

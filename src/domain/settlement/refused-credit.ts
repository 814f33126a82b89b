import type { RailOutcome } from '../../rails/rail.ts';
import { type Payments, railOf } from '../commands/command.ts';
import { suspension } from '../commands/movements.ts';
import { inMajor } from '../commands/plan-refusals.ts';
import type { PlanRefusal } from '../ledger/commit.ts';
import type { Journal, Plan, PlanGroup } from '../ledger/plan.ts';
import type { DueOrder } from '../orders/orders.ts';
import { railAnswer } from '../orders/rail-answer.ts';
import { railRequest } from '../orders/rail-request.ts';
import { flowOfOrder, planDelivery, planFailure } from './outcomes.ts';

/** The conclusion of an order: its rail's answer, if it was queried, and the plans that follow. */
export interface Conclusion {
  readonly order: DueOrder;
  readonly outcome: RailOutcome | undefined;
  readonly group: PlanGroup;
}

/** A credit that the database refused: the balance would exceed its limit, or the customer is deleted. */
type CreditRefusal = Extract<PlanRefusal, { code: 'AMOUNT_OUT_OF_RANGE' | 'CUSTOMER_DELETED' }>;

/** Returns whether a plan was refused because an account cannot receive a credit. */
export function isCreditRefused(refusal: PlanRefusal): refusal is CreditRefusal {
  return refusal.code === 'AMOUNT_OUT_OF_RANGE' || refusal.code === 'CUSTOMER_DELETED';
}

/**
 * Concludes an order again after the database refused its outcome because an account cannot receive the money
 * (check_balances.sql). The money is returned: by the rail if it was collected, by a refund if an internal account was
 * debited. If the refund cannot be credited either, it waits in suspense for an operator: the customer has been
 * deleted, or the balance would exceed even the limit for refunds. Each of these outcomes credits less than the one
 * before, and the last credits nothing, so an order always ends.
 * @throws whatever the rail throws when it is asked to return money
 */
export async function concludeWithoutCredit(
  payments: Payments,
  { order, outcome, group }: Conclusion,
  refusal: CreditRefusal,
): Promise<Conclusion> {
  if (group.some(({ plan }) => plan.journals?.some(isRefund))) {
    payments.log.error({ order: order.id, refusal }, 'a refund waits in suspense: the account cannot receive it');
    return { order, outcome, group: suspendRefund(order, group) };
  }
  if (outcome?.kind === 'settled' && isShareOnly(order, refusal.id)) {
    // The payment is delivered anyway: the service keeps the part of the fees that the platform's account cannot
    // receive.
    payments.log.error({ order: order.id, refusal }, "the platform's fee was not paid: the account cannot receive it");
    const withoutShare = { ...order, platformAccount: undefined };
    return { order: withoutShare, outcome, group: planDelivery(withoutShare, outcome) };
  }
  // The sender, who may be on a different platform, reads this, so it reveals neither the receiver's account nor its
  // balance.
  const why =
    refusal.code === 'CUSTOMER_DELETED'
      ? 'the receiving customer is deleted'
      : `the receiving account may hold at most ${inMajor(refusal.limit, refusal.currency)}`;
  const reason = `${why}; the money went back to its source`;
  if (order.kind === 'COLLECTION') await giveBack(payments, order);
  return { order, outcome, group: planFailure(order, { to: 'FAILED', reason }) };
}

/** Asks the rail to refund a collection. The payment does not end until this succeeds. */
async function giveBack(payments: Payments, order: DueOrder): Promise<void> {
  await railAnswer(railOf(payments, order, 'giveBack').giveBack(railRequest(order, true)));
}

/** Returns whether an account takes part in a payment only as the platform's account for fees. */
function isShareOnly({ platformAccount, destination, incoming }: DueOrder, accountId: string): boolean {
  return platformAccount?.id === accountId && ![destination?.id, incoming?.destination?.id].includes(accountId);
}

/** Returns the same end of the payment, but with its refund in suspense, as if the rail had not returned the money. */
function suspendRefund(order: DueOrder, group: PlanGroup): PlanGroup {
  return group.map(({ platformId, plan }) => ({ platformId, plan: suspendPlanRefund(order, plan) }));
}

function suspendPlanRefund(order: DueOrder, plan: Plan): Plan {
  return {
    ...plan,
    journals: plan.journals?.map((journal) => (isRefund(journal) ? suspension(flowOfOrder(order)) : journal)) ?? [],
    transactions:
      plan.transactions?.map((move) =>
        move.set?.refundReference
          ? {
              ...move,
              refundWaits: true,
              reason: `${move.reason}; the account cannot receive the refund, which waits in suspense`,
            }
          : move,
      ) ?? [],
  };
}

function isRefund({ kind }: Journal): boolean {
  return kind === 'refund';
}

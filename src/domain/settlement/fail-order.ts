import { publicId } from '../../core/ids.ts';
import { type Operator, RefusedByHand } from '../access/operator-acts.ts';
import type { Payments } from '../commands/command.ts';
import { type DueOrder, isPull } from '../orders/orders.ts';
import { askWithoutSending, commitByHand, endedMeanwhile, withOrder } from './order-by-hand.ts';
import { planFailure } from './outcomes.ts';
import { concludeWithoutCredit, isCreditRefused } from './refused-credit.ts';

/**
 * Ends an order by hand if its rail can no longer report its outcome (decision 80). The payment ends as if the rail had
 * refused it: the money goes back to its source. Not offered by any API, only by the operators' command.
 */

/** The result. `said`: the rail's answer; undefined if it was not queried. */
interface FailedOrder {
  readonly orderId: string;
  readonly said: string | undefined;
}

interface ByHand {
  readonly operator: Operator;
  /** Whether to skip the last query to the rail, because it is gone or does not answer. */
  readonly withoutAsking: boolean;
}

/**
 * Ends the order of a payment that waits for its rail. Takes the order's lease, so that no worker processes it
 * meanwhile.
 * @param id the payment: `Transaction:…`
 * @throws RefusedByHand
 */
export function failOrder(payments: Payments, id: string, { operator, withoutAsking }: ByHand): Promise<FailedOrder> {
  return withOrder(payments, id, async (order) => {
    if (!isPull(order) && waitsForPlatform(order)) {
      throw new RefusedByHand(`${id} has no order at a rail: it awaits the decision of the receiving platform`);
    }
    const where = { platformId: order.platformId, orderId: order.id, closedAt: null };
    const open = await payments.database.prisma.railCase.findFirst({ where });
    if (open) throw new RefusedByHand(`the rail has reported: ${open.said}. Resolve and close the case of ${id} first`);
    const said = withoutAsking ? undefined : await askOnceMore(payments, order);
    await end(payments, order, operator, said);
    return { orderId: order.id, said };
  });
}

function waitsForPlatform({ receiver, incoming }: DueOrder): boolean {
  if (!incoming) return receiver !== undefined;
  return incoming.transaction.approvalDueAt !== null && incoming.transaction.status === 'PENDING';
}

/**
 * Queries the rail once more, with the method that sends nothing if the rail has one.
 * @returns the rail's report, if the rail does not know the outcome
 * @throws RefusedByHand if the rail knows it
 */
async function askOnceMore(payments: Payments, order: DueOrder): Promise<string> {
  const outcome = await askWithoutSending(payments, order, '. --without-asking ends the order anyway');
  if (!outcome) return 'the provider has no such payment';
  const explanation = 'explanation' in outcome ? ` (${outcome.explanation})` : '';
  switch (outcome.kind) {
    case 'pending':
      return 'pending';
    case 'settled':
      throw new RefusedByHand('the rail reports that it has settled: the workers are booking it');
    case 'contradiction':
      throw new RefusedByHand(`the rail contradicts itself${explanation}: investigate with the provider`);
    case 'failed':
    case 'rejected':
    case 'returned':
      throw new RefusedByHand(`the rail reports ${outcome.kind}${explanation}: the workers are ending the payment`);
  }
}

/** The explanation for platforms. The operator's reason is recorded in the act, and no API shows it (decision 79). */
const reasonForTimeline = 'ended by the operator of the service: the outcome could not be determined';

/** Commits the end, the act and, if the refund's account is full, the suspension of the refund. */
async function end(payments: Payments, order: DueOrder, operator: Operator, said: string | undefined): Promise<void> {
  const { platformId, transaction } = order;
  const { status } = transaction;
  const before = { order: order.id, status, attempts: order.attempts - 1, said: said ?? null };
  const facts = { platformId, subject: publicId('Transaction', transaction.id), before, after: { status: 'FAILED' } };
  const group = planFailure(order, { to: 'FAILED', reason: reasonForTimeline });
  let refused = await commitByHand(payments.database, group, operator, facts);
  if (refused && isCreditRefused(refused)) {
    const other = await concludeWithoutCredit(payments, { order, outcome: undefined, group }, refused);
    refused = await commitByHand(payments.database, other.group, operator, facts);
  }
  if (refused) throw endedMeanwhile(refused);
}

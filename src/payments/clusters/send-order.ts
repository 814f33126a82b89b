import { creationTime } from '../../core/ids.ts';
import { statement } from '../../database/statement.ts';
import type { RailOutcome } from '../../rails/rail.ts';
import type { Payments } from '../command.ts';
import type { DueOrder } from '../orders/orders.ts';
import { clusterOfAddress } from './elsewhere.ts';
import { failedThere, type OrderAnswer, type OrderMessage, orderAnswer, paths } from './messages.ts';

/** How long an order under way in another cluster waits until it is asked about again, in milliseconds: at first, and at most. */
const askAgainMs = { first: 200, most: 5_000 } as const;

const noteStatement = statement<object>(
  'note_order_to_cluster',
  `insert into cluster_order as o (platform_id, order_id, direction, cluster, transaction_id, currency, amount, ordered_at)
   values ($1, $2, 'SENT', $3, $4, $5, $6, $7)
   on conflict (platform_id, order_id) do update set cluster = excluded.cluster where o.cluster <> excluded.cluster`,
);

/** Returns the cluster that an order pays to; undefined where it is paid here or by a rail, as what that has locked is. */
export function clusterOfOrder(payments: Payments, order: DueOrder): string | undefined {
  const address =
    order.kind === 'PAYOUT' && !order.receiver && !order.lock ? order.transaction.destinationUmaAddress : null;
  return address === null ? undefined : clusterOfAddress(payments, order, address);
}

/**
 * Sends an order to the cluster of its receiver, or asks what has become of it: the same call, since its id is the idempotency
 * key there. It is noted here before, so that both sides can be compared whatever happens.
 * @param settled whether it has settled before: then another answer means that the payment has come back
 * @throws ClusterFault where nothing is known
 */
export async function sendOrder(
  payments: Payments,
  order: DueOrder,
  cluster: string,
  settled: boolean,
): Promise<RailOutcome> {
  const message = messageOf(order, false);
  if (!message) return { kind: 'rejected', explanation: 'the receiver cannot take this payment' };
  const { platformId, id, transaction } = order;
  const { amount, currency, orderedAt } = message;
  await noteStatement(payments.database.pool, platformId, id, cluster, transaction.id, currency, amount, orderedAt);
  return outcomeOf(await ask(payments, cluster, message), order, settled);
}

/** Asks what has become of an order, and sends nothing. Undefined where the other cluster does not have it. */
export async function findOrderElsewhere(
  payments: Payments,
  order: DueOrder,
  cluster: string,
): Promise<RailOutcome | undefined> {
  const message = messageOf(order, true);
  const answer: OrderAnswer = message ? await ask(payments, cluster, message) : { state: 'UNKNOWN' };
  return answer.state === 'UNKNOWN' ? undefined : outcomeOf(answer, order, false);
}

async function ask({ cluster }: Payments, other: string, message: OrderMessage): Promise<OrderAnswer> {
  if (!cluster) throw new Error('there is no other cluster');
  return orderAnswer.parse(await cluster.calls.call(other, paths.order, message));
}

/** Makes the message of an order. Undefined where its sender has no UMA address, which a receiver must know. */
function messageOf(order: DueOrder, isQuestion: boolean): OrderMessage | undefined {
  const { transaction, sender, environment, id } = order;
  const { destinationUmaAddress: umaAddress, receivedAmount, receivedCurrency: currency, description } = transaction;
  if (sender.umaAddress === undefined || umaAddress === null || receivedAmount === null) return undefined;
  return {
    orderId: id,
    transactionId: transaction.id,
    orderedAt: creationTime(transaction.id).toISOString(),
    ...{ environment, umaAddress, currency, description, isQuestion },
    senderUmaAddress: sender.umaAddress,
    senderInformation: sender.information,
    amount: receivedAmount.toString(),
  };
}

function outcomeOf(answer: OrderAnswer, order: DueOrder, settled: boolean): RailOutcome {
  switch (answer.state) {
    case 'UNKNOWN':
    case 'PENDING':
      return { kind: 'pending', checkInMs: Math.min(askAgainMs.most, askAgainMs.first * 2 ** (order.attempts - 1)) };
    case 'SETTLED': {
      const { currency, amount, information } = answer;
      if (currency === order.transaction.receivedCurrency)
        return { kind: 'settled', amount: BigInt(amount), information };
      return { kind: 'contradiction', explanation: `the other cluster has credited ${amount} in ${currency}` };
    }
    case 'REJECTED':
    case 'FAILED': {
      const { explanation } = answer;
      if (settled) return { kind: 'returned', explanation };
      if (answer.state === 'REJECTED') return { kind: 'rejected', explanation };
      return { kind: 'failed', explanation, failureReason: failedThere };
    }
  }
}

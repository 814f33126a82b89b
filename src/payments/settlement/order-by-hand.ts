import { uuidOf } from '../../core/ids.ts';
import { statement } from '../../database/statement.ts';
import { inTransaction } from '../../database/transaction.ts';
import type { RailOutcome } from '../../rails/rail.ts';
import type { Payments } from '../command.ts';
import { type DueOrder, leaseOrders, postponeOrders, renewLeases } from '../orders/orders.ts';
import { railAnswer } from '../orders/rail-answer.ts';
import { findOrder } from './perform.ts';

/** What commands of operators do with the order of a payment that waits for its rail. */

/** Why nothing was done, in words for the operator. */
export interface RefusedByHand {
  readonly kind: 'refused';
  readonly reason: string;
}

/**
 * Works on the order of a payment under its lease, so that no worker does meanwhile. It is due again afterwards, unless it
 * has its outcome: the workers go on where this was refused.
 * @param id the payment: `Transaction:…`
 */
export async function withOrder<Done>(
  payments: Payments,
  id: string,
  work: (order: DueOrder) => Promise<Done | RefusedByHand>,
): Promise<Done | RefusedByHand> {
  const uuid = uuidOf(id, 'Transaction');
  if (uuid === undefined) return { kind: 'refused', reason: `${id} is no transaction id: Transaction:…` };
  const order = await takeOrder(payments, uuid);
  if (!order) return { kind: 'refused', reason: await whyNone(payments, id, uuid) };
  const leases = renewLeases(payments.database.pool, [order], payments.log);
  try {
    return await work(order);
  } finally {
    await leases.end();
    await postponeOrders(payments.database.pool, [{ lease: order, dueInMs: 0 }]);
  }
}

/**
 * Asks the rail once more, by the part that sends nothing where it has one.
 * @returns undefined where the provider has no such payment
 * @throws whatever keeps it from being asked
 */
export function askWithoutSending(payments: Payments, order: DueOrder): Promise<RailOutcome | undefined> {
  return railAnswer(findOrder(payments, order));
}

const firstStatement = statement<object>(
  'order_first_due',
  `update rail_order o set due_at = '-infinity'
   from platform p join transaction t on t.platform_id = p.id and t.id = $1 and t.status in ('PENDING', 'PROCESSING')
   where o.platform_id = p.id and o.transaction_id = $1 and o.due_at is not null returning o.id`,
);

/**
 * Takes the lease of the order of a payment, also from the worker that has it, whose outcome the database then accepts
 * only before ours. It becomes the first that is due, and is leased in the same transaction, so nobody else leases it. What
 * has ended is left alone: its order may wait for a return of the money.
 */
async function takeOrder({ database }: Payments, transactionId: string): Promise<DueOrder | undefined> {
  return inTransaction(database, async ({ client }) => {
    const found = await firstStatement(client, transactionId);
    const leased = await leaseOrders(client, found.length);
    return leased.find(({ transaction }) => transaction.id === transactionId);
  });
}

async function whyNone({ database }: Payments, id: string, uuid: string): Promise<string> {
  const transaction = await database.prisma.transaction.findFirst({ where: { id: uuid } });
  return transaction ? `${id} is ${transaction.status}: no order of it waits for an outcome` : `there is no ${id}`;
}

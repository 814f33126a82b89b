import { uuidOf } from '../../core/ids.ts';
import type { Database } from '../../infra/database/database.ts';
import { retryLostRaces } from '../../infra/database/retry.ts';
import { statement } from '../../infra/database/statement.ts';
import { inTransaction } from '../../infra/database/transaction.ts';

import { type ActFacts, type Operator, RefusedByHand, recordAct } from '../access/operator-acts.ts';
import type { Payments } from '../commands/command.ts';
import { commitGroupsOn, type PlanRefusal } from '../ledger/commit.ts';
import type { PlanGroup } from '../ledger/plan.ts';
import { type DueOrder, leaseOrders, postponeOrders, renewLeases } from '../orders/orders.ts';
import { railAnswer } from '../orders/rail-answer.ts';
import { findOrder } from '../orders/rail-request.ts';

/**
 * Runs work on the order of a payment under its lease, so that no worker processes it in the meantime. Afterwards the
 * order is due again, unless it has its outcome: if the work was refused, the workers continue with it.
 * @param id the payment: `Transaction:…`
 * @throws RefusedByHand
 */
export async function withOrder<Done>(payments: Payments, id: string, work: (order: DueOrder) => Promise<Done>) {
  const uuid = paymentUuid(id);
  const order = await takeOrder(payments, uuid);
  if (!order) throw new RefusedByHand(await whyNone(payments, id, uuid));
  const leases = renewLeases(payments.database.pool, [order], payments.log);
  try {
    return await work(order);
  } finally {
    await leases.end();
    await postponeOrders(payments.database.pool, [{ lease: order, dueInMs: 0 }]);
  }
}

/**
 * Queries the rail once more, with the method that sends nothing if it has one.
 * @param advice the end of the refusal if the rail cannot be queried
 * @returns undefined if the provider has no such payment
 * @throws RefusedByHand
 */
export async function askWithoutSending(payments: Payments, order: DueOrder, advice = '') {
  try {
    return await railAnswer(findOrder(payments, order));
  } catch (error) {
    payments.log.error({ err: error, order: order.id }, 'could not query the rail once more');
    const reason = error instanceof Error ? error.message : String(error);
    throw new RefusedByHand(`the rail cannot be reached: ${reason}${advice}`);
  }
}

/**
 * Commits an operator's decision together with the act.
 * @returns the database's refusal, if any: then nothing has changed
 */
export function commitByHand(database: Database, group: PlanGroup, operator: Operator, facts: ActFacts) {
  return retryLostRaces(() =>
    inTransaction(database, async (act) => {
      const [outcome] = await commitGroupsOn(act.client, [group]);
      if (outcome?.kind === 'refused') return outcome.refusal;
      await recordAct(act, operator, facts);
      return undefined;
    }),
  );
}

/** Returns the uuid in the public id of a payment. @throws RefusedByHand */
export function paymentUuid(id: string): string {
  const uuid = uuidOf(id, 'Transaction');
  if (uuid === undefined) throw new RefusedByHand(`${id} is not a transaction id (Transaction:…)`);
  return uuid;
}

/** Returns the error for an operator's decision that the database refused. */
export function endedMeanwhile(refusal: PlanRefusal): RefusedByHand {
  const status = refusal.code === 'CONFLICT' ? refusal.status : refusal.code;
  return new RefusedByHand(`nothing done: the order has ended in the meantime (${status})`);
}

const firstStatement = statement<object>(
  'order_first_due',
  `update rail_order o set due_at = '-infinity'
   from platform p join transaction t on t.platform_id = p.id and t.id = $1 and t.status in ('PENDING', 'PROCESSING')
   where o.platform_id = p.id and o.transaction_id = $1 and o.due_at is not null returning o.id`,
);

/**
 * Takes the lease of a payment's order, even from a running worker: the database accepts that worker's outcome only if
 * it arrives before the operator's. One transaction makes the order the first due one and leases it, so that no other
 * process can lease it. An order that has ended is left alone, since it may be waiting for a return of the money.
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
  return transaction ? `${id} is ${transaction.status}: it has no order that awaits an outcome` : `there is no ${id}`;
}

import { publicId, uuidOf } from '../../core/ids.ts';
import type { Database } from '../../infra/database/database.ts';
import { retryLostRaces } from '../../infra/database/retry.ts';
import { statement } from '../../infra/database/statement.ts';
import { inTransaction } from '../../infra/database/transaction.ts';
import { type ActFacts, type Operator, RefusedByHand, recordAct } from '../access/operator-acts.ts';
import type { Payments } from '../commands/command.ts';
import { commitGroupsOn, type PlanRefusal } from '../ledger/commit.ts';
import type { PlanGroup } from '../ledger/plan.ts';
import {
  type DueOrder,
  findOrder,
  isPull,
  leaseOrders,
  postponeOrders,
  railAnswer,
  renewLeases,
} from '../orders/orders.ts';
import { concludeWithoutCredit, isCreditRefused, planFailure } from './outcomes.ts';

/**
 * Runs work on a payment's order under the order's lease, so that no worker processes it in the meantime. Afterwards,
 * the order is due again unless it has its outcome, so that the workers continue with it if the work was refused.
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
 * Queries the rail once more, using the method that sends nothing if the rail has one.
 * @param advice text to append to the refusal if the rail cannot be queried
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

/** Commits an operator's decision together with its record. Returns the database's refusal, if any. */
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

/** Returns the uuid in a payment's public id. @throws RefusedByHand */
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
 * it arrives before the operator's. One transaction makes the order the first that is due and leases it, so that no
 * other process can lease it. An order that has ended is left alone, because its money may still be returned.
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

interface ByHand {
  readonly operator: Operator;
  /** Whether to skip the last query to the rail, because the rail is gone or does not answer. */
  readonly withoutAsking: boolean;
}

/**
 * Ends a payment's order by hand if its rail can no longer report its outcome (decision 80). The payment ends as if the
 * rail had refused it: the money goes back to its source. Not offered by any API, only by the operators' command.
 * @param id the payment: `Transaction:…`
 * @returns the order, and the rail's answer (`said`), which is undefined if the rail was not queried
 * @throws RefusedByHand
 */
export function failOrder(payments: Payments, id: string, { operator, withoutAsking }: ByHand) {
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

function waitsForPlatform({ receiverCustomerId, incoming }: DueOrder): boolean {
  if (!incoming) return receiverCustomerId !== null;
  return incoming.transaction.approvalDueAt !== null && incoming.transaction.status === 'PENDING';
}

/** Returns the rail's last report. @throws RefusedByHand if the rail knows the outcome */
async function askOnceMore(payments: Payments, order: DueOrder): Promise<string> {
  const outcome = await askWithoutSending(payments, order, '. --without-asking ends the order anyway');
  if (!outcome) return 'the provider has no such payment';
  switch (outcome.kind) {
    case 'pending':
      return 'pending';
    case 'settled':
      throw new RefusedByHand('the rail reports that it has settled: the workers are booking it');
    case 'contradiction':
      throw new RefusedByHand(`the rail contradicts itself (${outcome.explanation}): investigate with the provider`);
    default: {
      const said = `${outcome.kind} (${outcome.explanation})`;
      throw new RefusedByHand(`the rail reports ${said}: the workers are ending the payment`);
    }
  }
}

/**
 * The explanation for platforms. The operator's reason is recorded with the action, and no API shows it (decision 79).
 */
const reasonForTimeline = 'ended by the operator of the service: the outcome could not be determined';

/** Commits the order's end, the operator's action and, if the refund's account is full, the refund's suspension. */
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

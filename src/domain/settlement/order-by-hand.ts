import { publicId, uuidOf } from '../../core/ids.ts';
import type { Database } from '../../infra/database/database.ts';
import type { Prisma } from '../../infra/database/generated/client/client.ts';
import { retryLostRaces } from '../../infra/database/retry.ts';
import type { Transaction } from '../../infra/database/rows.ts';
import { statement } from '../../infra/database/statement.ts';
import { inTransaction } from '../../infra/database/transaction.ts';
import { type ActFacts, type Operator, RefusedByHand, recordAct } from '../access/operator-acts.ts';
import type { Payments } from '../commands/command.ts';
import { flowOf, lockOf, refund, resumption } from '../commands/movements.ts';
import { idAt } from '../commands/parties.ts';
import { fullAccount } from '../commands/plan-refusals.ts';
import { commitGroupsOn, type PlanRefusal } from '../ledger/commit.ts';
import { mergePlans, type Plan, type PlanGroup } from '../ledger/plan.ts';
import {
  type DueOrder,
  findOrder,
  isPull,
  leaseOrders,
  postponeOrders,
  railAnswer,
  renewLeases,
} from '../orders/orders.ts';
import { betweenAccounts, newTransaction } from '../transfers/transfers.ts';
import { concludeWithoutCredit, isCreditRefused, planFailure } from './outcomes.ts';

/**
 * Runs `work` on a payment's order under the order's lease, so that no worker processes it in the meantime. If the
 * order still has no outcome afterwards, it is due again, and the workers continue with it.
 * @param id the payment: `Transaction:…`
 * @throws RefusedByHand
 */
export async function withOrder<Done>(payments: Payments, id: string, work: (order: DueOrder) => Promise<Done>) {
  const uuid = paymentUuid(id);
  const order = await takeOrder(payments, uuid);
  if (!order) {
    const ended = await payments.database.prisma.transaction.findFirst({ where: { id: uuid } });
    const why = ended ? `${id} is ${ended.status}: it has no order that awaits an outcome` : `there is no ${id}`;
    throw new RefusedByHand(why);
  }
  const leases = renewLeases(payments.database.pool, [order], payments.log);
  try {
    return await work(order);
  } finally {
    await leases.end();
    await postponeOrders(payments.database.pool, [{ lease: order, dueInMs: 0 }]);
  }
}

/**
 * Queries the rail once more. If the rail has `findOrder`, the order is not sent again.
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
 * Takes the lease on a payment's order, even from a running worker. The database then accepts only the first outcome,
 * whether the worker's or the operator's. One transaction moves the order to the front of the queue and leases it, so
 * that no other process can lease it first. An order that has ended is left alone, because its money may still be
 * returned.
 */
async function takeOrder({ database }: Payments, transactionId: string): Promise<DueOrder | undefined> {
  return inTransaction(database, async ({ client }) => {
    const found = await firstStatement(client, transactionId);
    const leased = await leaseOrders(client, found.length);
    return leased.find(({ transaction }) => transaction.id === transactionId);
  });
}

interface ByHand {
  readonly operator: Operator;
  /** Whether to skip the last query to a rail that is gone or does not answer. */
  readonly withoutAsking: boolean;
}

/**
 * Ends a payment's order by hand if its rail can no longer report the outcome. The payment ends as if the rail had
 * refused it, and the money goes back to its source. Not offered by any API, only by the operators' command.
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
  if (outcome.kind === 'pending') return outcome.kind;
  if (outcome.kind === 'settled')
    throw new RefusedByHand('the rail reports that the payment has settled: the workers are booking it');
  const { kind, explanation } = outcome;
  throw new RefusedByHand(
    kind === 'contradiction'
      ? `the rail contradicts itself (${explanation}): investigate with the provider`
      : `the rail reports ${kind} (${explanation}): the workers are ending the payment`,
  );
}

/** The explanation for platforms. The operator's reason is recorded with the action, and no API shows it. */
const reasonForTimeline = 'ended by the operator of the service: the outcome could not be determined';

/** Commits the order's end and the operator's action. A refund that the account cannot receive goes to suspense. */
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

// Money that was neither delivered nor returned is held in SUSPENSE, and an operator must find out where it is. Once
// the rail's provider has returned it, the operator releases it and the refund is paid.

/** A refund that is or was in suspense. Amounts are in the currency's smallest unit. */
export interface SuspendedRefund {
  readonly platformId: string;
  readonly platformName: string;
  readonly transaction: Transaction;
  readonly rateLock: Prisma.JsonValue;
  readonly refundAccountId: string;
  /**
   * Null unless the customer is deleted. `accountId` is the platform's account to which the money is forwarded, or null
   * if the platform has none in the refund's currency. `ids` are for the two transactions that forward it.
   */
  readonly onward: { readonly accountId: string | null; readonly ids: readonly string[] } | null;
  readonly wasSuspended: boolean;
}

/** The result of a release. `paid-before`: the refund had already been paid, and nothing was done. */
interface Release {
  readonly kind: 'paid' | 'paid-before';
  readonly suspended: SuspendedRefund;
  readonly settledAt: Date;
}

/** The columns of a refund to the internal source account or, if the source is external, to its owner's account. */
const columns = `t.platform_id, p.name as platform_name, to_jsonb(t) as transaction,
  (select o.rate_lock from rail_order o where o.platform_id = t.platform_id and o.transaction_id = t.id and o.kind = 'PAYOUT') as rate_lock,
  (select f.id from account f left join account s on s.platform_id = t.platform_id and s.id = t.source_account_id
   where f.platform_id = t.platform_id and f.kind = 'INTERNAL' and f.currency = t.sent_currency
     and (f.id = s.id or s.kind is distinct from 'INTERNAL'
       and f.customer_id is not distinct from case when s.id is null then t.customer_id else s.customer_id end)) as refund_account_id,
  (select json_build_object('accountId', (select f.id from account f where f.platform_id = t.platform_id and f.kind = 'INTERNAL'
       and f.customer_id is null and f.currency = t.sent_currency), 'ids', array[uuid_v7(), uuid_v7()])
   from customer c where c.platform_id = t.platform_id and c.id = t.customer_id and c.is_deleted) as onward,
  exists (select from journal j where j.platform_id = t.platform_id and j.transaction_id = t.id and j.kind = 'suspension') as was_suspended`;

/** Lists the refunds in suspense. */
export const listSuspense = statement<SuspendedRefund>(
  'refunds_in_suspense',
  `select ${columns} from transaction t join platform p on p.id = t.platform_id
   where t.refund_reference is not null and t.refund_settled_at is null order by t.refund_initiated_at, t.id`,
  { transaction: 'Transaction' },
);

const refundStatement = statement<SuspendedRefund>(
  'refund_of_transaction',
  `select ${columns} from platform p join transaction t on t.platform_id = p.id and t.id = $1`,
  { transaction: 'Transaction' },
);

/**
 * Pays the refund of a payment whose money is in suspense. A deleted customer's refund is forwarded to the
 * platform's own account, because no money stays with a deleted customer. A second release, even a concurrent one,
 * finds that the refund has been paid, and does nothing. Not offered by any API.
 * @throws RefusedByHand
 */
export async function releaseSuspense(database: Database, transactionId: string, operator: Operator): Promise<Release> {
  const uuid = paymentUuid(transactionId);
  const [suspended] = await refundStatement(database.pool, uuid);
  if (!suspended) throw new RefusedByHand(`there is no ${transactionId}`);
  const { transaction } = suspended;
  if (!suspended.wasSuspended) {
    throw new RefusedByHand(`${transactionId} is ${transaction.status} and has nothing in suspense`);
  }
  if (transaction.refundSettledAt) return { kind: 'paid-before', suspended, settledAt: transaction.refundSettledAt };
  if (suspended.onward && suspended.onward.accountId === null) {
    throw new RefusedByHand(`the customer is deleted, and the platform has no account in ${transaction.sentCurrency}`);
  }
  const refused = await payRefund(database, suspended, operator);
  // The customer was deleted in the meantime, so the refund must be forwarded.
  if (refused?.code === 'CUSTOMER_DELETED' && !suspended.onward)
    return releaseSuspense(database, transactionId, operator);
  if (refused?.code === 'AMOUNT_OUT_OF_RANGE')
    throw new RefusedByHand(`nothing done: ${fullAccount(refused)}; it has ${refused.balance}`);
  const [released] = await refundStatement(database.pool, uuid);
  if (!released?.transaction.refundSettledAt) throw new Error(`the refund of ${transactionId} was not paid`);
  const settledAt = released.transaction.refundSettledAt;
  // If the refund was refused, another release has paid it in the meantime.
  return { kind: refused ? 'paid-before' : 'paid', suspended: released, settledAt };
}

/** Pays the refund, and records the operator's action. A refusal by the database leaves everything unchanged. */
function payRefund(database: Database, suspended: SuspendedRefund, operator: Operator) {
  const { platformId, transaction, refundAccountId, onward } = suspended;
  const flow = flowOf(transaction, refundAccountId, lockOf(suspended.rateLock));
  const { id, status } = transaction;
  const reason = 'the money was returned; the refund is paid';
  const paid: Plan = {
    transactions: [{ id, from: [status], to: status, reason, paysRefund: true }],
    journals: [resumption(flow), refund(flow)],
  };
  const subject = publicId('Transaction', id);
  const after = {
    account: publicId('InternalAccount', refundAccountId),
    ...(onward?.accountId && { passedOnTo: publicId('InternalAccount', onward.accountId) }),
    amount: String(transaction.refundAmount),
    currency: transaction.sentCurrency,
  };
  const group = [{ platformId, plan: mergePlans(paid, planOnward(suspended)) }];
  return commitByHand(database, group, operator, { platformId, subject, after });
}

function planOnward({ platformId, transaction, refundAccountId, onward }: SuspendedRefund): Plan {
  const { id, sentAmount: amount, sentCurrency: currency, customerId } = transaction;
  if (!onward?.accountId || amount === null || currency === null) return {};
  const from = { id: refundAccountId, currency };
  const to = { id: onward.accountId, currency, customerId: null };
  const description = `refund of ${publicId('Transaction', id)}, whose customer is deleted`;
  const row = { type: 'OUTGOING', from, to, amount, customerId, description, metadata: null } as const;
  return betweenAccounts(newTransaction({ platformId }, onward, row), idAt(onward, 1), { from, to, amount });
}

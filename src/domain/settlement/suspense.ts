import { publicId } from '../../core/ids.ts';
import type { Database } from '../../infra/database/database.ts';
import type { Prisma } from '../../infra/database/generated/client/client.ts';
import type { Transaction } from '../../infra/database/rows.ts';
import { type Queryable, statement } from '../../infra/database/statement.ts';
import { type Operator, RefusedByHand } from '../access/operator-acts.ts';
import { flowOf, lockOf, refund, resumption } from '../commands/movements.ts';
import { idAt } from '../commands/parties.ts';
import { fullAccount } from '../commands/plan-refusals.ts';
import { mergePlans, type Plan } from '../ledger/plan.ts';
import { betweenAccounts, newTransaction } from '../transfers/transfers.ts';
import { commitByHand, paymentUuid } from './order-by-hand.ts';

// Money that neither arrived nor came back waits in SUSPENSE (decision 34), and an operator must find out where it is.
// Once the rail's provider has returned it, the operator releases it and the refund is paid.

/** A refund that waits or has waited in suspense. Amounts are in smallest units. */
export interface SuspendedRefund {
  readonly platformId: string;
  readonly platformName: string;
  readonly transaction: Transaction;
  readonly rateLock: Prisma.JsonValue;
  readonly refundAccountId: string;
  /** The destination to which the money is forwarded because the customer is deleted; null otherwise. */
  readonly onward: Onward | null;
  readonly wasSuspended: boolean;
}

/** The destination of a deleted customer's money: the customer's platform. */
interface Onward {
  /** The platform's account in the currency; null if it has none. */
  readonly accountId: string | null;
  readonly ids: readonly string[];
}

/** A release's result. `paid-before`: the refund had already been paid, and nothing was done. */
interface Release {
  readonly kind: 'paid' | 'paid-before';
  readonly suspended: SuspendedRefund;
  readonly settledAt: Date;
}

/** The columns of a refund. It goes to the internal account that paid, or else to the source owner's. */
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

const waitingStatement = statement<SuspendedRefund>(
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

export function listSuspense({ pool }: Database): Promise<SuspendedRefund[]> {
  return waitingStatement(pool);
}

/**
 * Pays the refund of a payment whose money waits in suspense. A deleted customer's refund is forwarded to the
 * platform's own account, because no money stays with a deleted customer (decision 36). A second release, even a
 * concurrent one, finds that the refund has been paid, and does nothing. Not offered by any API.
 * @throws RefusedByHand
 */
export async function releaseSuspense(database: Database, transactionId: string, operator: Operator): Promise<Release> {
  const uuid = paymentUuid(transactionId);
  const suspended = await findRefund(database.pool, uuid);
  if (!suspended) throw new RefusedByHand(`there is no ${transactionId}`);
  const { transaction } = suspended;
  if (!suspended.wasSuspended) {
    throw new RefusedByHand(`${transactionId} is ${transaction.status} and has nothing in suspense`);
  }
  if (transaction.refundSettledAt) return { kind: 'paid-before', suspended, settledAt: transaction.refundSettledAt };

  if (suspended.onward && suspended.onward.accountId === null) {
    throw new RefusedByHand(`its customer is deleted, and the platform has no account in ${transaction.sentCurrency}`);
  }

  const refused = await payRefund(database, suspended, operator);
  // The customer was deleted in the meantime.
  if (refused?.code === 'CUSTOMER_DELETED' && !suspended.onward)
    return releaseSuspense(database, transactionId, operator);
  if (refused?.code === 'AMOUNT_OUT_OF_RANGE')
    throw new RefusedByHand(`nothing done: ${fullAccount(refused)}; it has ${refused.balance}`);
  const released = await findRefund(database.pool, uuid);
  if (!released?.transaction.refundSettledAt) throw new Error(`the refund of ${transactionId} was not paid`);
  // Another release has paid it in the meantime.
  const settledAt = released.transaction.refundSettledAt;
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

async function findRefund(on: Queryable, uuid: string): Promise<SuspendedRefund | undefined> {
  const [row] = await refundStatement(on, uuid);
  return row;
}

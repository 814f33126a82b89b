import { type Operator, recordAct } from '../../access/operator-acts.ts';
import { publicId, uuidOf } from '../../core/ids.ts';
import type { Database } from '../../database/database.ts';
import type { Prisma } from '../../database/generated/client/client.ts';
import { retryLostRaces } from '../../database/retry.ts';
import type { Transaction } from '../../database/rows.ts';
import { type Queryable, statement } from '../../database/statement.ts';
import { type Transaction as DatabaseTransaction, inTransaction } from '../../database/transaction.ts';
import { commitPlanOn, type PlanRefusal } from '../../ledger/commit.ts';
import { type Flow, refund, resumption } from '../movements.ts';
import { fullAccount } from '../plan-refusals.ts';
import { lockOf } from '../rate-locks.ts';

/**
 * Money that neither arrived nor came back waits in SUSPENSE (decision 34), and a person must find out where it is.
 * Once the provider of the rail has given it back, the operator releases it and the refund is paid. No API offers this:
 * only the command of the operator does.
 */

/** A refund that waits in suspense, or did. Amounts in smallest units. */
export interface SuspendedRefund {
  readonly platformId: string;
  readonly platformName: string;
  readonly transaction: Transaction;
  /** What the rail had locked for the payment, as its order stores it. */
  readonly rateLock: Prisma.JsonValue;
  /** The internal account that the refund is for. */
  readonly refundAccountId: string;
  /** Whether its money is or was in suspense. */
  readonly wasSuspended: boolean;
}

/** The outcome of a release. `paid-before`: nothing was done now. */
export type Release =
  | { readonly kind: 'paid' | 'paid-before'; readonly suspended: SuspendedRefund; readonly settledAt: Date }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * The columns of a refund. It goes to the internal account that the payment was paid from. Where that is external, it
 * goes to the internal account of its owner in the sent currency.
 */
const columns = `t.platform_id, p.name as platform_name, to_jsonb(t) as transaction,
  (select o.rate_lock from rail_order o where o.platform_id = t.platform_id and o.transaction_id = t.id and o.kind = 'PAYOUT') as rate_lock,
  (select f.id from account f left join account s on s.platform_id = t.platform_id and s.id = t.source_account_id
   where f.platform_id = t.platform_id and f.kind = 'INTERNAL' and f.currency = t.sent_currency
     and (f.id = s.id or s.kind is distinct from 'INTERNAL'
       and f.customer_id is not distinct from case when s.id is null then t.customer_id else s.customer_id end)) as refund_account_id,
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

/** Lists the refunds that wait in suspense, on all platforms, the oldest first. */
export async function listSuspense(database: Database): Promise<SuspendedRefund[]> {
  return waitingStatement(database.pool);
}

/**
 * Pays the refund of a payment whose money waits in suspense. It goes to the internal account that the payment was paid
 * from. For a payment from an external account, it goes to the internal account of the owner in that currency. The
 * journals, the `settledAt` of the refund and the events are one commit. A second release, even a simultaneous one,
 * finds it paid and does nothing.
 */
export async function releaseSuspense(database: Database, transactionId: string, operator: Operator): Promise<Release> {
  const uuid = uuidOf(transactionId, 'Transaction');
  if (uuid === undefined) return { kind: 'refused', reason: `${transactionId} is no transaction id: Transaction:…` };
  const suspended = await findRefund(database.pool, uuid);
  if (!suspended) return { kind: 'refused', reason: `there is no ${transactionId}` };
  const { transaction } = suspended;
  if (!suspended.wasSuspended) {
    return { kind: 'refused', reason: `${transactionId} is ${transaction.status}: nothing of it is in suspense` };
  }
  if (transaction.refundSettledAt) return { kind: 'paid-before', suspended, settledAt: transaction.refundSettledAt };

  const refused = await retryLostRaces(() => inTransaction(database, (act) => payRefund(act, suspended, operator)));
  if (refused?.code === 'AMOUNT_OUT_OF_RANGE')
    return { kind: 'refused', reason: `nothing done: ${fullAccount(refused)}; it has ${refused.balance}` };
  const released = await findRefund(database.pool, uuid);
  if (!released?.transaction.refundSettledAt) throw new Error(`the refund of ${transactionId} was not paid`);
  // Refused: another release has paid it meanwhile.
  return {
    kind: refused ? 'paid-before' : 'paid',
    suspended: released,
    settledAt: released.transaction.refundSettledAt,
  };
}

/** Pays the refund, and writes the act; a refusal by the database changes nothing. */
async function payRefund(
  act: DatabaseTransaction,
  suspended: SuspendedRefund,
  operator: Operator,
): Promise<PlanRefusal | undefined> {
  const { platformId, transaction, refundAccountId } = suspended;
  const flow = flowOf(suspended);
  const outcome = await commitPlanOn(act.client, platformId, {
    transactions: [
      {
        id: transaction.id,
        from: [transaction.status],
        to: transaction.status,
        reason: 'the money was given back; the refund is paid',
        paysRefund: true,
      },
    ],
    journals: [resumption(flow), refund(flow)],
  });
  if (outcome.kind === 'refused') return outcome.refusal;
  const subject = publicId('Transaction', transaction.id);
  const account = publicId('InternalAccount', refundAccountId);
  const after = { account, amount: String(transaction.refundAmount), currency: transaction.sentCurrency };
  await recordAct(act, operator, { platformId, subject, after });
  return undefined;
}

async function findRefund(on: Queryable, uuid: string): Promise<SuspendedRefund | undefined> {
  const [row] = await refundStatement(on, uuid);
  return row;
}

/** Returns the amounts and accounts of the payment that was debited and then suspended. */
function flowOf({ transaction, rateLock, refundAccountId }: SuspendedRefund): Flow {
  const { id, sentAmount, sentCurrency, receivedAmount, receivedCurrency, fees } = transaction;
  if (sentAmount === null || sentCurrency === null || receivedAmount === null) {
    throw new Error(`transaction ${id} lacks one of its sides`);
  }
  return {
    transactionId: id,
    sourceAccountId: refundAccountId,
    sendingCurrency: sentCurrency,
    sent: sentAmount,
    fees: fees ?? 0n,
    platformFee: 0n,
    platformAccountId: undefined,
    receivingCurrency: receivedCurrency,
    received: receivedAmount,
    destinationAccountId: undefined,
    lockedSent: lockOf(rateLock)?.sent,
  };
}

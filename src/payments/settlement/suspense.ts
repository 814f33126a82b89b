import { uuidOf } from '../../core/ids.ts';
import type { Database } from '../../database/database.ts';
import type { Transaction } from '../../database/rows.ts';
import { type Queryable, statement } from '../../database/statement.ts';
import { commitGroups } from '../../ledger/commit.ts';
import { type Flow, refund, resumption } from '../movements.ts';
import { fullAccount } from '../plan-refusals.ts';

/**
 * Money that neither arrived nor came back waits in SUSPENSE (decision 34), and a person must find out where it is. Once the
 * rail's provider has given it back, the operator releases it: the refund is paid. For no API: only the operator's command.
 */

/** A refund that waits, or would. Amounts in smallest units. */
export interface Suspended {
  readonly platformId: string;
  readonly platformName: string;
  readonly transaction: Transaction;
  /** The internal account that the refund is for. */
  readonly refundAccountId: string;
  /** Its money waits in suspense, or did once. */
  readonly wasSuspended: boolean;
}

/** What came of a release. `paid-before`: nothing was done now. */
export type Release =
  | { readonly kind: 'paid' | 'paid-before'; readonly suspended: Suspended; readonly settledAt: Date }
  | { readonly kind: 'refused'; readonly reason: string };

/** The account that a payment was paid from, or, where that is outside, its owner's account here of the currency sent. */
const columns = `t.platform_id, p.name as platform_name, to_jsonb(t) as transaction,
  (select f.id from account f left join account s on s.platform_id = t.platform_id and s.id = t.source_account_id
   where f.platform_id = t.platform_id and f.kind = 'INTERNAL' and f.currency = t.sent_currency
     and (f.id = s.id or s.kind is distinct from 'INTERNAL'
       and f.customer_id is not distinct from case when s.id is null then t.customer_id else s.customer_id end)) as refund_account_id,
  exists (select from journal j where j.platform_id = t.platform_id and j.transaction_id = t.id and j.kind = 'suspension') as was_suspended`;

const waitingStatement = statement<Suspended>(
  'refunds_in_suspense',
  `select ${columns} from transaction t join platform p on p.id = t.platform_id
   where t.refund_reference is not null and t.refund_settled_at is null order by t.refund_initiated_at, t.id`,
  { transaction: 'Transaction' },
);

const oneStatement = statement<Suspended>(
  'refund_of_transaction',
  `select ${columns} from platform p join transaction t on t.platform_id = p.id and t.id = $1`,
  { transaction: 'Transaction' },
);

/** Every refund that waits in suspense, on all platforms, the oldest first. */
export async function listSuspense(database: Database): Promise<Suspended[]> {
  return waitingStatement(database.pool);
}

/**
 * Pays the refund of a payment whose money waits in suspense: to the internal account that it was paid from, or, for a payment
 * from outside, to its owner's internal account of that currency. The journals, the refund's `settledAt` and the events are
 * one commit; a second release, also one at the same time, finds it paid and does nothing.
 */
export async function releaseSuspense(database: Database, transactionId: string): Promise<Release> {
  const uuid = uuidOf(transactionId, 'Transaction');
  if (uuid === undefined) return { kind: 'refused', reason: `${transactionId} is no transaction id: Transaction:…` };
  const suspended = await find(database.pool, uuid);
  if (!suspended) return { kind: 'refused', reason: `there is no ${transactionId}` };
  const { transaction } = suspended;
  if (!suspended.wasSuspended) {
    return { kind: 'refused', reason: `${transactionId} is ${transaction.status}: nothing of it is in suspense` };
  }
  if (transaction.refundSettledAt) return { kind: 'paid-before', suspended, settledAt: transaction.refundSettledAt };

  const errors: unknown[] = [];
  const flow = flowOf(suspended);
  const [refused] = await commitGroups(
    database,
    [
      [
        {
          platformId: suspended.platformId,
          plan: {
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
          },
        },
      ],
    ],
    (error) => errors.push(error),
  );
  if (errors.length > 0) throw errors[0];
  if (refused?.code === 'AMOUNT_OUT_OF_RANGE')
    return { kind: 'refused', reason: `nothing done: ${fullAccount(refused)}; it has ${refused.balance}` };
  const after = await find(database.pool, uuid);
  if (!after?.transaction.refundSettledAt) throw new Error(`the refund of ${transactionId} was not paid`);
  // Refused: somebody else has released it meanwhile.
  return { kind: refused ? 'paid-before' : 'paid', suspended: after, settledAt: after.transaction.refundSettledAt };
}

async function find(on: Queryable, uuid: string): Promise<Suspended | undefined> {
  const [row] = await oneStatement(on, uuid);
  return row;
}

/** What was debited and then suspended. */
function flowOf({ transaction, refundAccountId }: Suspended): Flow {
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
  };
}

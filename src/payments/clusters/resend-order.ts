import { type Operator, recordAct } from '../../access/operator-acts.ts';
import { uuidOf } from '../../core/ids.ts';
import type { Database } from '../../database/database.ts';
import { statement } from '../../database/statement.ts';
import { inTransaction } from '../../database/transaction.ts';

const dueStatement = statement<{ platformId: string; orderId: string }>(
  'resend_cluster_order',
  `update rail_order o set due_at = clock_ms()
   from cluster_order c join transaction t on t.platform_id = c.platform_id and t.id = c.transaction_id
   where c.transaction_id = $1 and c.direction = 'SENT' and t.status = 'COMPLETED'
     and o.platform_id = c.platform_id and o.transaction_id = c.transaction_id and o.kind = 'PAYOUT'
   returning o.platform_id, o.id as order_id`,
);

/**
 * Makes the order of a settled payment due again. The workers send it to its cluster, which credits it where it has lost it, and
 * says that it has settled where it has not. Where it cannot credit it any more, the payment comes back (decision 91).
 * @param transactionId such as `Transaction:…`
 * @returns false where there is no such payment
 */
export async function resendOrder(database: Database, transactionId: string, operator: Operator): Promise<boolean> {
  const uuid = uuidOf(transactionId, 'Transaction');
  if (uuid === undefined) return false;
  return inTransaction(database, async (act) => {
    const [sent] = await dueStatement(act.client, uuid);
    if (!sent) return false;
    const { platformId, orderId } = sent;
    await recordAct(act, operator, { platformId, subject: transactionId, after: { order: orderId } });
    return true;
  });
}

import { type Queryable, statement } from '../../database/statement.ts';

const lockStatement = statement<object>(
  'lock_order',
  'select from rail_order where platform_id = $1 and id = $2 and due_at > clock_timestamp() for update',
);

/** What the lock waited for is read by this statement, and not by the one that locks. */
const wakeStatement = statement<object>(
  'wake_order',
  `update rail_order o set due_at = clock_ms() from transaction t
   where o.platform_id = $1 and o.id = $2 and o.due_at > clock_timestamp()
     and t.platform_id = o.platform_id and t.id = o.transaction_id and ($3 or t.status <> 'COMPLETED')`,
);

/**
 * Makes an order due now that waits for its rail. One that has its outcome, or that nobody knows, stays as it is. So does one
 * that has settled and is asked about once more, unless `alsoSettled` says that it may have come back: the question about it
 * is asked once, and too early it would be answered before the money can have come back.
 * @param on a transaction
 */
export async function wakeOrder(
  on: Queryable,
  { platformId, orderId, alsoSettled }: { platformId: string; orderId: string; alsoSettled: boolean },
): Promise<void> {
  const locked = await lockStatement(on, platformId, orderId);
  if (locked.length > 0) await wakeStatement(on, platformId, orderId, alsoSettled);
}

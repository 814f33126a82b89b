import { type Queryable, statement } from '../../infra/database/statement.ts';

const batchSize = 5_000;

/** Bypasses Prisma, which makes the status a parameter and thereby rules out the partial index (docs/prisma.md). */
const dropStatement = statement<object>(
  'drop_pending_deliveries',
  `update webhook_delivery set status = 'FAILED', next_attempt_at = null, leased_until = null
   where (platform_id, id) in (
     select platform_id, id from webhook_delivery
     where platform_id = $1 and endpoint_id = $2 and status = 'PENDING' limit ${batchSize}
   ) returning 1`,
);

/** Marks a disabled endpoint's pending deliveries as failed. They stay visible and can be replayed. */
export async function dropPending(on: Queryable, platformId: string, endpointId: string): Promise<void> {
  let dropped: object[];
  do {
    dropped = await dropStatement(on, platformId, endpointId);
  } while (dropped.length === batchSize);
}

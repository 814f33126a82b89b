import { type Queryable, statement } from '../../database/statement.ts';

/** How many deliveries one statement gives up: few enough to stay far from the time that a statement has. */
const batch = 5_000;

/** Prisma passes the status as a parameter, and so cannot use the index of what is pending (docs/prisma.md). */
const dropStatement = statement<object>(
  'drop_pending_deliveries',
  `update webhook_delivery set status = 'FAILED', next_attempt_at = null, leased_until = null
   where (platform_id, id) in (
     select platform_id, id from webhook_delivery
     where platform_id = $1 and endpoint_id = $2 and status = 'PENDING' limit ${batch}
   ) returning 1`,
);

/** Gives up what waits for a disabled endpoint: it has failed, which is visible, and can be replayed. */
export async function dropPending(on: Queryable, platformId: string, endpointId: string): Promise<void> {
  let dropped: object[];
  do {
    dropped = await dropStatement(on, platformId, endpointId);
  } while (dropped.length === batch);
}

import type { Database } from '../database/database.ts';
import { statement } from '../database/statement.ts';

/** How many rows one statement deletes: little enough that nobody waits behind it. */
const batch = 500;
/** How long what has been answered, delivered or looked up is kept (decision 6). */
const retentionStart = `clock_timestamp() - interval '30 days'`;

const forgetKeysStatement = statement<{ key: string }>(
  'forget_idempotency_keys',
  `delete from idempotency_record where (platform_id, operation, key) in (
     select platform_id, operation, key from idempotency_record where created_at < ${retentionStart}
     order by created_at limit $1 for update skip locked
   ) returning key`,
);

/** A delivery's id tells when it was made (UUIDv7), so the primary key finds the old ones of each platform. */
const forgetDeliveriesStatement = statement<{ id: string }>(
  'forget_webhook_deliveries',
  `delete from webhook_delivery where (platform_id, id) in (
     select d.platform_id, d.id from platform p cross join lateral (
       select platform_id, id from webhook_delivery w
       where w.platform_id = p.id and w.status <> 'PENDING' and w.leased_until is null
         and w.id < (lpad(to_hex((extract(epoch from ${retentionStart}) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
         and not exists (select from webhook_attempt a where a.platform_id = w.platform_id and a.delivery_id = w.id
                           and a.at >= ${retentionStart})
       order by w.id limit $1 for update skip locked
     ) d limit $1
   ) returning id`,
);

/** A lookup that a quote was made with stays with it. */
const forgetLookupsStatement = statement<{ id: string }>(
  'forget_lookups',
  `delete from lookup where (platform_id, id) in (
     select l.platform_id, l.id from lookup l
     where l.expires_at < ${retentionStart} and not exists (select from quote q where q.platform_id = l.platform_id and q.lookup_id = l.id)
     order by l.expires_at limit $1 for update skip locked
   ) returning id`,
);

/**
 * Deletes some of what has been kept long enough: idempotency records, webhook deliveries that have ended and whose last
 * attempt is as old, with their attempts, and lookups that expired and that no quote was made with. Any number of processes may do it beside each other.
 * @returns whether there may be more
 */
export async function tidyUp({ pool }: Database): Promise<boolean> {
  const keys = await forgetKeysStatement(pool, batch);
  const deliveries = await forgetDeliveriesStatement(pool, batch);
  const lookups = await forgetLookupsStatement(pool, batch);
  return [keys, deliveries, lookups].some((forgotten) => forgotten.length === batch);
}

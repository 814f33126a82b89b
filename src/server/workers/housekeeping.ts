import { resumeKeyLife } from '../../domain/events/resume-points.ts';
import type { Database } from '../../infra/database/database.ts';
import { statement } from '../../infra/database/statement.ts';

/** The maximum number of rows that one statement deletes, so that other statements do not wait long for its locks. */
const batchSize = 500;
/** The SQL for the cutoff time: rows that expired earlier are deleted. */
const retentionStart = `clock_timestamp() - interval '30 days'`;

const deletions = [
  statement<object>(
    'forget_idempotency_keys',
    `delete from idempotency_record where (platform_id, operation, key) in (
     select platform_id, operation, key from idempotency_record where created_at < ${retentionStart}
     order by created_at limit $1 for update skip locked
   ) returning key`,
  ),
  // A delivery's id (UUIDv7) contains its creation time, so the primary key suffices to find old deliveries.
  statement<object>(
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
  ),
  // Deletes expired lookups without a quote. Those without an idempotency key are deleted an hour after they expire.
  statement<object>(
    'forget_lookups',
    `delete from lookup where (platform_id, id) in (
     select l.platform_id, l.id from lookup l
     where l.expires_at < case when l.keyed then ${retentionStart} else clock_timestamp() - interval '1 hour' end
       and l.expires_at < clock_timestamp() and not exists (select from quote q where q.platform_id = l.platform_id and q.lookup_id = l.id)
     order by l.expires_at limit $1 for update skip locked
   ) returning id`,
  ),
  statement<object>(
    'forget_resume_points',
    `delete from resume_point where (platform_id, subject, key) in (
     select platform_id, subject, key from resume_point where seen_at < clock_timestamp() - ${resumeKeyLife}
     limit $1 for update skip locked
   ) returning subject`,
  ),
  // Deletes client tokens and their policies long after the tokens expired, even if they were revoked earlier.
  statement<object>(
    'forget_client_tokens',
    `with token as (delete from client_token where (platform_id, id) in (
     select platform_id, id from client_token where expires_at < ${retentionStart}
     order by expires_at limit $1 for update skip locked
   ) returning platform_id, id),
   gone as (delete from policy p using token t where p.platform_id = t.platform_id and p.subject_id = t.id returning p.platform_id, p.id),
   uses as (delete from policy_use u using gone g where u.platform_id = g.platform_id and u.policy_id = g.id)
   select id from token`,
  ),
  // Deletes records of payments that counted toward a policy, once they are too old for any time window.
  statement<object>(
    'forget_policy_uses',
    `delete from policy_use where (platform_id, transaction_id, policy_id) in (
     select u.platform_id, u.transaction_id, u.policy_id from policy p cross join lateral (
       select * from policy_use u where u.platform_id = p.platform_id and u.policy_id = p.id
         and u.used_at < clock_timestamp() - interval '32 days' order by u.used_at limit $1
     ) u limit $1
   ) returning policy_id`,
  ),
  statement<object>(
    'forget_rail_webhooks',
    `delete from rail_webhook where (platform_id, webhook_id) in (
     select platform_id, webhook_id from rail_webhook where due_at is null and received_at < ${retentionStart}
     order by received_at limit $1 for update skip locked
   ) returning webhook_id`,
  ),
];

/** Deletes a batch of expired rows. Several processes may run it at once. Returns whether there may be more. */
export async function deleteExpired({ pool }: Database): Promise<boolean> {
  let mayBeMore = false;
  for (const deletion of deletions) {
    const { length } = await deletion(pool, batchSize);
    mayBeMore ||= length >= batchSize;
  }
  return mayBeMore;
}

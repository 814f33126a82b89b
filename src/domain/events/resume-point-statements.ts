import { statement } from '../../infra/database/statement.ts';

/** How long a key is valid after its stream was last seen, in SQL. */
export const resumeKeyLife = `interval '1 hour'`;

const keys = 'unnest($2::text[], $3::bytea[], $4::uuid[])';

export const openStatement = statement<{
  key: Buffer;
  position: bigint | null;
  epoch: number | null;
  sent: bigint | null;
  head: bigint;
}>(
  'open_resume_points',
  `update resume_point r set stream_id = was.new_id, sent = null, seen_at = clock_timestamp()
   from (select o.*, w.new_id from ${keys} w(subject, key, new_id)
         join resume_point o on o.platform_id = $1 and o.subject = w.subject and o.key = w.key
         where o.seen_at > clock_timestamp() - ${resumeKeyLife} order by o.subject, o.key for update of o) was
   where r.platform_id = $1 and r.subject = was.subject and r.key = was.key
   returning r.key, was.position, was.epoch, was.sent, coalesce((select sequence from feed_head where platform_id = $1), 0) as head`,
);

export const beginStatement = statement<{ key: Buffer }>(
  'begin_resume_points',
  `insert into resume_point as r (platform_id, subject, key, stream_id, position, epoch)
   select $1, subject, key, stream_id, position,
     (select e.epoch from event e where e.platform_id = $1 and e.sequence = w.position)
   from unnest($2::text[], $3::bytea[], $4::uuid[], $5::bigint[]) w(subject, key, stream_id, position) order by subject, key
   on conflict (platform_id, subject, key) do update
     set stream_id = excluded.stream_id, position = excluded.position, epoch = excluded.epoch, sent = null, seen_at = clock_timestamp()
   returning key`,
);

/**
 * What a client has acknowledged on any of its connections counts. A connection that the client has abandoned may be opened
 * here after its newer one, and so take the key over: what that connection was sent then says nothing about the client.
 */
export const writeStatement = statement<{ key: Buffer }>(
  'write_resume_points',
  `update resume_point r set position = greatest(r.position, w.position), seen_at = clock_timestamp(),
     epoch = case when w.position > coalesce(r.position, -1) then w.epoch else r.epoch end,
     sent = case when r.stream_id = w.stream_id then w.sent else r.sent end
   from unnest($2::text[], $3::bytea[], $4::uuid[], $5::bigint[], $6::int[], $7::bigint[]) w(subject, key, stream_id, position, epoch, sent)
   where r.platform_id = $1 and r.subject = w.subject and r.key = w.key
   returning r.key`,
);

export const endStatement = statement<{ key: Buffer }>(
  'end_resume_points',
  `delete from resume_point r using ${keys} w(subject, key, stream_id)
   where r.platform_id = $1 and r.subject = w.subject and r.key = w.key and r.stream_id = w.stream_id
   returning r.key`,
);

export const limitStatement = statement<{ key: Buffer }>(
  'limit_resume_points',
  `delete from resume_point where (platform_id, subject, key) in (
     select platform_id, subject, key from resume_point where platform_id = $1 and subject = $2
     order by seen_at desc offset $3 for update skip locked
   ) returning key`,
);

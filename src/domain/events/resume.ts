import type { Database } from '../../infra/database/database.ts';
import { statement } from '../../infra/database/statement.ts';
import type { FeedPosition } from './cursor.ts';
import type { Feed } from './feed.ts';
import type { EventFilter, Subject } from './subscribers.ts';

const halfDayMs = 12 * 60 * 60 * 1000;
/** The maximum number of old events to search. A cursor followed by more of them counts as too old. */
const maxSearched = 100_000;

const isOld = (alias: string) => `${alias}.occurred_at < clock_timestamp() - $3::int * interval '1 day'`;

const resumeStatement = statement<{ found: boolean; old: boolean }>(
  'resume_after',
  `select $2::bigint = 0 and $4::int is null
     or exists (select from event where platform_id = $1 and sequence = $2 and epoch is not distinct from $4) as found,
     exists (select from event e where platform_id = $1 and sequence = $2::bigint + 1 and ${isOld('e')}) as old`,
);

const firstIsOld = (of: Subject['of']) =>
  statement<{ old: boolean }>(
    `first_of_${of}_is_old`,
    `select coalesce(bool_or(${isOld('e')}), false) as old from unnest($4::uuid[]) s(id) cross join lateral (
       select occurred_at from event e
       where platform_id = $1 and sequence > $2 and ${of}_id = s.id and ($5::event_type[] is null or type = any($5))
       order by sequence limit 1
     ) e`,
  );
const firstOfSubject = {
  customer: firstIsOld('customer'),
  transaction: firstIsOld('transaction'),
  account: firstIsOld('account'),
};

const oldOfTypes = statement<{ old: boolean }>(
  'old_of_types_after',
  `select coalesce(bool_or(e.type = any($4::event_type[])), false) or count(*) = ${maxSearched} as old
   from event e where platform_id = $1 and sequence > $2 and sequence <= $2::bigint + ${maxSearched} and ${isOld('e')}`,
);

/**
 * Returns whether a stream may resume after this feed position and, if not, why. Events are never deleted, because they
 * are every payment's timeline and audit trail. `retentionDays` only limits what a stream replays: a position is
 * too old if it is followed by an expired event that the stream wants. Without such an event, a stream may resume
 * however old its cursor is. A client with an expired cursor loses nothing: `events(after:)` can still continue from
 * it, page by page. A position that does not exist in the feed counts as undone: the database was restored to an
 * earlier moment, and the stream would skip events recorded since the restore.
 */
export async function mayResume(
  { pool }: Pick<Database, 'pool'>,
  feed: Feed,
  platformId: string,
  after: FeedPosition,
  { subject, types }: Pick<EventFilter, 'subject' | 'types'>,
  retentionDays: number,
): Promise<'yes' | 'tooOld' | 'undone'> {
  // This check allows only half the retention time, because this process's clock may differ from the database's.
  if (feed.isRecent(platformId, after, new Date(Date.now() - retentionDays * halfDayMs))) return 'yes';
  const values = [platformId, after.sequence, retentionDays] as const;
  const [row] = await resumeStatement(pool, ...values, after.epoch);
  if (!row?.found) return 'undone';
  if (!row.old) return 'yes';
  if (!subject && !types) return 'tooOld';
  const [wanted] = subject
    ? await firstOfSubject[subject.of](pool, ...values, subject.ids, types ?? null)
    : await oldOfTypes(pool, ...values, types);
  return wanted?.old ? 'tooOld' : 'yes';
}

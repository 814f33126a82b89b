import type { Database } from '../database/database.ts';
import { statement } from '../database/statement.ts';
import type { Feed } from './feed.ts';

const halfDayMs = 12 * 60 * 60 * 1000;

const resumeStatement = statement<{ ahead: boolean; old: boolean }>(
  'resume_after',
  `select $2::bigint > coalesce((select sequence from feed_head where platform_id = $1), 0) as ahead,
     exists (select from event where platform_id = $1 and sequence = $2::bigint + 1
               and occurred_at < clock_timestamp() - $3::int * interval '1 day') as old`,
);

/**
 * Says whether a stream may resume after this position of the feed. Events are never deleted, since they are the timeline
 * and the audit trail of payments (and append-only in the database); `retentionDays` limits only what a stream replays. A
 * client with an expired cursor loses nothing: `events(after:)` still reads on from it, page by page. A stream cannot
 * resume at a position that the feed has not reached (a database restored from a backup): it would skip the events before.
 */
export async function mayResume(
  database: Database,
  feed: Feed,
  platformId: string,
  sequence: bigint,
  retentionDays: number,
): Promise<boolean> {
  // Half of the time, since this process' clock may differ from the database's.
  if (feed.isRecent(platformId, sequence, new Date(Date.now() - retentionDays * halfDayMs))) return true;
  const [row] = await resumeStatement(database.pool, platformId, sequence.toString(), retentionDays);
  return row !== undefined && !row.ahead && !row.old;
}

import type { Database } from '../database/database.ts';
import { statement } from '../database/statement.ts';

const resumeStatement = statement<{ ahead: boolean; old: boolean }>(
  'resume_after',
  `select $2::bigint > coalesce((select sequence from feed_head where platform_id = $1), 0) as ahead,
     exists (select from event where platform_id = $1 and sequence = $2::bigint + 1
               and occurred_at < clock_timestamp() - $3::int * interval '1 day') as old`,
);

/**
 * Whether a stream may resume after this place in the feed. Events are kept for good, since they are the timeline and the
 * audit trail of payments (and append-only in the database); what `retentionDays` limits is how much a stream replays.
 * So an expired cursor loses nothing: `events(after:)` still reads on from it, page by page. A place that the feed has
 * not reached (a database restored from a backup) cannot be resumed either: waiting for it would skip what comes first.
 */
export async function mayResume(
  database: Database,
  platformId: string,
  sequence: bigint,
  retentionDays: number,
): Promise<boolean> {
  const [row] = await resumeStatement(database.pool, platformId, sequence.toString(), retentionDays);
  return row !== undefined && !row.ahead && !row.old;
}

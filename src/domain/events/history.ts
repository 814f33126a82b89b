import type { Database } from '../../infra/database/database.ts';
import type { Event } from '../../infra/database/generated/client/client.ts';
import type { Feed } from './feed.ts';
import { type FollowedNoun, latestEventsOf } from './row-events.ts';

/** The maximum wait for a committed change to be sequenced, in milliseconds. A few are usually enough. */
const waitMs = 2_000;

/**
 * Returns the latest event of each row, as of one moment, keyed by the ids that the feed uses for the rows. Waits for
 * the events to reach the rows' versions. Omits a row whose events do not arrive in time, because no sequencer runs.
 */
export async function latestEvents(
  database: Pick<Database, 'pool'>,
  feed: Feed,
  platformId: string,
  noun: FollowedNoun,
  versions: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, Event>> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const found = await latestEventsOf(database.pool, platformId, noun, [...versions.keys()]);
    const reached = [...found].filter(([id, { version }]) => (version ?? 0) >= (versions.get(id) ?? 0));
    const leftMs = deadline - Date.now();
    if (reached.length === versions.size || leftMs <= 0) return new Map(reached);
    await feed.waitForChange(Math.min(leftMs, 50));
  }
}

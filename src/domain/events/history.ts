import type { Database } from '../../infra/database/database.ts';
import type { Event } from '../../infra/database/generated/client/client.ts';
import type { Feed } from './feed.ts';
import { type FollowedNoun, latestEventsOf } from './row-events.ts';

/** The maximum wait for a committed change to be sequenced, in milliseconds. A few are usually enough. */
const waitMs = 2_000;

/**
 * Returns the latest event of each row, all as of one moment, by the ids that the feed uses for the rows. Waits for the
 * events to reach the rows' versions. Omits a row whose events are not there in time, because no sequencer runs.
 */
export async function latestEvents(
  database: Pick<Database, 'pool'>,
  feed: Feed,
  platformId: string,
  noun: FollowedNoun,
  versions: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, Event>> {
  const hasReached = ([id, version]: [string, number], found: ReadonlyMap<string, Event>) =>
    (found.get(id)?.version ?? 0) >= version;
  const found = await readUntil(
    feed,
    (events) => [...versions].every((wanted) => hasReached(wanted, events)),
    () => latestEventsOf(database.pool, platformId, noun, [...versions.keys()]),
  );
  return new Map([...found].filter(([id]) => hasReached([id, versions.get(id) ?? 0], found)));
}

/** Reads events, and again whenever the feed grows, until `isComplete` accepts them or time runs out. */
async function readUntil<Found>(feed: Feed, isComplete: (found: Found) => boolean, read: () => Promise<Found>) {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const found = await read();
    const leftMs = deadline - Date.now();
    if (isComplete(found) || leftMs <= 0) return found;
    await feed.waitForChange(Math.min(leftMs, 50));
  }
}

import type { Database } from '../database/database.ts';
import type { Event, EventType, Prisma } from '../database/generated/client/client.ts';
import type { Feed } from './feed.ts';

/** How many milliseconds to wait for a committed change that is not yet sequenced: that usually takes a few. */
const waitMs = 2_000;

export const paymentEvents: EventType[] = ['OUTGOING_PAYMENT', 'INCOMING_PAYMENT'];

/** The version of a transaction that a caller has seen. */
export interface SeenTransaction {
  readonly platformId: string;
  readonly id: string;
  readonly version: number;
}

/**
 * Returns the events of each of these transactions, in order, read together. Each change of a transaction makes one event,
 * so a caller that has seen version 3 gets at least three: the read waits until committed changes are sequenced.
 */
export async function eventsOfTransactions(
  database: Database,
  feed: Feed,
  transactions: readonly SeenTransaction[],
): Promise<Event[][]> {
  const platforms = [...new Set(transactions.map(({ platformId }) => platformId))];
  const ids = [...new Set(transactions.map(({ id }) => id))];
  const eventsOf = (events: readonly Event[], { platformId, id }: SeenTransaction) =>
    events.filter((event) => event.platformId === platformId && event.transactionId === id);
  const events = await readUntil(
    feed,
    (found) => transactions.every((seen) => eventsOf(found, seen).some((event) => event.version >= seen.version)),
    () =>
      database.prisma.event.findMany({
        where: { platformId: { in: platforms }, transactionId: { in: ids }, type: { in: paymentEvents } },
        orderBy: { sequence: 'asc' },
      }),
  );
  return transactions.map((seen) => eventsOf(events, seen));
}

/**
 * Returns the latest event of an object that has reached `version`, and waits until it is sequenced. Undefined when that
 * does not happen in time (no sequencer runs, or that change made no event).
 */
export async function latestEvent(
  database: Database,
  feed: Feed,
  where: Prisma.EventWhereInput,
  version: number,
): Promise<Event | undefined> {
  const [event] = await readUntil(
    feed,
    (found) => found.some((latest) => latest.version >= version),
    () => database.prisma.event.findMany({ where, orderBy: { sequence: 'desc' }, take: 1 }),
  );
  return event && event.version >= version ? event : undefined;
}

/** Reads events, again after each change of the feed, until `isComplete` accepts them or time is up. */
async function readUntil(
  feed: Feed,
  isComplete: (events: readonly Event[]) => boolean,
  read: () => Promise<Event[]>,
): Promise<Event[]> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const events = await read();
    const leftMs = deadline - Date.now();
    if (isComplete(events) || leftMs <= 0) return events;
    await feed.waitForChange(Math.min(leftMs, 50));
  }
}

import type { Database } from '../database/database.ts';
import type { Event, EventType, Prisma } from '../database/generated/client/client.ts';
import type { Feed } from './feed.ts';

/** How long to wait for a change that is committed but has no place in the feed yet: it takes a few milliseconds. */
const waitMs = 2_000;

export const paymentEvents: EventType[] = ['OUTGOING_PAYMENT', 'INCOMING_PAYMENT'];

/** A transaction as a caller has seen it. */
export interface SeenTransaction {
  readonly platformId: string;
  readonly id: string;
  readonly version: number;
}

/**
 * The events of each of these transactions, in order, read together. Each change of a transaction made one, so a caller
 * that has seen version 3 is shown at least three: what is committed but not yet sequenced is waited for, once for all.
 */
export async function eventsOfTransactions(
  database: Database,
  feed: Feed,
  transactions: readonly SeenTransaction[],
): Promise<Event[][]> {
  const platforms = [...new Set(transactions.map(({ platformId }) => platformId))];
  const ids = [...new Set(transactions.map(({ id }) => id))];
  const of = (events: readonly Event[], { platformId, id }: SeenTransaction) =>
    events.filter((event) => event.platformId === platformId && event.transactionId === id);
  const events = await sequenced(
    feed,
    (found) => transactions.every((seen) => of(found, seen).some((event) => event.version >= seen.version)),
    () =>
      database.prisma.event.findMany({
        where: { platformId: { in: platforms }, transactionId: { in: ids }, type: { in: paymentEvents } },
        orderBy: { sequence: 'asc' },
      }),
  );
  return transactions.map((seen) => of(events, seen));
}

/**
 * The last event of a thing that has reached `version`, waited for until it has its place in the feed. Undefined when it
 * gets none in time (no sequencer runs, or that change made no event).
 */
export async function latestEvent(
  database: Database,
  feed: Feed,
  where: Prisma.EventWhereInput,
  version: number,
): Promise<Event | undefined> {
  const [event] = await sequenced(
    feed,
    (found) => found.some((latest) => latest.version >= version),
    () => database.prisma.event.findMany({ where, orderBy: { sequence: 'desc' }, take: 1 }),
  );
  return event && event.version >= version ? event : undefined;
}

/** Reads events until they are all that is wanted, or time is up. */
async function sequenced(
  feed: Feed,
  enough: (events: readonly Event[]) => boolean,
  read: () => Promise<Event[]>,
): Promise<Event[]> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const events = await read();
    const left = deadline - Date.now();
    if (enough(events) || left <= 0) return events;
    await feed.waitForChange(Math.min(left, 50));
  }
}

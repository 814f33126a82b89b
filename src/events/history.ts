import type { Database } from '../database/database.ts';
import type { Event, EventType, Prisma } from '../database/generated/client/client.ts';
import type { Feed } from './feed.ts';

/** How long to wait for a change that is committed but has no place in the feed yet: it takes a few milliseconds. */
const waitMs = 2_000;

export const paymentEvents: EventType[] = ['OUTGOING_PAYMENT', 'INCOMING_PAYMENT'];

/**
 * The events of a transaction, in order. Each of its changes made one, so a caller that has seen version 3 is shown at
 * least three: what is committed but not yet sequenced is waited for.
 */
export function eventsOfTransaction(
  database: Database,
  feed: Feed,
  transaction: { readonly platformId: string; readonly id: string; readonly version: number },
): Promise<Event[]> {
  return sequenced(feed, transaction.version, () =>
    database.prisma.event.findMany({
      where: { platformId: transaction.platformId, transactionId: transaction.id, type: { in: paymentEvents } },
      orderBy: { sequence: 'asc' },
    }),
  );
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
  const [event] = await sequenced(feed, version, () =>
    database.prisma.event.findMany({ where, orderBy: { sequence: 'desc' }, take: 1 }),
  );
  return event && event.version >= version ? event : undefined;
}

/** Reads events until they show `version`, or time is up. */
async function sequenced(feed: Feed, version: number, read: () => Promise<Event[]>): Promise<Event[]> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const events = await read();
    const left = deadline - Date.now();
    if (events.some((event) => event.version >= version) || left <= 0) return events;
    await feed.moved(Math.min(left, 50));
  }
}

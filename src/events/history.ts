import type { Database } from '../database/database.ts';
import type { Event } from '../database/generated/client/client.ts';
import type { Feed } from './feed.ts';

/** How long to wait for a change that is committed but has no place in the feed yet: it takes a few milliseconds. */
const waitMs = 2_000;

/**
 * The events of a transaction, in order. Each of its changes made one, so a caller that has seen version 3 is shown at
 * least three: what is committed but not yet sequenced is waited for.
 */
export async function eventsOfTransaction(
  database: Database,
  feed: Feed,
  transaction: { readonly platformId: string; readonly id: string; readonly version: number },
): Promise<Event[]> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const events = await database.prisma.event.findMany({
      where: {
        platformId: transaction.platformId,
        transactionId: transaction.id,
        type: { in: ['OUTGOING_PAYMENT', 'INCOMING_PAYMENT'] },
      },
      orderBy: { sequence: 'asc' },
    });
    const left = deadline - Date.now();
    if ((events.at(-1)?.version ?? 0) >= transaction.version || left <= 0) return events;
    await feed.moved(Math.min(left, 50));
  }
}

/** The last event of a transaction in the feed, or null when its first has no place yet. */
export function latestEvent(database: Database, platformId: string, transactionId: string): Promise<Event | null> {
  return database.prisma.event.findFirst({
    where: { platformId, transactionId, type: { in: ['OUTGOING_PAYMENT', 'INCOMING_PAYMENT'] } },
    orderBy: { sequence: 'desc' },
  });
}

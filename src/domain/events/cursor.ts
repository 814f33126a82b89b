import type { Cursors } from '../../core/cursors.ts';

/**
 * A position in a platform's feed: an event's sequence number, and the epoch in which it was assigned. After a database
 * restore, a different event may get the same number in a later epoch.
 */
export interface FeedPosition {
  readonly sequence: bigint;
  /** Null before the first restore. */
  readonly epoch: number | null;
}

export const feedStart: FeedPosition = { sequence: 0n, epoch: null };

const feed = 'feed';

/** Returns a feed position as a cursor, for subscriptions, `events`, timelines and `viewer.feedCursor`. */
export function feedCursor(cursors: Cursors, platformId: string, { sequence, epoch }: FeedPosition): string {
  return cursors.write(feed, platformId, epoch === null ? `${sequence}` : `${sequence}:${epoch}`);
}

/** Returns undefined for a malformed cursor or another platform's. The position may no longer exist (`hasPosition`). */
export function positionOf(cursors: Cursors, platformId: string, cursor: string): FeedPosition | undefined {
  const text = cursors.read(feed, platformId, cursor);
  return text === undefined ? undefined : feedPosition(text);
}

export function feedPosition(text: string): FeedPosition {
  const [sequence = '', epoch] = text.split(':');
  return { sequence: BigInt(sequence), epoch: epoch === undefined ? null : Number(epoch) };
}

/** The error for a reader whose latest events were lost in a restore, and for a cursor that refers to a lost event. */
export class EventsUndone extends Error {
  constructor(what = 'the last change that this stream has shown') {
    super(
      `${what} has been undone, because the database was restored from an earlier backup. Read the lists again together with viewer.feedCursor, and subscribe after that cursor.`,
    );
    this.name = 'EventsUndone';
  }
}

/**
 * A position in a platform's feed: the sequence of an event, and the epoch in which the event got it. After a restore of the
 * database another event gets the same sequence, in another epoch (decision 77).
 */
export interface FeedPosition {
  readonly sequence: bigint;
  /** Null before the first restore. */
  readonly epoch: number | null;
}

/** The position before the first event. */
export const feedStart: FeedPosition = { sequence: 0n, epoch: null };

/**
 * Returns the cursor of a position in a platform's feed: the same for subscriptions, `events`, timelines and
 * `viewer.feedCursor`. It contains its platform, so that another platform does not accept it.
 */
export function feedCursor(platformId: string, { sequence, epoch }: FeedPosition): string {
  const end = epoch === null ? '' : `:${epoch}`;
  return Buffer.from(`feed:${platformId.slice(-12)}:${sequence}${end}`).toString('base64url');
}

/** Reads the position in a cursor; undefined when it is malformed or another platform's. The feed may not have it (`hasPosition`). */
export function positionOf(platformId: string, cursor: string): FeedPosition | undefined {
  const parts = /^feed:[0-9a-f]{12}:(0|[1-9]\d{0,17})(?::([1-9]\d{0,9}))?$/.exec(
    Buffer.from(cursor, 'base64url').toString('latin1'),
  );
  if (!parts) return undefined;
  const [, sequence = '', epoch] = parts;
  const position = { sequence: BigInt(sequence), epoch: epoch === undefined ? null : Number(epoch) };
  const isValid = (position.epoch ?? 0) <= maxEpoch && feedCursor(platformId, position) === cursor;
  return isValid ? position : undefined;
}

/** The largest number of an epoch, a 32-bit integer of the database. */
const maxEpoch = 2 ** 31 - 1;

/** The error of a reader whose events have been undone, and of a cursor that names one of them. */
export class EventsUndone extends Error {
  constructor(what = 'the last change that this stream has shown') {
    super(
      `${what} has been undone, because the database was restored from an earlier backup. Read the lists again together with viewer.feedCursor, and subscribe after that cursor.`,
    );
    this.name = 'EventsUndone';
  }
}

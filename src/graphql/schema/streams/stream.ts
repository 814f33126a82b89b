import type { GraphQLError } from 'graphql';
import type { Viewer } from '../../../access/viewer.ts';
import { maySeeEvent } from '../../../access/visible.ts';
import type { Event, Prisma } from '../../../database/generated/client/client.ts';
import { mapChannel, only } from '../../../events/channel.ts';
import { feedCursor, sequenceOf } from '../../../events/cursor.ts';
import { feedHead } from '../../../events/feed.ts';
import { latestEvent } from '../../../events/history.ts';
import { mayResume } from '../../../events/resume.ts';
import type { EventFilter, Subject } from '../../../events/subscribers.ts';
import type { Context } from '../../context.ts';
import { failure, invalidInput } from '../../failure.ts';

/**
 * The one mechanism behind every subscription. All read the same feed; they differ in which events they want and how
 * they show one. Whatever is asked for, only events that the caller may see pass.
 */

type After = string | null | undefined;

/** The argument that every stream has. */
export const afterDescription =
  'A cursor of the feed: only what came after it, each change once and in order, and no present state first. One that is too old is refused with CURSOR_EXPIRED.';

/**
 * The place behind `after`, or undefined where none is given.
 * @throws GraphQLError INVALID_INPUT for what is not a cursor of this feed, CURSOR_EXPIRED for a place too far back
 */
async function sequenceAfter(after: After, context: Context): Promise<bigint | undefined> {
  if (after === null || after === undefined) return undefined;
  const { platformId } = context.viewer;
  const sequence = sequenceOf(platformId, after);
  if (sequence === undefined) throw invalidInput('after is not a cursor of this feed', 'after');
  if (await mayResume(context.payments.database, platformId, sequence, context.retentionDays)) return sequence;
  throw failure(
    'CURSOR_EXPIRED',
    `after is further back than a stream replays (${context.retentionDays} days). To miss nothing, page through events(after:) from it and subscribe after the last cursor; or read the lists anew together with viewer.feedCursor and subscribe after that.`,
    { field: 'after' },
  );
}

/** A stream over many things: the next change and all that follow, or with `after` all that followed that. */
export async function watchMany<Update>(
  context: Context,
  after: After,
  filter: EventFilter,
  toUpdate: (event: Event) => Update,
): Promise<AsyncIterableIterator<Update>> {
  const resumeAfter = await sequenceAfter(after, context);
  const from = resumeAfter ?? (await feedHead(context.payments.database, context.viewer.platformId));
  return mapChannel(await subscribe(context, from, filter), (event) => ({ value: toUpdate(event) }));
}

/** How a stream of one thing finds and shows it. */
export interface RowStream<Row extends { readonly version: number }, Update> {
  /** The row now, or null when nothing that the caller may see is there. */
  readonly findRow: () => Promise<Row | null>;
  readonly notFound: GraphQLError;
  /** Which events are of this row. */
  readonly whereEvents: (row: Row) => Prisma.EventWhereInput;
  readonly isOwnEvent: (row: Row, event: Event) => boolean;
  /** What all of them are of, to find them by. */
  readonly subject: (row: Row) => Subject;
  /** Whether the row's present version came with an event. */
  readonly hasEvent: (row: Row) => boolean;
  /** An event as a message; `first`: as the present state, before which there was nothing. */
  readonly toUpdate: (event: Event, first: boolean) => Update;
  /** The row as the first message, where there is no event to show. */
  readonly currentState: (row: Row, cursor: string) => Update;
  /** Whether the stream is complete with this event. */
  readonly isLast: (event: Event) => boolean;
  /** Whether the row has reached what such an event tells. */
  readonly hasEnded: (row: Row) => boolean;
}

/**
 * A stream of one thing: its present state, then every change. The present state is the latest event itself where there
 * is one, and what follows starts right after it, so nothing falls between the two and nothing is shown twice.
 */
export async function watchOne<Row extends { readonly version: number }, Update>(
  context: Context,
  after: After,
  stream: RowStream<Row, Update>,
): Promise<AsyncIterableIterator<Update>> {
  const { platformId } = context.viewer;
  const { database } = context.payments;
  const resumeAfter = await sequenceAfter(after, context);
  // Before the row is read: what changes from here on lies behind this place.
  const head = resumeAfter ?? (await feedHead(database, platformId));
  const row = await stream.findRow();
  if (!row) throw stream.notFound;
  // What it shows has its event in the feed soon: that is not shown again, and ends the stream where it is the last.
  const follow = async (from: bigint, shownVersion: number, first?: Update) => {
    const wants = (event: Event) =>
      stream.isOwnEvent(row, event) &&
      (event.version > shownVersion || (event.version === shownVersion && stream.isLast(event)));
    const channel = await subscribe(context, from, { wants, subject: stream.subject(row) });
    const toUpdate = (event: Event) => ({
      value: event.version > shownVersion ? stream.toUpdate(event, false) : undefined,
      last: stream.isLast(event),
    });
    return mapChannel(channel, toUpdate, first);
  };
  const where = { AND: [{ platformId }, stream.whereEvents(row)] };
  const readLatest = () => latestEvent(database, context.feed, where, row.version);
  if (resumeAfter !== undefined) {
    const end = stream.hasEnded(row) ? await readLatest() : undefined;
    return end && end.sequence <= resumeAfter ? only() : follow(resumeAfter, 0);
  }

  const latest = stream.hasEvent(row) ? await readLatest() : undefined;
  if (!latest) return follow(head, row.version, stream.currentState(row, feedCursor(platformId, head)));
  const first = stream.toUpdate(latest, true);
  // The latest event was read after `head`: none of this thing lies between the two.
  const isBeforeHead = latest.sequence < head;
  return stream.isLast(latest) ? only(first) : follow(isBeforeHead ? head : latest.sequence, latest.version, first);
}

function subscribe({ feed, viewer, closeForRetry }: Context, from: bigint, { wants, subject }: EventFilter) {
  const filter = {
    wants: (event: Event) => maySeeEvent(viewer, event) && wants(event),
    subject: subject ?? subjectOf(viewer),
  };
  return feed.subscribe(viewer.platformId, from, filter, closeForRetry);
}

/** All that an app sees is of its customer or its payment. */
function subjectOf({ bound }: Viewer): Subject | undefined {
  if (bound.kind === 'CUSTOMER') return { of: 'customer', id: bound.customerId };
  return bound.kind === 'PAYMENT' ? { of: 'transaction', id: bound.transactionId } : undefined;
}

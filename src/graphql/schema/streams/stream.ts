import type { GraphQLError } from 'graphql';
import type { Viewer } from '../../../access/viewer.ts';
import { maySeeEvent } from '../../../access/visible.ts';
import type { Event, EventType, Prisma } from '../../../database/generated/client/client.ts';
import { type Channel, mapChannel, only } from '../../../events/channel.ts';
import { feedCursor, sequenceOf } from '../../../events/cursor.ts';
import { latestEvent } from '../../../events/history.ts';
import { feedHead } from '../../../events/reads.ts';
import { mayResume } from '../../../events/resume.ts';
import type { EventFilter, Subject } from '../../../events/subscribers.ts';
import type { Context } from '../../context.ts';
import { failure, invalidInput } from '../../failure.ts';

/**
 * The mechanism behind every subscription. All read the same feed. They differ in which events they want and how they show
 * one. In all of them, only events that the caller may see pass.
 */

type After = string | null | undefined;

/** A message of a stream, with its place in the feed. */
export interface Message {
  readonly cursor: string;
}

const messages = new WeakMap<(event: never) => Message, WeakMap<Event, Message>>();

/** Converts an event to a message: to the same object for all who follow it, so that they share its execution. */
function messageOf<Update extends Message>(event: Event, toUpdate: (event: Event) => Update): Update {
  const ofEvents = messages.get(toUpdate) ?? new WeakMap<Event, Message>();
  messages.set(toUpdate, ofEvents);
  // What is stored here was made by the same function.
  const message = (ofEvents.get(event) as Update | undefined) ?? toUpdate(event);
  ofEvents.set(event, message);
  return message;
}

/** The argument that every stream has. */
export const afterDescription =
  'A cursor of the feed: only what came after it, each change once and in order, and no present state first. One that is too old is refused with CURSOR_EXPIRED.';

/**
 * Returns the sequence number after which a stream resumes, or undefined where there is none: that in `after` or, of an event
 * stream that reconnects with the same `after` as at first, the later one in Last-Event-ID.
 * @throws GraphQLError INVALID_INPUT for what is not a cursor of this feed
 */
function sequenceAfter(after: After, { viewer, resumeAfter }: Context): bigint | undefined {
  let sequence: bigint | undefined;
  for (const [name, cursor] of [
    ['after', after],
    ['Last-Event-ID', resumeAfter],
  ] as const) {
    if (cursor === null || cursor === undefined) continue;
    const found = sequenceOf(viewer.platformId, cursor);
    if (found === undefined) throw invalidInput(`${name} is not a cursor of this feed`, 'after');
    if (sequence === undefined || found > sequence) sequence = found;
  }
  return sequence;
}

/** Throws CURSOR_EXPIRED where an event that the stream wants, after this sequence number, is too old to be replayed. */
async function refuseExpired(sequence: bigint, filter: EventFilter, context: Context): Promise<void> {
  const { payments, feed, retentionDays, viewer } = context;
  const { types, subject } = filterFor(viewer, filter);
  const after = { platformId: viewer.platformId, sequence };
  if (await mayResume(payments.database, feed, after, { types, subject }, retentionDays)) return;
  throw failure(
    'CURSOR_EXPIRED',
    `after is further back than a stream replays (${retentionDays} days). To miss nothing, page through events(after:) from it and subscribe after the last cursor; or read the lists anew together with viewer.feedCursor and subscribe after that.`,
    { field: 'after' },
  );
}

/** Opens a stream of many rows: the next change and all that follow, or with `after` all changes after that cursor. */
export async function watchMany<Update extends Message>(
  context: Context,
  after: After,
  filter: EventFilter,
  toUpdate: (event: Event) => Update,
): Promise<AsyncIterableIterator<Update>> {
  const resumeAfter = sequenceAfter(after, context);
  if (resumeAfter !== undefined) await refuseExpired(resumeAfter, filter, context);
  const from = resumeAfter ?? (await feedHead(context.payments.database, context.viewer.platformId));
  return mapChannel(await subscribe(context, from, filter), (event) => ({ value: messageOf(event, toUpdate) }));
}

/** How a stream of one row reads and shows it. */
export interface RowStream<Row extends { readonly version: number }, Update extends Message> {
  /** Reads the row as it is now; null where there is none that the caller may see. */
  readonly findRow: () => Promise<Row | null>;
  readonly notFound: GraphQLError;
  /** Returns the conditions on events of this row. */
  readonly whereEvents: (row: Row) => Prisma.EventWhereInput;
  readonly isOwnEvent: (row: Row, event: Event) => boolean;
  /** Returns the subject of those events, by which the feed finds the subscribers. */
  readonly subject: (row: Row) => Subject;
  /** The types of those events. */
  readonly types: readonly EventType[];
  /** Whether the row's current version has an event. */
  readonly hasEvent: (row: Row) => boolean;
  /** Converts an event to a message. It is the same function for all streams of a kind. */
  readonly toUpdate: (event: Event) => Update;
  /** Converts the message of the latest event to that of the current state, which has no previous one. */
  readonly asCurrentState: (update: Update) => Update;
  /** Converts the row to the first message, where it has no event. */
  readonly currentState: (row: Row, cursor: string) => Update;
  /** Whether the stream completes after this event. */
  readonly isLast: (event: Event) => boolean;
  /** Whether the row is in a final state, so that the event of its version exists or will exist soon, and is the last. */
  readonly hasEnded: (row: Row) => boolean | Promise<boolean>;
  /** Ends the stream where no event does. Returns a function that is called with each version that the reader is shown. */
  readonly endLater?: ((channel: Channel<Event>) => (version: number) => void) | undefined;
}

/**
 * Opens a stream of one row: its current state, then every change. The current state is the latest event where there is one,
 * and the changes start right after it, so that none is missed and none is shown twice.
 */
export async function watchOne<Row extends { readonly version: number }, Update extends Message>(
  context: Context,
  after: After,
  stream: RowStream<Row, Update>,
): Promise<AsyncIterableIterator<Update>> {
  const { platformId } = context.viewer;
  const { database } = context.payments;
  const resumeAfter = sequenceAfter(after, context);
  // Read before the row, so that every later change comes after it.
  const head = resumeAfter ?? (await feedHead(database, platformId));
  const row = await stream.findRow();
  if (!row) throw stream.notFound;
  const ofRow = { subject: stream.subject(row), types: stream.types };
  if (resumeAfter !== undefined) await refuseExpired(resumeAfter, { ...ofRow, wants: () => true }, context);
  const hasEnded = await stream.hasEnded(row);
  const isLast = (event: Event) => stream.isLast(event) || (hasEnded && event.version === row.version);
  // The event of the version shown may still come: it is not shown again, but ends the stream where it is the last.
  const follow = async (from: bigint, shownVersion: number, first?: Update) => {
    const wants = (event: Event) =>
      stream.isOwnEvent(row, event) &&
      (event.version > shownVersion || (event.version === shownVersion && isLast(event)));
    const channel = await subscribe(context, from, { ...ofRow, wants });
    const onShown = hasEnded ? undefined : stream.endLater?.(channel);
    if (shownVersion > 0) onShown?.(shownVersion);
    const toUpdate = (event: Event) => {
      onShown?.(event.version);
      return {
        value: event.version > shownVersion ? messageOf(event, stream.toUpdate) : undefined,
        last: isLast(event),
      };
    };
    return mapChannel(channel, toUpdate, first);
  };
  const where = { AND: [{ platformId }, stream.whereEvents(row)] };
  const readLatest = () => latestEvent(database, context.feed, where, row.version);
  if (resumeAfter !== undefined) {
    const end = hasEnded ? await readLatest() : undefined;
    return end && end.sequence <= resumeAfter ? only() : follow(resumeAfter, 0);
  }

  const latest = stream.hasEvent(row) ? await readLatest() : undefined;
  if (!latest) return follow(head, row.version, stream.currentState(row, feedCursor(platformId, head)));
  const first = stream.asCurrentState(messageOf(latest, stream.toUpdate));
  // The latest event was read after `head`: no event of this row lies between the two.
  const isBeforeHead = latest.sequence < head;
  return isLast(latest) ? only(first) : follow(isBeforeHead ? head : latest.sequence, latest.version, first);
}

function subscribe({ feed, viewer, closeForRetry }: Context, from: bigint, filter: EventFilter) {
  return feed.subscribe(viewer.platformId, from, filterFor(viewer, filter), closeForRetry);
}

/** Restricts a filter to the events that a caller may see. */
function filterFor(viewer: Viewer, { wants, subject, types }: EventFilter): EventFilter {
  return {
    wants: (event) => maySeeEvent(viewer, event) && wants(event),
    subject: subject ?? subjectOf(viewer),
    types,
  };
}

/** Returns the subject that covers all that an app's client token shows: its customer or its payment. */
function subjectOf({ bound }: Viewer): Subject | undefined {
  if (bound.kind === 'CUSTOMER') return { of: 'customer', id: bound.customerId };
  return bound.kind === 'PAYMENT' ? { of: 'transaction', id: bound.transactionId } : undefined;
}

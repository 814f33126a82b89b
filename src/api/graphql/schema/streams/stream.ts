import type { Cursors } from '../../../../core/cursors.ts';
import { oncePer } from '../../../../core/once-per.ts';
import type { Bound, Viewer } from '../../../../domain/access/caller.ts';
import { maySeeEvent } from '../../../../domain/access/visible.ts';
import { mapChannel } from '../../../../domain/events/channel.ts';
import { type FeedPosition, feedCursor, positionOf } from '../../../../domain/events/cursor.ts';
import { type FollowedNoun, feedHead } from '../../../../domain/events/reads.ts';
import { mayResume } from '../../../../domain/events/resume.ts';
import type { EventFilter, Subject } from '../../../../domain/events/subscribers.ts';
import type { Event, EventType } from '../../../../infra/database/generated/client/client.ts';
import { rowFromSnapshot, type SnapshotRows } from '../../../../infra/database/rows.ts';
import type { Context } from '../../context.ts';
import { cursorUndone, failure, invalidInput } from '../../failure.ts';

/**
 * Implements what all subscriptions have in common. They read the same feed, but select and present its events in
 * different ways. Every subscription delivers only events that the caller may see.
 */

export type After = string | null | undefined;

export interface Message {
  readonly cursor: string;
  readonly position: FeedPosition;
}

/** A message about a row: a change, or the current state, which does not come from an event. */
export interface RowUpdate<Noun extends FollowedNoun> extends Message {
  readonly row: SnapshotRows[Noun];
  readonly change: Event | undefined;
}

/** Converts an event to a message. All subscribers get the same object, so that they can share results. */
export type ToUpdate<Update extends Message> = (event: Event, cursors: Cursors) => Update;

/** Returns the part of a message that contains its position, encrypted once per event for all subscribers. */
export const placeOf = oncePer(
  (at: FeedPosition, cursors: Cursors, platformId: string): Message => ({
    cursor: feedCursor(cursors, platformId, at),
    position: { sequence: at.sequence, epoch: at.epoch },
  }),
);

const updateOf = <Noun extends FollowedNoun>(noun: Noun): ToUpdate<RowUpdate<Noun>> =>
  oncePer((event, cursors) => ({
    ...placeOf(event, cursors, event.platformId),
    row: rowFromSnapshot(noun, event.snapshot),
    change: event,
  }));

/** The functions that convert each noun's events to messages. An event's snapshot is the noun's row as JSON. */
export const updatesOf: { readonly [Noun in FollowedNoun]: ToUpdate<RowUpdate<Noun>> } = {
  Transaction: updateOf('Transaction'),
  Quote: updateOf('Quote'),
  Account: updateOf('Account'),
  Customer: updateOf('Customer'),
};

export const afterDescription =
  'Resumes the stream after this feed cursor: the stream sends every later change once and in order, but not the current state. A cursor that is too old is refused with CURSOR_EXPIRED.';

/**
 * Returns the position after which a stream resumes; undefined for a new stream. This is `after`, unless the request's
 * extensions or Last-Event-ID contain a later position. Clients reconnect with their original `after`.
 * @throws GraphQLError INVALID_INPUT for a value that is not a cursor of this feed
 */
export function positionAfter(
  after: After,
  { viewer, payments, resumeAfter, sentAfter }: Context,
): FeedPosition | undefined {
  let position: FeedPosition | undefined;
  for (const [name, given] of [
    ['after', after],
    ['extensions.after', sentAfter],
    ['Last-Event-ID', resumeAfter],
  ] as const) {
    if (given === null || given === undefined) continue;
    const found = typeof given === 'string' ? positionOf(payments.cursors, viewer.platformId, given) : given;
    if (found === undefined) throw invalidInput(`${name} is not a cursor of this feed`, name);
    if (position === undefined || found.sequence > position.sequence) position = found;
  }
  return position;
}

/** Refuses a null subject (INVALID_INPUT). Without a subject, a stream covers everything that the caller may see. */
export function checkSubject(subject: unknown, name: string): void {
  if (subject === null) throw invalidInput(`${name} is null: omit it to follow everything`, name);
}

/** Throws CURSOR_EXPIRED if a wanted event after `after` is too old to replay, or the event at `after` was undone. */
export async function refuseExpired(after: FeedPosition, filter: EventFilter, context: Context): Promise<void> {
  const { payments, feed, retentionDays, viewer } = context;
  const { types, subject } = filterFor(viewer, filter);
  const { database } = payments;
  const answer = await mayResume(database, feed, viewer.platformId, after, { types, subject }, retentionDays);
  if (answer === 'yes') return;
  if (answer === 'undone') throw cursorUndone('after');
  throw failure(
    'CURSOR_EXPIRED',
    `the cursor in after is older than a stream can replay (${retentionDays} days). To miss nothing, page through events(after:) from it and subscribe after the last cursor; or read the lists again together with viewer.feedCursor and subscribe after that.`,
    { field: 'after' },
  );
}

/** Opens a stream of many rows: all changes from now on or, if `after` is given, all changes after that cursor. */
export async function watchMany<Update extends Message>(
  context: Context,
  after: After,
  filter: EventFilter,
  toUpdate: ToUpdate<Update>,
): Promise<AsyncIterableIterator<Update>> {
  const resumeAfter = positionAfter(after, context);
  if (resumeAfter !== undefined) await refuseExpired(resumeAfter, filter, context);
  const from = resumeAfter ?? (await feedHead(context.payments.database, context.viewer.platformId));
  await context.resumePoint?.begin(from.sequence);
  return mapChannel(await subscribe(context, from.sequence, filter), (event) => ({
    value: toUpdate(event, context.payments.cursors),
  }));
}

/** Limits a stream to the events of one customer, one transaction or both. */
interface EventsOf {
  readonly customerId?: string | undefined;
  readonly transactionId?: string | undefined;
}

/** Returns the filter for a stream of all events of the given types (by default, all types), limited by `of`. */
export function filterOf(types: readonly EventType[] | undefined, of: EventsOf): EventFilter {
  const { customerId, transactionId } = of;
  return {
    wants: (event) =>
      (!types || types.includes(event.type)) &&
      (customerId === undefined || event.customerId === customerId) &&
      (transactionId === undefined || event.transactionId === transactionId),
    subject: subjectOf(of),
    types,
  };
}

/** Subscribes to the events after a position in the feed that match the filter and that the caller may see. */
export function subscribe({ feed, viewer, closeForRetry }: Context, from: bigint, filter: EventFilter) {
  return feed.subscribe(viewer.platformId, from, filterFor(viewer, filter), closeForRetry);
}

/** Restricts a filter to the events that a caller may see. */
function filterFor(viewer: Viewer, { wants, subject, types }: EventFilter): EventFilter {
  return {
    wants: (event) => maySeeEvent(viewer, event) && wants(event),
    subject: subject ?? subjectOf(viewer.bound),
    types,
  };
}

/** Returns the subject that covers everything within the given limits, or everything that a client token may see. */
function subjectOf(of: EventsOf | Bound): Subject | undefined {
  if ('transactionId' in of && of.transactionId !== undefined) return { of: 'transaction', ids: [of.transactionId] };
  return 'customerId' in of && of.customerId !== undefined ? { of: 'customer', ids: [of.customerId] } : undefined;
}

import { setTimeout as delay } from 'node:timers/promises';
import { accountNameIn, uuidOf } from '../../../../core/ids.ts';
import { oncePer } from '../../../../core/once-per.ts';
import type { Channel } from '../../../../domain/events/channel.ts';
import { eventsOfNoun, type FollowedNoun, feedHead } from '../../../../domain/events/reads.ts';
import type { Event } from '../../../../infra/database/generated/client/client.ts';
import { matchesNone, NotFollowable, type Predicate, predicateOf } from '../../../../infra/database/predicates.ts';
import { rowFromSnapshot } from '../../../../infra/database/rows.ts';
import type { Context } from '../../context.ts';
import { failure, invalidInput } from '../../failure.ts';
import type { PageRead } from '../../reading/reads.ts';
import { type After, filterOf, type Message, placeOf, positionAfter, refuseExpired, subscribe } from './stream.ts';
import { visibleRows } from './visible-ids.ts';

type Row = Readonly<Record<string, unknown>>;
type Filter = Readonly<Record<string, unknown>>;

export interface ListChange extends Message {
  /** How the change affects the list: the row enters it, changes within it or leaves it. */
  readonly op: 'ENTER' | 'UPDATE' | 'LEAVE';
  readonly node: Row;
  readonly before: Row | undefined;
}

export interface ListMessage extends Message {
  readonly changes: readonly ListChange[];
  /** The filter for the page in the first message; undefined in later messages. */
  readonly snapshotOf?: { readonly filter: unknown };
}

export interface ListArguments {
  readonly filter: Filter | null | undefined;
  readonly after: After;
  readonly snapshot: boolean;
  readonly waitMs: number;
}

/** The longest wait for further changes, in milliseconds. During the wait, changes queue in memory. */
export const maxWaitMs = 1_000;
const maxChanges = 50;
/** After this many changes to other rows, a message without changes reports the position to the client. */
const progressAfter = 1_000;

/** Watches a list. Sends its page if requested, and then the effect of each change, starting after `after` if given. */
export async function watchList(
  context: Context,
  read: PageRead,
  { filter, after, snapshot, waitMs }: ListArguments,
): Promise<AsyncIterableIterator<ListMessage>> {
  if (waitMs < 0 || waitMs > maxWaitMs) throw invalidInput(`waitMs must be between 0 and ${maxWaitMs}`, 'waitMs');
  // Only lists of nouns whose events are followed have a subscription (list-changes.ts).
  const noun = read.model as FollowedNoun;
  const { types } = eventsOfNoun[noun];
  const resumeAfter = positionAfter(after, context);
  await checkFollowable(context, read, filter ?? {});
  const predicate = predicateOf(read.model, read.where(context.viewer, { filter }));
  const wanted = filterOf(types, { customerId: uuidOf(String(filter?.customerId), 'Customer') });
  if (resumeAfter !== undefined) await refuseExpired(resumeAfter, wanted, context);
  // Read before the page, so that no change is missed. A change made in between is in the page and is also sent.
  const from = resumeAfter ?? (await feedHead(context.payments.database, context.viewer.platformId));
  // Until the client has acknowledged the page, resuming without a cursor sends the page again.
  await context.resumePoint?.begin(snapshot && resumeAfter === undefined ? null : from.sequence);
  const channel = await subscribe(context, from.sequence, wanted);
  const first: ListMessage | undefined =
    snapshot && resumeAfter === undefined
      ? { ...placeOf(from, context.payments.cursors, context.viewer.platformId), changes: [], snapshotOf: { filter } }
      : undefined;
  return listStream(context, channel, { noun, predicate, waitMs, first });
}

interface Following {
  readonly noun: FollowedNoun;
  readonly predicate: Predicate;
  readonly waitMs: number;
  readonly first: ListMessage | undefined;
}

/** Returns the message stream of a watched list. Its `return` takes effect immediately, like the channel's. */
function listStream(
  context: Context,
  channel: Channel<Event>,
  { noun, predicate, waitMs, first }: Following,
): AsyncIterableIterator<ListMessage, undefined> {
  const { feed, payments } = context;
  const ready = first ? [first] : [];
  let unshown = 0;
  const over = new AbortController();
  const at = (event: Event) => placeOf(event, payments.cursors, event.platformId);

  /** Returns the effect of an event on the list; undefined if it has none. */
  async function changeOf(event: Event): Promise<ListChange | undefined> {
    const { matches, references } = predicate;
    const previous = await feed.previous.of(event);
    const now = rowOf(event, noun);
    const before = previous && rowOf(previous, noun);
    const find = await feed.referred.of(event.platformId, references, before ? [before, now] : [now]);
    const is = matches(now, find);
    // A row whose earlier versions are not in the feed may have been in the list.
    const was = before ? matches(before, find) : event.version > 1 && !is;
    if (!is && !was) return undefined;
    return { op: is ? (was ? 'UPDATE' : 'ENTER') : 'LEAVE', ...at(event), node: now, before };
  }

  /** Returns the messages for `events`: a single one if the subscriber collects changes, otherwise one per event. */
  async function messagesOf(events: readonly Event[]): Promise<ListMessage[]> {
    const all = await Promise.all(events.map(async (event) => ({ event, change: await changeOf(event) })));
    return (waitMs > 0 ? [all] : all.map((one) => [one])).flatMap((group) => {
      const last = group.at(-1)?.event;
      const shown = eachRowOnce(group.flatMap(({ change }) => change ?? []));
      unshown = shown.length > 0 ? 0 : unshown + group.length;
      if (!last || (shown.length === 0 && unshown < progressAfter)) return [];
      unshown = 0;
      return [sharedMessage(last, at(last), shown)];
    });
  }

  /** Waits for the end of the current slot of `waitMs`. All watchers of a list share slots and therefore messages. */
  const restOfSlot = () =>
    delay(waitMs - (Date.now() % waitMs), undefined, { signal: over.signal }).catch(() => undefined);

  return {
    async next() {
      while (!over.signal.aborted) {
        const message = ready.shift();
        if (message) return { done: false, value: message };
        const result = await channel.next();
        if (result.done) return result;
        if (waitMs > 0) await restOfSlot();
        const messages = messagesOf([result.value, ...channel.takeQueued(maxChanges - 1)]);
        // If the database is unreachable, the client reconnects and resumes.
        messages.catch(() => context.closeForRetry());
        ready.push(...(await messages));
      }
      return { done: true, value: undefined };
    },
    async return() {
      over.abort();
      await channel.return();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/**
 * Merges the changes to each row into one, at the position of the last. Clients store a message's rows by id, so they
 * would otherwise keep an arbitrary version of the row.
 */
function eachRowOnce(changes: readonly ListChange[]): ListChange[] {
  const rows = Map.groupBy(changes, ({ node }) => node.id);
  return changes.flatMap((last) => {
    const ofRow = rows.get(last.node.id);
    return ofRow?.[0] && ofRow.at(-1) === last ? merged(ofRow[0], last) : [];
  });
}

/**
 * Combines a row's first change with its last. A row that enters and then leaves counts as having left, because the
 * page, which is read after the stream's first position, may contain it.
 */
function merged({ op, before }: ListChange, last: ListChange): ListChange {
  return { ...last, before, op: last.op === 'LEAVE' ? 'LEAVE' : op === 'ENTER' ? 'ENTER' : 'UPDATE' };
}

/** Returns an event's row, the same object for all subscribers. */
const rowOf = oncePer((event: Event, noun: FollowedNoun): Row => ({ ...rowFromSnapshot(noun, event.snapshot) }));

const messagesAfter = oncePer((_event: Event) => new Map<string, ListMessage>());

/** Returns the message for the given changes. All recipients get the same object, so that they can share results. */
function sharedMessage(last: Event, place: Message, changes: readonly ListChange[]): ListMessage {
  const key = changes.map(({ op, cursor, before }) => `${op}:${cursor}:${before?.version}`).join(' ');
  const known = messagesAfter(last);
  const message = known.get(key) ?? { ...place, changes };
  known.set(key, message);
  return message;
}

const nouns = ['Customer', 'Transaction', 'Quote'] as const;

/**
 * Checks that a list with the given filter can be followed.
 * @throws GraphQLError INVALID_INPUT for a condition that cannot be evaluated for a changed row; NOT_FOUND for an id
 *   that the caller may not see, because no change would ever match
 */
async function checkFollowable(context: Context, { model, where }: PageRead, filter: Filter): Promise<void> {
  const { viewer } = context;
  const matchesUnfiltered = !matchesNone(where(viewer, { filter: {} }));
  for (const [name, value] of Object.entries(filter)) {
    if (value === null || value === undefined) continue;
    const field = `filter.${name}`;
    const condition = where(viewer, { filter: { [name]: value } });
    try {
      predicateOf(model, condition);
    } catch (error) {
      if (!(error instanceof NotFollowable)) throw error;
      const message = `a list filtered by ${name} cannot be followed: a change to a row does not show whether the condition holds`;
      throw invalidInput(message, field);
    }
    if (matchesUnfiltered && matchesNone(condition))
      throw failure('NOT_FOUND', `nothing that you can see matches ${name}`, { field });
    if (typeof value !== 'string') continue;
    const noun = accountNameIn(value) ? 'Account' : nouns.find((one) => uuidOf(value, one) !== undefined);
    if (noun) await visibleRows(context, noun, [value], field);
  }
}

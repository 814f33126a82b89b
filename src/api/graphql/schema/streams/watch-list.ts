import { accountNameIn, uuidOf } from '../../../../core/ids.ts';
import { oncePer } from '../../../../core/once-per.ts';
import type { Viewer } from '../../../../domain/access/viewer.ts';
import type { Channel } from '../../../../domain/events/channel.ts';
import { feedHead } from '../../../../domain/events/reads.ts';
import { eventsOfNoun, type FollowedNoun } from '../../../../domain/events/row-events.ts';
import type { Subject } from '../../../../domain/events/subscribers.ts';
import type { Event } from '../../../../infra/database/generated/client/client.ts';
import { matchesNone, NotFollowable, type Predicate, predicateOf } from '../../../../infra/database/predicates.ts';
import type { Noun } from '../../../../infra/database/read-rows.ts';
import { rowFromSnapshot } from '../../../../infra/database/rows.ts';
import type { Context } from '../../context.ts';
import { failure, invalidInput } from '../../failure.ts';
import type { PageRead } from '../../reading/reads.ts';
import { type After, filterOf, type Message, placeOf, positionAfter, refuseExpired, subscribe } from './stream.ts';
import { visibleRows } from './visible-ids.ts';

/** The effect of a change on a list: a row enters it, changes in it, or leaves it. */
type ListOperation = 'ENTER' | 'UPDATE' | 'LEAVE';

type Row = Readonly<Record<string, unknown>>;

export interface ListChange extends Message {
  readonly op: ListOperation;
  readonly node: Row;
  readonly before: Row | undefined;
}

export interface ListMessage extends Message {
  readonly changes: readonly ListChange[];
  /** The filter with which the page of the first message is read; undefined in later messages. */
  readonly snapshotOf?: { readonly filter: unknown };
}

export interface ListArguments {
  readonly filter: Readonly<Record<string, unknown>> | null | undefined;
  readonly after: After;
  readonly snapshot: boolean;
  readonly waitMs: number;
}

/** The longest wait for further changes, in milliseconds; meanwhile they queue in memory. */
export const maxWaitMs = 1_000;
const maxChanges = 50;
/** After this many changes of other rows, a message without changes reports the position to the client. */
const progressAfter = 1_000;

/** Follows a list: its page first if requested, then the effect of each change; with `after`, all later changes. */
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
  const followed = await followFilter(context, read, filter ?? {});
  const all = filterOf(types, undefined);
  const wanted = { ...all, ...(followed.subject && { subject: followed.subject }) };
  if (resumeAfter !== undefined) await refuseExpired(resumeAfter, wanted, context);
  // Read before the page: changes made meanwhile are in the page, and are sent again as changes.
  const from = resumeAfter ?? (await feedHead(context.payments.database, context.viewer.platformId));
  // Without a cursor, a resumed stream starts with the page again until its client has acknowledged it.
  await context.resumePoint?.begin(snapshot && resumeAfter === undefined ? null : from.sequence);
  const channel = await subscribe(context, from.sequence, wanted);
  const first: ListMessage | undefined =
    snapshot && resumeAfter === undefined
      ? { ...placeOf(from, context.payments.cursors, context.viewer.platformId), changes: [], snapshotOf: { filter } }
      : undefined;
  return new ListStream(context, { channel, noun, followed, waitMs, first });
}

interface ListStreamOptions {
  readonly channel: Channel<Event>;
  readonly noun: FollowedNoun;
  readonly followed: FollowedFilter;
  readonly waitMs: number;
  readonly first: ListMessage | undefined;
}

/** The messages of one followed list. `return` takes effect at once, like that of its channel. */
class ListStream implements AsyncIterableIterator<ListMessage> {
  readonly #context: Context;
  readonly #options: ListStreamOptions;
  readonly #ready: ListMessage[];
  #unshown = 0;
  #isOver = false;
  #endWait: () => void = () => undefined;

  constructor(context: Context, options: ListStreamOptions) {
    this.#context = context;
    this.#options = options;
    this.#ready = options.first ? [options.first] : [];
  }

  async next(): Promise<IteratorResult<ListMessage, undefined>> {
    const { channel, waitMs } = this.#options;
    while (!this.#isOver) {
      const ready = this.#ready.shift();
      if (ready) return { done: false, value: ready };
      const result = await channel.next();
      if (result.done) return result;
      if (waitMs > 0) await this.#restOfSlot();
      const events = [result.value, ...channel.takeQueued(maxChanges - 1)];
      const changes = await this.#changesOf(events);
      this.#ready.push(...this.#messagesOf(events, changes));
    }
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<ListMessage, undefined>> {
    this.#isOver = true;
    this.#endWait();
    await this.#options.channel.return();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Waits for the end of the current slot of `waitMs`: all followers of a list share slots, and thus messages. */
  async #restOfSlot(): Promise<void> {
    const { waitMs } = this.#options;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs - (Date.now() % waitMs));
      this.#endWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #changesOf(events: readonly Event[]): Promise<(ListChange | undefined)[]> {
    try {
      return await Promise.all(events.map((event) => this.#changeOf(event)));
    } catch (error) {
      // The database is unreachable: the client reconnects and resumes.
      this.#context.closeForRetry();
      throw error;
    }
  }

  /** Returns the effect of an event on the list; undefined if it concerns other rows. */
  async #changeOf(event: Event): Promise<ListChange | undefined> {
    const { feed } = this.#context;
    const { noun, followed } = this.#options;
    const { matches, references } = followed.predicate;
    const previous = await feed.previous.of(event);
    const now = rowOf(event, noun);
    const before = previous && rowOf(previous, noun);
    const find = await feed.referred.of(event.platformId, references, before ? [before, now] : [now]);
    const is = matches(now, find);
    // A row whose past is not in the feed may have been in the list.
    const was = before ? matches(before, find) : event.version > 1 && !is;
    if (!is && !was) return undefined;
    return { op: is ? (was ? 'UPDATE' : 'ENTER') : 'LEAVE', ...this.#placeOf(event), node: now, before };
  }

  /** Returns the messages for some events: a single one if the follower collects changes, else one for each change. */
  #messagesOf(events: readonly Event[], changes: readonly (ListChange | undefined)[]): ListMessage[] {
    const all = events.map((event, at) => ({ event, change: changes[at] }));
    const groups = this.#options.waitMs > 0 ? [all] : all.map((one) => [one]);
    return groups.flatMap((group) => {
      const last = group.at(-1)?.event;
      const shown = eachRowOnce(group.flatMap(({ change }) => change ?? []));
      this.#unshown = shown.length > 0 ? 0 : this.#unshown + group.length;
      if (!last || (shown.length === 0 && this.#unshown < progressAfter)) return [];
      this.#unshown = 0;
      return [sharedMessage(last, this.#placeOf(last), shown)];
    });
  }

  #placeOf(event: Event): Message {
    return placeOf(event, this.#context.payments.cursors, event.platformId);
  }
}

/**
 * Merges the changes of each row into one, in the place of the last: clients look up the rows of a message by id, and
 * would keep an arbitrary one of several. A row that entered and left again is left out.
 */
function eachRowOnce(changes: readonly ListChange[]): ListChange[] {
  const rows = new Map<unknown, ListChange | undefined>();
  for (const change of changes) {
    const { id } = change.node;
    const first = rows.get(id);
    rows.delete(id);
    rows.set(id, first ? merged(first, change) : change);
  }
  return [...rows.values()].flatMap((change) => change ?? []);
}

/** Returns the combined effect of two changes: the row is in the list after the second, and was before the first. */
function merged(first: ListChange, second: ListChange): ListChange | undefined {
  const was = first.op !== 'ENTER';
  const is = second.op !== 'LEAVE';
  if (!was && !is) return undefined;
  return { ...second, before: first.before, op: is ? (was ? 'UPDATE' : 'ENTER') : 'LEAVE' };
}

/** Returns an event's row, the same object for all followers. The database writes the snapshot in this form. */
const rowOf = oncePer((event: Event, noun: FollowedNoun): Row => ({ ...rowFromSnapshot(noun, event.snapshot) }));

const messagesAfter = oncePer((_event: Event) => new Map<string, ListMessage>());

/** Returns the message for these changes, the same object for all recipients, so that they share its execution. */
function sharedMessage(last: Event, place: Message, changes: readonly ListChange[]): ListMessage {
  const key = changes.map(({ op, cursor, before }) => `${op}:${cursor}:${before?.version}`).join(' ');
  const known = messagesAfter(last);
  const message = known.get(key) ?? { ...place, changes };
  known.set(key, message);
  return message;
}

type Filter = Readonly<Record<string, unknown>>;

/** A list's filter for changes of its rows, compiled from the conditions with which the list itself is read. */
interface FollowedFilter {
  readonly predicate: Predicate;
  /** The customer who owns all of the rows, if the filter names one. */
  readonly subject: Subject | undefined;
}

/**
 * Compiles the filter of a list.
 * @throws GraphQLError INVALID_INPUT, naming the condition, if a change of a row does not show whether it holds;
 * NOT_FOUND for an id that the caller may not see, which would never change
 */
async function followFilter(context: Context, read: PageRead, filter: Filter): Promise<FollowedFilter> {
  const { viewer } = context;
  const given = Object.entries(filter).filter(([, value]) => value !== null && value !== undefined);
  for (const [name, value] of given) {
    refuseUnfollowable(read, viewer, name, value);
    await refuseUnknown(context, read, name, value);
  }
  const where = read.where(viewer, { filter });
  const customerId = equalIn(where, read.model === 'Customer' ? 'id' : 'customerId');
  return {
    predicate: predicateOf(read.model, where),
    subject: customerId === undefined ? undefined : { of: 'customer', ids: [customerId] },
  };
}

function refuseUnfollowable(read: PageRead, viewer: Viewer, name: string, value: unknown): void {
  try {
    predicateOf(read.model, read.where(viewer, { filter: { [name]: value } }));
  } catch (error) {
    if (!(error instanceof NotFollowable)) throw error;
    throw invalidInput(
      `a list cannot be followed by ${name}: a change of a row does not show whether the condition holds`,
      `filter.${name}`,
    );
  }
}

const nouns = ['Customer', 'Transaction', 'Quote'] as const;

async function refuseUnknown(context: Context, read: PageRead, name: string, value: unknown): Promise<void> {
  const { viewer } = context;
  const nothing = matchesNone(read.where(viewer, { filter: { [name]: value } }));
  if (nothing && !matchesNone(read.where(viewer, { filter: {} })))
    throw failure('NOT_FOUND', `nothing that is visible here matches ${name}`, { field: `filter.${name}` });
  if (typeof value !== 'string') return;
  const noun: Noun | undefined =
    accountNameIn(value) === undefined ? nouns.find((one) => uuidOf(value, one) !== undefined) : 'Account';
  if (noun) await visibleRows(context, noun, [value], `filter.${name}`);
}

function equalIn(where: object, field: string): string | undefined {
  for (const [name, condition] of Object.entries(where)) {
    if (name === field && typeof condition === 'string') return condition;
    if (name !== 'AND') continue;
    for (const part of [condition].flat()) {
      // The parts of `AND` are conditions.
      const found = equalIn(part as object, field);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

import { type Channel, mapChannel, only } from '../../../../domain/events/channel.ts';
import type { FeedPosition } from '../../../../domain/events/cursor.ts';
import { eventsOfNoun, type FollowedNoun, feedHead, nounOf, subjectIdOf } from '../../../../domain/events/reads.ts';
import type { Subject } from '../../../../domain/events/subscribers.ts';
import type { Finality } from '../../../../domain/settlement/finality.ts';
import type { Event } from '../../../../infra/database/generated/client/client.ts';
import type { SnapshotRows } from '../../../../infra/database/rows.ts';
import type { Context } from '../../context.ts';
import { type After, placeOf, positionAfter, type RowUpdate, refuseExpired, subscribe, updatesOf } from './stream.ts';
import { visibleRows } from './visible-ids.ts';

/** A stream's rows, and how to tell whether one of them has ended; by default, they never end. */
export interface RowStream<Noun extends FollowedNoun> {
  readonly noun: Noun;
  /** The public ids of the rows, and the name of the argument that lists them. */
  readonly ids: readonly string[];
  readonly field: string;
  /** Whether this version of a row is its last. */
  readonly isLast?: (row: SnapshotRows[Noun]) => boolean;
  /** Checks whether a row is in its final state, for rows that get no event when they reach it. */
  readonly readFinality?: (row: SnapshotRows[Noun]) => Promise<Finality | undefined>;
}

/** How long to wait, in milliseconds, before checking again whether a row is in its final state. */
const lookMs = { least: 1_000, most: 60_000, afterFailure: 5_000 } as const;

/** Returns the id under which the feed stores a row's events: for a quote, its transaction's id. */
const subjectId = (row: SnapshotRows[FollowedNoun]) => ('transactionId' in row ? row.transactionId : row.id);

interface OpenRow {
  readonly row: { readonly version: number };
  /** Whether this version of the row is its last. The version's own event may not have been written yet. */
  readonly hasEnded: boolean;
  /** The version of the row that was sent as its current state; 0 if none was. */
  shown: number;
  onShown?: ((version: number) => void) | undefined;
}

/**
 * Streams a set of rows: their current states, then every change, until all of the rows have ended. A row's current
 * state is taken from its latest event, if there is one, and its changes start right after that event, so that no
 * change is missed or sent twice.
 */
export async function watchRows<Noun extends FollowedNoun>(
  context: Context,
  after: After,
  stream: RowStream<Noun>,
): Promise<AsyncIterableIterator<RowUpdate<Noun>>> {
  const { platformId } = context.viewer;
  const { database } = context.payments;
  const resumeAfter = positionAfter(after, context);
  // The head is read before the rows, so that every later change comes after it.
  const head = resumeAfter ?? (await feedHead(database, platformId));
  const rows = await visibleRows(context, stream.noun, stream.ids, stream.field);
  const { of, types } = eventsOfNoun[stream.noun];
  const subject: Subject = { of, ids: rows.map(subjectId) };
  if (resumeAfter !== undefined) await refuseExpired(resumeAfter, { subject, types, wants: () => true }, context);
  const open = new Map<string, OpenRow>();
  for (const row of rows) {
    const finality = await stream.readFinality?.(row);
    const hasEnded = stream.isLast?.(row) ?? (finality?.isFinal === true && finality.version === row.version);
    open.set(subjectId(row), { row, hasEnded, shown: 0 });
  }
  const { presentStates, follow } = rowsFollower(context, stream, rows, open);

  // A resumed stream needs the latest event of a row only if the row has ended.
  const wanted = [...open].filter(([, { hasEnded }]) => hasEnded || resumeAfter === undefined);
  const versions = new Map(wanted.map(([id, { row }]) => [id, row.version]));
  const latest =
    versions.size > 0 ? await context.feed.latest(platformId, stream.noun, versions) : new Map<string, Event>();
  if (resumeAfter !== undefined) {
    for (const [id, end] of latest) if (end.sequence <= resumeAfter.sequence) open.delete(id);
    await context.resumePoint?.begin(resumeAfter.sequence);
    return open.size === 0 ? only() : follow(resumeAfter.sequence, subject, []);
  }

  const firsts = presentStates(latest, head);
  // The latest events were read together, after `head`, so the feed up to the last of them contains no newer events of
  // these rows.
  let from = head.sequence;
  // All events of the current states come after this position. Until the client acknowledges the first one, a resumed
  // stream repeats them from here.
  let before = head.sequence;
  for (const { sequence } of latest.values()) {
    if (sequence > from) from = sequence;
    if (sequence <= before) before = sequence - 1n;
  }
  await context.resumePoint?.begin(before);
  return open.size === 0 ? only(...firsts) : follow(from, subject, firsts);
}

/** Returns the functions that emit the current states of a stream's rows and watch the rows that are still open. */
function rowsFollower<Noun extends FollowedNoun>(
  context: Context,
  { noun, isLast, readFinality }: RowStream<Noun>,
  rows: readonly SnapshotRows[Noun][],
  open: Map<string, OpenRow>,
) {
  const { payments, viewer } = context;
  const toUpdate = updatesOf[noun];

  const ends = (event: Event): boolean => {
    const state = open.get(subjectIdOf(event));
    const isLastKnown = state?.hasEnded === true && event.version === state.row.version;
    return isLastKnown || isLast?.(toUpdate(event, payments.cursors).row) === true;
  };

  /** Returns the current states of all rows in feed order. A client that resumes after one of them gets the rest. */
  function presentStates(latest: ReadonlyMap<string, Event>, head: FeedPosition): RowUpdate<Noun>[] {
    const states = rows.map((row) => {
      const id = subjectId(row);
      const state = open.get(id);
      const event = latest.get(id);
      if (state) state.shown = event?.version ?? row.version;
      if (event && ends(event)) open.delete(id);
      return event
        ? { at: event.sequence, update: { ...toUpdate(event, payments.cursors), change: undefined } }
        : {
            at: head.sequence,
            update: { ...placeOf(head, payments.cursors, viewer.platformId), row, change: undefined },
          };
    });
    return states.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)).map(({ update }) => update);
  }

  async function follow(from: bigint, subject: Subject, firsts: readonly RowUpdate<Noun>[]) {
    const wants = (event: Event): boolean => {
      const state = nounOf(event) === noun ? open.get(subjectIdOf(event)) : undefined;
      return state !== undefined && (event.version > state.shown || (event.version === state.shown && ends(event)));
    };
    const channel = await subscribe(context, from, { subject, types: eventsOfNoun[noun].types, wants });
    for (const row of rows) awaitEnd(channel, row);
    const show = (event: Event) => {
      const id = subjectIdOf(event);
      const state = open.get(id);
      // This row has ended, but others have not.
      if (!state) return {};
      state.onShown?.(event.version);
      if (ends(event)) open.delete(id);
      return {
        // An event whose version was already sent as the current state is skipped, but it may end the row.
        value: event.version > state.shown ? toUpdate(event, payments.cursors) : undefined,
        last: open.size === 0,
      };
    };
    return mapChannel(channel, show, firsts);
  }

  /**
   * Ends a row once the reader has seen its last possible version. When a rail stops watching for a return, no status
   * changes and no event is created, so this function polls.
   */
  function awaitEnd(channel: Channel<Event>, row: SnapshotRows[Noun]): void {
    const id = subjectId(row);
    const state = open.get(id);
    if (!readFinality || !state || state.hasEnded) return;
    let { shown } = state;
    let timer: NodeJS.Timeout | undefined;
    const check = async (): Promise<void> => {
      if (channel.ended || !open.has(id)) return;
      const finality = await readFinality(row);
      if (!finality) return;
      const { isFinal, version, dueInMs } = finality;
      // If there is a later version, its event is sent first.
      if (isFinal && version <= shown) {
        open.delete(id);
        if (open.size === 0) channel.end();
      } else if (dueInMs !== null) again(Math.min(Math.max(dueInMs, lookMs.least), lookMs.most));
    };
    const again = (ms: number) => {
      clearTimeout(timer);
      // If a check fails, for example because the database is unreachable, it is repeated.
      timer = setTimeout(() => check().catch(() => again(lookMs.afterFailure)), ms).unref();
    };
    state.onShown = (version) => {
      shown = Math.max(shown, version);
      again(0);
    };
    if (shown > 0) again(0);
  }

  return { presentStates, follow };
}

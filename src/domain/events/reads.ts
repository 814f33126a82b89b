import DataLoader from 'dataloader';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { Slots } from '../../core/slots.ts';
import { asPlatform } from '../../infra/database/connections/platform-scope.ts';
import type { Database } from '../../infra/database/database.ts';
import type { Event, EventType } from '../../infra/database/generated/client/client.ts';
import { columnsOf } from '../../infra/database/rows.ts';
import { type Queryable, statement } from '../../infra/database/statement.ts';
import { type FeedPosition, feedStart } from './cursor.ts';
import type { EventFilter, Hub, Subject } from './subscribers.ts';

/** The maximum number of events that one read returns. */
export const pageSize = 500;
/** The maximum number of feed positions per page. Without it, replaying a rare type could read millions of rows. */
const pageSpan = 10_000;

/** The number of recent events that one read loads into memory to serve many readers that were briefly disconnected. */
export const newestEvents = 2_000;

/** The number of replay pages that this process reads concurrently. */
const replayConnections = 3;
/** A few connections are enough, because live reads are short and run one at a time per platform. */
const liveConnections = 2;

const columns = columnsOf('Event', 'e');

const eventsAfter = `select ${columns} from event e where platform_id = $1 and sequence > $2 and sequence <= $3 order by sequence limit ${pageSize}`;
const liveEvents = statement<Event>('live_events', eventsAfter);
const allEvents = statement<Event>('events_after', eventsAfter);

const lastEvents = statement<Event>(
  'last_events',
  `select ${columns} from event e where platform_id = $1 and sequence > $2::bigint - ${newestEvents} and sequence <= $2 order by sequence`,
);

const eventsOfTypes = statement<Event>(
  'events_of_types_after',
  `select ${columns} from event e
   where platform_id = $1 and sequence > $2 and sequence <= $3 and type = any($4::event_type[]) order by sequence limit ${pageSize}`,
);

const eventsOf = (of: Subject['of']) =>
  statement<Event>(
    `events_of_${of}_after`,
    // The inner limit keeps the query from reading more than a page of events for any one id.
    `select ${columns} from unnest($4::uuid[]) s(id) cross join lateral (
       select * from event e
       where platform_id = $1 and sequence > $2 and sequence <= $3 and ${of}_id = s.id
         and ($5::event_type[] is null or type = any($5)) order by sequence limit ${pageSize}
     ) e order by e.sequence limit ${pageSize}`,
  );
const eventsOfSubject = {
  customer: eventsOf('customer'),
  transaction: eventsOf('transaction'),
  account: eventsOf('account'),
};

const headStatement = statement<FeedPosition>(
  'feed_head',
  'select sequence, epoch from feed_head where platform_id = $1',
);

/** Returns the end of a platform's feed: the position of its last event. */
export async function feedHead({ pool }: Pick<Database, 'pool'>, platformId: string): Promise<FeedPosition> {
  const [row] = await asPlatform(platformId, () => headStatement(pool, platformId));
  return row ?? feedStart;
}

const hasPositionStatement = statement<{ found: boolean }>(
  'has_position',
  `select exists (select from event
     where platform_id = $1 and sequence = $2 and epoch is not distinct from $3::int) as found`,
);

/** False if the position's event was lost when the database was restored. */
export async function hasPosition(on: Queryable, platformId: string, { sequence, epoch }: FeedPosition) {
  if (sequence === feedStart.sequence) return epoch === feedStart.epoch;
  const [row] = await asPlatform(platformId, () => hasPositionStatement(on, platformId, sequence, epoch));
  return row?.found ?? false;
}

export interface Page {
  readonly events: readonly Event[];
  /** The page includes all matching events up to this sequence. */
  readonly upTo: bigint;
}

/** The feed's reads, on their own connections, so that live reads, replays and requests do not wait for each other. */
export class FeedReads {
  /** The number of events that the process has read from the database, by purpose. */
  readonly count = { live: 0, replay: 0 };
  /** For live reads. */
  readonly pool: pg.Pool;
  readonly recent = new RecentEvents();
  /** Limits the number of concurrent replays, so that each has a connection. */
  readonly replayTurns = new Slots(replayConnections);
  readonly #replays: pg.Pool;

  constructor(database: Pick<Database, 'openPool'>) {
    this.pool = database.openPool('feed-live', liveConnections);
    this.#replays = database.openPool('feed-replay', replayConnections);
  }

  async live(platformId: string, after: bigint, upTo: bigint): Promise<Event[]> {
    const events = await asPlatform(platformId, () => liveEvents(this.pool, platformId, after, upTo));
    this.count.live += events.length;
    return events;
  }

  /** Loads the newest events up to the given sequence into memory. */
  async newest(platformId: string, upTo: bigint): Promise<void> {
    const events = await asPlatform(platformId, () => lastEvents(this.#replays, platformId, upTo));
    this.count.replay += events.length;
    for (const event of events) this.recent.add(event);
  }

  /** Reads the next events that match the filter's subject and types. The filter may still reject some of them. */
  async page(platformId: string, after: bigint, end: bigint, { subject, types }: EventFilter): Promise<Page> {
    // There is an index on subjects, but none on types.
    const spanEnd = after + BigInt(pageSpan);
    const to = !subject && types && spanEnd < end ? spanEnd : end;
    const range = [platformId, after, to];
    const events = await asPlatform(platformId, () => {
      if (subject) return eventsOfSubject[subject.of](this.#replays, ...range, subject.ids, types ?? null);
      return types ? eventsOfTypes(this.#replays, ...range, types) : allEvents(this.#replays, ...range);
    });
    this.count.replay += events.length;
    const last = events.at(-1);
    // A page that is not full is the last page of its range.
    return { events, upTo: last && events.length === pageSize ? last.sequence : to };
  }

  async close(): Promise<void> {
    await Promise.all([this.pool.end(), this.#replays.end()]);
  }
}

/** The maximum total size of the events kept, in bytes of JSON. In memory, they take up two to four times as much. */
const maxBytes = 16 * 1024 * 1024;

/** The newest events of all feeds, for readers that were briefly disconnected. */
export class RecentEvents {
  readonly #events: LRUCache<string, Event>;

  constructor(maxSize = maxBytes) {
    this.#events = new LRUCache({ maxSize, sizeCalculation: ({ snapshot }) => JSON.stringify(snapshot).length });
  }

  add(event: Event): void {
    this.#events.set(nameOf(event, event.sequence), event);
  }

  /** Returns up to `limit` events that directly follow a sequence; none if the first of them is not in memory. */
  after(hub: Pick<Hub, 'platformId' | 'epoch' | 'head'>, sequence: bigint, limit: number): Event[] {
    const events: Event[] = [];
    // Events beyond the head may have been undone by a restore.
    for (let next = sequence + 1n; next <= hub.head && events.length < limit; next += 1n) {
      const event = this.#events.peek(nameOf(hub, next));
      if (!event) break;
      events.push(event);
    }
    return events;
  }

  clear(): void {
    this.#events.clear();
  }
}

function nameOf({ platformId, epoch }: Pick<Event, 'platformId' | 'epoch'>, sequence: bigint): string {
  return `${platformId} ${epoch} ${sequence}`;
}

/** The rest of this file reads the events of individual rows. Each version of a row has exactly one event. */

export type FollowedNoun = 'Transaction' | 'Quote' | 'Account' | 'Customer';

/** The indexed id column and the event types by which the events of each kind of row are found. */
export const eventsOfNoun = {
  Transaction: { of: 'transaction', types: ['OUTGOING_PAYMENT', 'INCOMING_PAYMENT'] },
  Quote: { of: 'transaction', types: ['QUOTE_STATUS'] },
  Account: { of: 'account', types: ['ACCOUNT_STATUS', 'EXTERNAL_ACCOUNT_STATUS', 'ACCOUNT_CHANGE'] },
  Customer: { of: 'customer', types: ['KYC_STATUS', 'CUSTOMER_CHANGE'] },
} as const satisfies Record<FollowedNoun, { readonly of: Subject['of']; readonly types: readonly EventType[] }>;

const nounsByType = new Map<EventType, FollowedNoun>(
  // Object.entries types the keys as strings.
  Object.entries(eventsOfNoun).flatMap(([noun, { types }]) => types.map((type) => [type, noun as FollowedNoun])),
);

/** Returns the kind of row that changed; undefined for an event about something else. */
export function nounOf({ type }: Pick<Event, 'type'>): FollowedNoun | undefined {
  return nounsByType.get(type);
}

export function subjectIdOf(event: Event): string {
  const noun = nounOf(event);
  const id = noun && event[`${eventsOfNoun[noun].of}Id`];
  if (!id) throw new Error(`${event.type} event has no subject id`);
  return id;
}

type Found = Event & { readonly subjectId: string; readonly before: bigint };

/** The types are literals in the SQL so that Postgres can use the index on a customer's own events. */
const latestStatement = (noun: FollowedNoun) => {
  const { of, types } = eventsOfNoun[noun];
  return statement<Found>(
    `latest_events_of_${noun.toLowerCase()}`,
    `select w.id as subject_id, w.before, ${columnsOf('Event', 'e')} from unnest($2::uuid[], $3::bigint[]) w(id, before)
     cross join lateral (
       select * from event e where e.platform_id = $1 and e.${of}_id = w.id and e.sequence < w.before
         and e.type in (${types.map((type) => `'${type}'`).join(', ')}) order by e.sequence desc limit 1
     ) e`,
  );
};
const latestOf: Readonly<Record<FollowedNoun, ReturnType<typeof latestStatement>>> = {
  Transaction: latestStatement('Transaction'),
  Quote: latestStatement('Quote'),
  Account: latestStatement('Account'),
  Customer: latestStatement('Customer'),
};

interface Named {
  /** As returned by `subjectIdOf`. */
  readonly id: string;
  readonly before: bigint;
}

/** Reads the events in one statement, so that they reflect the same moment. */
function readLatest(pool: Queryable, platformId: string, noun: FollowedNoun, rows: readonly Named[]): Promise<Found[]> {
  const [ids, befores] = [rows.map(({ id }) => id), rows.map(({ before }) => before)];
  return asPlatform(platformId, () => latestOf[noun](pool, platformId, ids, befores));
}

const endOfFeed = 2n ** 62n;

/** Reads the latest event of each row, all as of the same moment. The rows must be distinct. */
export async function latestEventsOf(pool: Queryable, platformId: string, noun: FollowedNoun, ids: readonly string[]) {
  const rows = ids.map((id) => ({ id, before: endOfFeed }));
  const found = await readLatest(pool, platformId, noun, rows);
  return new Map(found.map((event) => [event.subjectId, event]));
}

const maxBatch = 200;

/** Finds the event that precedes a given event of the same row. Lookups are batched and shared by all subscribers. */
export class PreviousEvents {
  readonly #known = new WeakMap<Event, Promise<Event | undefined>>();
  readonly #loader: DataLoader<Event, Event | undefined>;

  constructor(pool: Queryable) {
    this.#loader = new DataLoader((events) => readPrevious(pool, events), { cache: false, maxBatchSize: maxBatch });
  }

  of(event: Event): Promise<Event | undefined> {
    const known = this.#known.get(event);
    if (known) return known;
    const previous = event.version === 1 ? Promise.resolve(undefined) : this.#loader.load(event);
    this.#known.set(event, previous);
    // After a failure, the next caller tries again.
    previous.catch(() => this.#known.delete(event));
    return previous;
  }
}

async function readPrevious(pool: Queryable, events: readonly Event[]): Promise<(Event | undefined)[]> {
  const previous = new Map<Event, Event | undefined>();
  const groups = Map.groupBy(events, ({ platformId, type }) => `${platformId} ${nounsByType.get(type)}`);
  for (const group of groups.values()) {
    const [first] = group;
    const noun = first && nounOf(first);
    if (!noun) continue;
    const rows = group.map((event) => ({ id: subjectIdOf(event), before: event.sequence }));
    const found = await readLatest(pool, first.platformId, noun, rows);
    const bySequence = new Map(found.map((event) => [event.before, event]));
    for (const event of group) previous.set(event, bySequence.get(event.sequence));
  }
  return events.map((event) => previous.get(event));
}

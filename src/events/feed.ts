import pg from 'pg';
import type { Logger } from 'pino';
import { connectionConfig, type Database } from '../database/database.ts';
import type { Event } from '../database/generated/client/client.ts';
import { columnsOf } from '../database/rows.ts';
import { statement } from '../database/statement.ts';
import { Channel } from './channel.ts';
import { type EventFilter, offer, type Subject, type Subscriber, SubscriberIndex } from './subscribers.ts';

/** How many events a subscriber may fall behind before it is told to come back later. */
const maxBehind = 1_000;
const page = 500;
/** Notifications are hints: without any for so long, the feed looks by itself. */
const lookMs = 1_000;
/** A database that does not answer a new listener within so long is asked again. */
const listenTimeoutMs = 5_000;
/** So many looks that find what no notification told of, and the listener is taken for deaf (its peer gone without a word). */
const deafLooks = 3;

const columns = columnsOf('Event', 'e');

const eventsAfter = statement<Event>(
  'events_after',
  `select ${columns} from event e where platform_id = $1 and sequence > $2 and sequence <= $3 order by sequence limit ${page}`,
);

const eventsOf = (of: Subject['of']) =>
  statement<Event>(
    `events_of_${of}_after`,
    `select ${columns} from event e
     where platform_id = $1 and sequence > $2 and sequence <= $3 and ${of}_id = $4 order by sequence limit ${page}`,
  );
const eventsOfSubject = {
  customer: eventsOf('customer'),
  transaction: eventsOf('transaction'),
  account: eventsOf('account'),
};

const headStatement = statement<{ sequence: bigint }>(
  'feed_head',
  'select sequence from feed_head where platform_id = $1',
);

/** The last number given in a platform's feed: 0 before the first. */
export async function feedHead(database: Database, platformId: string): Promise<bigint> {
  const [row] = await headStatement(database.pool, platformId);
  return row?.sequence ?? 0n;
}

/** One platform's feed in this process: read once from the database, handed to all who subscribed. */
interface Hub {
  readonly subscribers: Set<Subscriber>;
  /** Those that have caught up, found by what they want: an event costs as much as it has readers, not as there are. */
  readonly live: SubscriberIndex;
  /** The last sequence that was handed out here. */
  head: bigint;
  /** The last sequence known to exist. */
  target: bigint;
  reading: Promise<void> | undefined;
}

/**
 * Live reading of the feed. Each subscriber gets every event after its position, once and in order: it first catches
 * up from the database, and is handed live events from the moment that it has reached the hub's own position.
 */
export class Feed {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #hubs = new Map<string, Hub>();
  readonly #waiters = new Set<() => void>();
  #listener: pg.Client | undefined;
  /** The one attempt to listen that is under way. */
  #connecting: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Looks since the last notification that found something new. */
  #unheard = 0;
  #closed = false;

  constructor(database: Database, log: Logger) {
    this.#database = database;
    this.#log = log;
  }

  /** Begins to listen. Until then, and while the connection is lost, the feed looks every second. */
  async open(): Promise<void> {
    await this.#connect();
    this.#timer = setInterval(() => this.#look(), lookMs).unref();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const hub of this.#hubs.values()) for (const subscriber of hub.subscribers) subscriber.channel.end();
    await this.#connecting?.catch(() => undefined);
    await this.#listener?.end().catch(() => undefined);
  }

  /** How many subscriptions are open here. */
  get subscriptions(): number {
    let count = 0;
    for (const hub of this.#hubs.values()) count += hub.subscribers.size;
    return count;
  }

  /**
   * Every event after `after` that the filter wants, then the live ones, until the reader returns. A reader that falls too
   * far behind, or cannot be caught up, is dropped, and `dropped` is called then: the reader itself may be stuck.
   */
  async subscribe(
    platformId: string,
    after: bigint,
    filter: EventFilter,
    dropped?: () => void,
  ): Promise<Channel<Event>> {
    const fetched = await this.#hub(platformId);
    const hub = this.#hubs.get(platformId) ?? fetched;
    const release = () => {
      hub.subscribers.delete(subscriber);
      hub.live.delete(subscriber);
      if (hub.subscribers.size === 0) this.#hubs.delete(platformId);
    };
    const channel = new Channel<Event>(maxBehind, release, dropped);
    const subscriber: Subscriber = { filter, channel, position: after };
    this.#hubs.set(platformId, hub);
    hub.subscribers.add(subscriber);
    this.#catchUp(platformId, hub, subscriber).catch((error: unknown) => {
      if (channel.ended) return;
      this.#log.error({ err: error }, 'a subscriber could not be caught up; it is to come back');
      channel.fail(error);
      dropped?.();
    });
    return channel;
  }

  /** Waits until something new is in any feed, or `ms` have passed. */
  async waitForChange(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#waiters.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#waiters.add(done);
    });
  }

  async #hub(platformId: string): Promise<Hub> {
    const known = this.#hubs.get(platformId);
    if (known) return known;
    const head = await feedHead(this.#database, platformId);
    return { subscribers: new Set(), live: new SubscriberIndex(), head, target: head, reading: undefined };
  }

  async #catchUp(platformId: string, hub: Hub, subscriber: Subscriber): Promise<void> {
    while (subscriber.position < hub.head && !subscriber.channel.ended) {
      const { subject } = subscriber.filter;
      const end = hub.head;
      const range = [platformId, subscriber.position.toString(), end.toString()];
      const events = subject
        ? await eventsOfSubject[subject.of](this.#database.pool, ...range, subject.id)
        : await eventsAfter(this.#database.pool, ...range);
      for (const event of events) offer(subscriber, event);
      // Nothing more of the subject up to there.
      if (events.length < page) subscriber.position = end;
      await subscriber.channel.drained();
    }
    // Nothing was waited for since its position was compared with the hub's: what the hub hands out next is what it lacks.
    if (!subscriber.channel.ended) hub.live.add(subscriber);
  }

  /** Reads what is new on a platform and hands it out. One reader at a time, so the order is the feed's. */
  #read(platformId: string, hub: Hub): void {
    hub.reading ??= this.#readOn(platformId, hub)
      .catch((error: unknown) => this.#log.error({ err: error }, 'the feed could not be read; trying again'))
      .finally(() => {
        hub.reading = undefined;
      });
  }

  async #readOn(platformId: string, hub: Hub): Promise<void> {
    while (hub.head < hub.target && hub.subscribers.size > 0) {
      const events = await eventsAfter(this.#database.pool, platformId, hub.head.toString(), hub.target.toString());
      for (const event of events) {
        // Those that still catch up read it themselves.
        hub.live.dispatch(event);
        hub.head = event.sequence;
      }
      if (events.length === 0) return;
    }
  }

  #connect(): Promise<void> {
    this.#connecting ??= this.#listen().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #listen(): Promise<void> {
    const client = new pg.Client({
      ...connectionConfig(this.#database.url),
      application_name: 'feed',
      connectionTimeoutMillis: listenTimeoutMs,
      query_timeout: listenTimeoutMs,
    });
    client.on('error', () => undefined);
    client.on('end', () => {
      if (this.#listener === client) this.#listener = undefined;
    });
    client.on('notification', ({ payload = '' }) => {
      this.#unheard = 0;
      for (const head of payload.split(',')) {
        const [platformId = '', sequence = '0'] = head.split(':');
        this.#announce(platformId, BigInt(sequence));
      }
      for (const wake of this.#waiters) wake();
    });
    try {
      await client.connect();
      await client.query('listen feed');
      if (this.#closed) throw new Error('the feed was closed while it connected');
      this.#listener = client;
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
  }

  #announce(platformId: string, sequence: bigint): void {
    const hub = this.#hubs.get(platformId);
    if (!hub) return;
    if (sequence > hub.target) hub.target = sequence;
    this.#read(platformId, hub);
  }

  #look(): void {
    if (this.#closed) return;
    if (this.#unheard >= deafLooks) {
      this.#unheard = 0;
      // Not `end`: that would say goodbye to somebody who does not answer.
      this.#listener?.connection.stream.destroy();
      this.#listener = undefined;
    }
    if (!this.#listener && !this.#connecting)
      this.#connect().catch((error: unknown) =>
        this.#log.warn({ err: error }, 'the feed cannot listen; looking instead'),
      );
    let heard = true;
    for (const [platformId, hub] of this.#hubs) {
      feedHead(this.#database, platformId)
        .then((head) => {
          if (heard && head > hub.target) {
            heard = false;
            this.#unheard += 1;
          }
          this.#announce(platformId, head);
        })
        .catch(() => undefined);
    }
  }
}

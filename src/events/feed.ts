import pg from 'pg';
import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import type { Event } from '../database/generated/client/client.ts';
import { asPlatform } from '../database/platform-scope.ts';
import { columnsOf } from '../database/rows.ts';
import { statement } from '../database/statement.ts';
import { Channel } from './channel.ts';
import { type EventFilter, offer, type Subject, type Subscriber, SubscriberIndex } from './subscribers.ts';

/** How many events a subscriber may fall behind before it is dropped. */
const maxBacklog = 1_000;
const pageSize = 500;
/** How often the feed polls for new events: notifications are only hints. */
const pollMs = 1_000;
/** How many milliseconds a new listener may take to connect; then it is tried again. */
const listenTimeoutMs = 5_000;
/** After so many polls that find events without a notification, the listener's connection counts as lost. */
const maxMissedPolls = 3;

const columns = columnsOf('Event', 'e');

const eventsAfter = statement<Event>(
  'events_after',
  `select ${columns} from event e where platform_id = $1 and sequence > $2 and sequence <= $3 order by sequence limit ${pageSize}`,
);

const eventsOf = (of: Subject['of']) =>
  statement<Event>(
    `events_of_${of}_after`,
    `select ${columns} from event e
     where platform_id = $1 and sequence > $2 and sequence <= $3 and ${of}_id = $4 order by sequence limit ${pageSize}`,
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

/** Returns the last sequence of a platform's feed: 0 before the first event. */
export async function feedHead(database: Database, platformId: string): Promise<bigint> {
  const [row] = await asPlatform(platformId, () => headStatement(database.pool, platformId));
  return row?.sequence ?? 0n;
}

/** One platform's feed in this process: read once from the database, and dispatched to all subscribers. */
interface Hub {
  readonly subscribers: Set<Subscriber>;
  /** The subscribers that have caught up, indexed by subject: an event costs as much as it has readers. */
  readonly live: SubscriberIndex;
  /** The last sequence that was dispatched here. */
  head: bigint;
  /** The last sequence known to exist. */
  target: bigint;
  reading: Promise<void> | undefined;
}

/**
 * The live feed of this process. Each subscriber gets every event after its position, once and in order: it first catches
 * up from the database, and gets live events when it has reached the hub's position.
 */
export class Feed {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #hubs = new Map<string, Hub>();
  readonly #waiters = new Set<() => void>();
  #listener: pg.Client | undefined;
  /** The current attempt to listen. */
  #connecting: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The polls since the last notification that found something new. */
  #missedPolls = 0;
  #closed = false;

  constructor(database: Database, log: Logger) {
    this.#database = database;
    this.#log = log;
  }

  /** Starts to listen for notifications, and to poll every second. */
  async open(): Promise<void> {
    await this.#connect();
    this.#timer = setInterval(() => this.#poll(), pollMs).unref();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const hub of this.#hubs.values()) for (const subscriber of hub.subscribers) subscriber.channel.end();
    await this.#connecting?.catch(() => undefined);
    await this.#listener?.end().catch(() => undefined);
  }

  /** The number of subscriptions that are open in this process. */
  get subscriptions(): number {
    let count = 0;
    for (const hub of this.#hubs.values()) count += hub.subscribers.size;
    return count;
  }

  /** Whether it listens for notifications; else it polls. */
  get listening(): boolean {
    return this.#listener !== undefined;
  }

  /** The number of events that are known and not dispatched here yet: the most of any platform. */
  get lag(): number {
    let most = 0n;
    for (const { head, target } of this.#hubs.values()) if (target - head > most) most = target - head;
    return Number(most);
  }

  /**
   * Subscribes to the events after the sequence `after` that the filter wants, the stored ones and then the live ones,
   * until the reader returns. A reader that falls too far behind, or whose events cannot be read, is dropped.
   * @param onDrop called when the reader is dropped: the reader itself may be stuck
   */
  async subscribe(
    platformId: string,
    after: bigint,
    filter: EventFilter,
    onDrop?: () => void,
  ): Promise<Channel<Event>> {
    const fetched = await this.#hub(platformId);
    const hub = this.#hubs.get(platformId) ?? fetched;
    const release = () => {
      hub.subscribers.delete(subscriber);
      hub.live.delete(subscriber);
      if (hub.subscribers.size === 0) this.#hubs.delete(platformId);
    };
    const channel = new Channel<Event>(maxBacklog, release, onDrop);
    const subscriber: Subscriber = { filter, channel, position: after };
    this.#hubs.set(platformId, hub);
    hub.subscribers.add(subscriber);
    this.#catchUp(platformId, hub, subscriber).catch((error: unknown) => {
      if (channel.ended) return;
      this.#log.error({ err: error }, 'a subscriber could not catch up and was dropped');
      channel.fail(error);
      onDrop?.();
    });
    return channel;
  }

  /** Waits until any feed has a new event, or `ms` milliseconds have passed. */
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
    const existing = this.#hubs.get(platformId);
    if (existing) return existing;
    const head = await feedHead(this.#database, platformId);
    return { subscribers: new Set(), live: new SubscriberIndex(), head, target: head, reading: undefined };
  }

  async #catchUp(platformId: string, hub: Hub, subscriber: Subscriber): Promise<void> {
    while (subscriber.position < hub.head && !subscriber.channel.ended) {
      const { subject } = subscriber.filter;
      const end = hub.head;
      const range = [platformId, subscriber.position.toString(), end.toString()];
      const { pool } = this.#database;
      const events = await asPlatform(platformId, () =>
        subject ? eventsOfSubject[subject.of](pool, ...range, subject.id) : eventsAfter(pool, ...range),
      );
      for (const event of events) offer(subscriber, event);
      // A short page was the last one: the subject has no more events up to `end`.
      if (events.length < pageSize) subscriber.position = end;
      await subscriber.channel.drained();
    }
    // No `await` since its position was compared with the hub's: the next event that the hub dispatches is its next one.
    if (!subscriber.channel.ended) hub.live.add(subscriber);
  }

  /** Reads the new events of a platform and dispatches them. One read at a time, so the order is the feed's. */
  #read(platformId: string, hub: Hub): void {
    hub.reading ??= this.#readToTarget(platformId, hub)
      .catch((error: unknown) => this.#log.error({ err: error }, 'the feed could not be read; trying again'))
      .finally(() => {
        hub.reading = undefined;
      });
  }

  async #readToTarget(platformId: string, hub: Hub): Promise<void> {
    while (hub.head < hub.target && hub.subscribers.size > 0) {
      const events = await asPlatform(platformId, () =>
        eventsAfter(this.#database.pool, platformId, hub.head.toString(), hub.target.toString()),
      );
      for (const event of events) {
        // Subscribers that still catch up read it themselves.
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
      ...this.#database.connectionFor('feed'),
      connectionTimeoutMillis: listenTimeoutMs,
      query_timeout: listenTimeoutMs,
    });
    client.on('error', () => undefined);
    client.on('end', () => {
      if (this.#listener === client) this.#listener = undefined;
    });
    client.on('notification', ({ payload = '' }) => {
      this.#missedPolls = 0;
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

  #poll(): void {
    if (this.#closed) return;
    if (this.#missedPolls >= maxMissedPolls) {
      this.#missedPolls = 0;
      // Not `end`: that would send a message and wait for a peer that does not answer.
      this.#listener?.connection.stream.destroy();
      this.#listener = undefined;
    }
    if (!this.#listener && !this.#connecting)
      this.#connect().catch((error: unknown) =>
        this.#log.warn({ err: error }, 'the feed cannot listen and polls instead'),
      );
    let isCounted = false;
    for (const [platformId, hub] of this.#hubs) {
      feedHead(this.#database, platformId)
        .then((head) => {
          if (!isCounted && head > hub.target) {
            isCounted = true;
            this.#missedPolls += 1;
          }
          this.#announce(platformId, head);
        })
        .catch(() => undefined);
    }
  }
}

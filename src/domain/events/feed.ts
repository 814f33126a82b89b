import { setTimeout as delay, setImmediate as nextRound } from 'node:timers/promises';
import type { Logger } from 'pino';
import { FaultStates } from '../../core/fault-states.ts';
import { OwnConnection } from '../../infra/database/connections/own-connection.ts';
import type { Database } from '../../infra/database/database.ts';
import type { Event } from '../../infra/database/generated/client/client.ts';
import { ReferredRows } from '../../infra/database/predicates.ts';
import { singleFlight } from '../../infra/instruments/single-flight.ts';
import { Channel } from './channel.ts';
import { EventsUndone, type FeedPosition } from './cursor.ts';
import {
  FeedReads,
  type FollowedNoun,
  feedHead,
  hasPosition,
  latestEventsOf,
  newestEvents,
  type Page,
  PreviousEvents,
  pageSize,
} from './reads.ts';
import { type EventFilter, type Hub, offer, type Subscriber, SubscriberIndex } from './subscribers.ts';

/** The number of events that a replay delivers before it yields to other work in the process. */
const portion = 25;
/** How long a replay waits for its reader to consume a page before the next replay takes its turn, in milliseconds. */
const turnMs = 100;

/** Replays the feed to a lagging subscriber. Replays take turns page by page, and yield to live events and requests. */
async function catchUp(reads: FeedReads, hub: Hub, subscriber: Subscriber): Promise<void> {
  const { channel } = subscriber;
  while (subscriber.position < hub.head && !channel.ended) {
    await reads.replayTurns.run(async () => {
      if (!channel.ended) await deliver(await nextPage(reads, hub, subscriber), subscriber);
    });
    await channel.drained();
  }
  // Nothing has been awaited since the positions were compared, so the hub's next event is the one that follows the
  // subscriber's position.
  if (!channel.ended) hub.live.add(subscriber);
}

async function nextPage(reads: FeedReads, hub: Hub, { position, filter }: Subscriber): Promise<Page> {
  const { platformId, head } = hub;
  if (reads.replayTurns.isFull && head - position <= newestEvents) {
    // The newest events are read into memory, once for all waiting readers.
    hub.filling ??= reads.newest(platformId, head).catch(() => {
      // After a failure, each reader reads its own page.
      delete hub.filling;
    });
    await hub.filling;
  }
  const events = reads.recent.after(hub, position, pageSize);
  const last = events.at(-1);
  return last ? { events, upTo: last.sequence } : reads.page(platformId, position, head, filter);
}

async function deliver({ events, upTo }: Page, subscriber: Subscriber): Promise<void> {
  const { channel } = subscriber;
  const patience = delay(turnMs, undefined, { ref: false });
  let offered = 0;
  for (const event of events) {
    if (channel.ended) return;
    if (!offer(subscriber, event)) continue;
    offered += 1;
    if (offered % portion > 0) continue;
    await Promise.race([channel.drained(), patience]);
    // Awaiting the queue alone does not let live events and requests run.
    await nextRound();
  }
  await Promise.race([channel.drained(), patience]);
  if (upTo > subscriber.position) subscriber.position = upTo;
}

const listenTimeoutMs = 5_000;
/** After this many polls have found events that no notification announced, the listener's connection counts as lost. */
const maxMissedPolls = 3;

type Head = ReturnType<typeof headsIn>[number];

/** The connection that listens for sequencers' notifications. If it misses several, a new connection replaces it. */
class FeedListener extends OwnConnection {
  /** Concurrent calls share one connection attempt, so that a failure is counted once. */
  readonly #reconnect: () => Promise<void>;
  #missedPolls = 0;

  /** @param onAnnounced called for each notification, with the platforms whose feeds have new events */
  constructor(database: Database, log: Logger, onAnnounced: (heads: readonly Head[]) => void) {
    const limits = { connectionTimeoutMillis: listenTimeoutMs, query_timeout: listenTimeoutMs };
    super(
      () => ({ ...database.connectionFor('feed'), ...limits }),
      async (client) => {
        client.on('notification', ({ payload = '' }) => {
          this.#missedPolls = 0;
          onAnnounced(headsIn(payload));
        });
        await client.query('listen feed');
      },
    );
    const faults = FaultStates.of(log);
    this.#reconnect = singleFlight(() => faults.watch('feed notifications (the feed polls instead)', this.get()));
  }

  missed(): void {
    this.#missedPolls += 1;
  }

  /** Drops a connection that delivers no notifications, and reconnects if no connection is open. */
  renew(): void {
    if (this.#missedPolls >= maxMissedPolls) {
      this.#missedPolls = 0;
      this.drop();
    }
    if (!this.isOpen) void this.#reconnect();
  }
}

function headsIn(payload: string) {
  return payload.split(',').map((head) => {
    const [platformId = '', sequence = '0'] = head.split(':');
    return { platformId, sequence: BigInt(sequence) };
  });
}

/** How many events a subscriber may fall behind before it is dropped. */
const maxBacklog = 1_000;
/** The interval at which the feed polls for new events, in milliseconds. It polls because notifications may be lost. */
const pollMs = 1_000;
/** The maximum wait for a committed change to be sequenced, in milliseconds. A few milliseconds are usually enough. */
const latestMs = 2_000;

/**
 * The live feed of this process. Each subscriber gets every event after its position, once and in order: it first
 * catches up from the database, then gets live events once it has reached the hub's position.
 */
export class Feed {
  readonly previous: PreviousEvents;
  readonly referred: ReferredRows;
  readonly #log: Logger;
  readonly #pool: Database['pool'];
  readonly #listener: FeedListener;
  readonly #reads: FeedReads;
  readonly #hubs = new Map<string, Hub>();
  readonly #opening = new Map<string, Promise<Hub>>();
  readonly #waiters = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;

  constructor(database: Database, log: Logger) {
    this.#log = log;
    this.#pool = database.pool;
    this.#listener = new FeedListener(database, log, (heads) => this.#announced(heads));
    this.#reads = new FeedReads(database);
    this.previous = new PreviousEvents(database.pool);
    this.referred = new ReferredRows(database);
  }

  async open(): Promise<void> {
    await this.#listener.get();
    this.#timer = setInterval(() => this.#poll(), pollMs).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const hub of this.#hubs.values()) for (const subscriber of hub.subscribers) subscriber.channel.end();
    await this.#listener.close();
    await this.#reads.close();
  }

  get subscriptions(): number {
    return [...this.#hubs.values()].reduce((count, hub) => count + hub.subscribers.size, 0);
  }

  get listening(): boolean {
    return this.#listener.isOpen;
  }

  /** The number of known events not yet dispatched by this process, for the platform that is furthest behind. */
  get lag(): number {
    return [...this.#hubs.values()].reduce((most, { head, target }) => Math.max(most, Number(target - head)), 0);
  }

  /**
   * Subscribes to the events after the sequence `after` that match the filter, until `return` is called on the channel.
   * A subscriber that falls too far behind, or whose events cannot be read, is dropped.
   * @param onDrop called when the subscriber is dropped, so that it finds out even if it no longer reads the channel
   */
  async subscribe(platformId: string, after: bigint, filter: EventFilter, onDrop?: () => void) {
    const hub = this.#hubs.get(platformId) ?? (await this.#openHub(platformId));
    const release = () => {
      hub.subscribers.delete(subscriber);
      hub.live.delete(subscriber);
      if (hub.subscribers.size === 0) this.#closeHub(hub);
    };
    const channel = new Channel<Event>(maxBacklog, release, onDrop);
    const subscriber: Subscriber = { filter, channel, position: after };
    this.#hubs.set(platformId, hub);
    hub.subscribers.add(subscriber);
    catchUp(this.#reads, hub, subscriber).catch((error: unknown) => {
      if (channel.ended) return;
      this.#log.error({ err: error }, 'a subscriber could not catch up and was dropped');
      channel.fail(error);
      onDrop?.();
    });
    return channel;
  }

  /** Returns whether the events in memory prove that all events after the given position occurred after `time`. */
  isRecent(platformId: string, { sequence, epoch }: FeedPosition, time: Date): boolean {
    const hub = this.#hubs.get(platformId);
    if (!hub || epoch !== hub.epoch) return false;
    if (sequence === hub.head) return true;
    const [event, next] = this.#reads.recent.after(hub, sequence - 1n, 2);
    return event !== undefined && next !== undefined && next.occurredAt > time;
  }

  get eventsRead(): Readonly<Record<'live' | 'replay', number>> {
    return this.#reads.count;
  }

  /**
   * Returns the latest event of each row, all as of the same moment, once the rows have reached the given versions.
   * Omits rows whose events do not arrive in time because no sequencer is running.
   */
  async latest(platformId: string, noun: FollowedNoun, versions: ReadonlyMap<string, number>) {
    const deadline = Date.now() + latestMs;
    for (;;) {
      const found = await latestEventsOf(this.#pool, platformId, noun, [...versions.keys()]);
      const reached = [...found].filter(([id, { version }]) => (version ?? 0) >= (versions.get(id) ?? 0));
      const leftMs = deadline - Date.now();
      if (reached.length === versions.size || leftMs <= 0) return new Map(reached);
      await this.waitForChange(Math.min(leftMs, 50));
    }
  }

  async waitForChange(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.#waiters.add(resolve);
    await promise;
    clearTimeout(timer);
    this.#waiters.delete(resolve);
  }

  async #openHub(platformId: string): Promise<Hub> {
    const opening =
      this.#opening.get(platformId) ??
      feedHead(this.#reads, platformId)
        .then(({ sequence, epoch }) => {
          const hub: Hub = {
            ...{ platformId, head: sequence, epoch, target: sequence },
            subscribers: new Set<Subscriber>(),
            live: new SubscriberIndex(),
            // Reads run one at a time, which preserves the feed's order.
            read: singleFlight(() => FaultStates.of(this.#log).watch('feed', this.#readToTarget(hub))),
          };
          return hub;
        })
        .finally(() => this.#opening.delete(platformId));
    this.#opening.set(platformId, opening);
    const opened = await opening;
    // In the meantime, other subscribers may have closed this hub and opened a newer one.
    return this.#hubs.get(platformId) ?? opened;
  }

  #closeHub(hub: Hub): void {
    this.#hubs.delete(hub.platformId);
    if (this.#hubs.size === 0) this.#reads.recent.clear();
  }

  async #readToTarget(hub: Hub): Promise<void> {
    while (hub.head < hub.target && hub.subscribers.size > 0) {
      const events = await this.#reads.live(hub.platformId, hub.head, hub.target);
      for (const event of events) {
        if (event.epoch !== hub.epoch && !(await this.#continues(hub))) return;
        hub.epoch = event.epoch;
        this.#reads.recent.add(event);
        hub.live.dispatch(event);
        hub.head = event.sequence;
      }
      if (events.length === 0) return;
    }
  }

  /** Abandons the hub and returns false if a database restore has removed the hub's last dispatched event. */
  async #continues(hub: Hub): Promise<boolean> {
    const continues = await hasPosition(this.#reads.pool, hub.platformId, { sequence: hub.head, epoch: hub.epoch });
    if (!continues) this.#abandon(hub);
    return continues;
  }

  #abandon(hub: Hub): void {
    const { platformId, subscribers } = hub;
    this.#log.warn(
      { platform: platformId, sequence: hub.head.toString() },
      "the database was restored to an earlier state: ending all of this platform's subscriptions",
    );
    hub.target = hub.head;
    this.#closeHub(hub);
    for (const { channel } of [...subscribers]) channel.fail(new EventsUndone());
  }

  #announced(heads: readonly Head[]): void {
    for (const { platformId, sequence } of heads) this.#announce(platformId, sequence);
    for (const wake of this.#waiters) wake();
  }

  #announce(platformId: string, sequence: bigint): void {
    const hub = this.#hubs.get(platformId);
    if (!hub) return;
    if (sequence > hub.target) hub.target = sequence;
    if (hub.head < hub.target) void hub.read();
  }

  #poll(): void {
    this.#listener.renew();
    let isCounted = false;
    for (const [platformId, hub] of this.#hubs) {
      const before = hub.head;
      feedHead(this.#reads, platformId)
        .then(({ sequence, epoch }) => {
          // Only a restore of the whole database can move the end of a feed backwards.
          const isUndone = sequence < before || (sequence === before && before === hub.head && epoch !== hub.epoch);
          if (isUndone) return this.#abandon(hub);
          if (!isCounted && sequence > hub.target) {
            isCounted = true;
            this.#listener.missed();
          }
          return this.#announce(platformId, sequence);
        })
        .catch(() => undefined);
    }
  }
}

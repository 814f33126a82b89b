import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import type { Event } from '../database/generated/client/client.ts';
import { ReferredRows } from '../database/referred-rows.ts';
import { Channel } from './channel.ts';
import { EventsUndone, type FeedPosition } from './cursor.ts';
import { dispatch, dispatchRelayed, type Hub, newHub, position } from './hub.ts';
import { type Announcement, FeedListener } from './listener.ts';
import { FeedReads } from './reads.ts';
import { RecentEvents, RecentMemory } from './recent.ts';
import { RelayPublisher } from './relay/publisher.ts';
import type { OwnRelay, RelayedBatch, RelayFigures } from './relay/relay.ts';
import { RelayedEvents } from './relay/relayed-events.ts';
import { Replays } from './replays.ts';
import { PreviousEvents } from './row-events.ts';
import type { EventFilter, Subscriber } from './subscribers.ts';

/** How many events a subscriber may fall behind before it is dropped. */
const maxBacklog = 1_000;
/** How often the feed polls for new events: notifications are only hints. */
const pollMs = 1_000;

/**
 * The live feed of this process. Each subscriber gets every event after its position, once and in order: it first catches
 * up from the database, and gets live events when it has reached the hub's position.
 */
export class Feed {
  /** The events before those that followers of lists look at. */
  readonly previous: PreviousEvents;
  /** The rows that filters of followed lists refer to. */
  readonly referred: ReferredRows;
  readonly #log: Logger;
  readonly #listener: FeedListener;
  readonly #reads: FeedReads;
  readonly #hubs = new Map<string, Hub>();
  readonly #opening = new Map<string, Promise<Hub>>();
  readonly #memory = new RecentMemory();
  readonly #replays: Replays;
  readonly #waiters = new Set<() => void>();
  readonly #relay: OwnRelay | undefined;
  readonly #publisher: RelayPublisher | undefined;
  readonly #count = { relayed: 0, late: 0 };
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** @param relay brings what other instances have read, instead of reads of the database */
  constructor(database: Database, log: Logger, relay?: OwnRelay) {
    this.#log = log;
    this.#relay = relay;
    this.#listener = new FeedListener(database, log, (announcement) => this.#announced(announcement));
    this.#reads = new FeedReads(database);
    this.#replays = new Replays(this.#reads);
    this.#publisher = relay && new RelayPublisher(relay.relay, this.#reads, log, (batch) => this.#take(batch));
    this.previous = new PreviousEvents(database.pool);
    this.referred = new ReferredRows(database);
  }

  /** Starts to listen for notifications, and to poll every second. */
  async open(): Promise<void> {
    await this.#listener.open();
    this.#relay?.relay.open({ take: (batch) => this.#take(batch), lost: () => this.#relayLost() });
    this.#timer = setInterval(() => this.#poll(), pollMs).unref();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const hub of this.#hubs.values()) for (const subscriber of hub.subscribers) subscriber.channel.end();
    await this.#relay?.relay.close();
    await this.#listener.close();
    await this.#reads.close();
  }

  /** The number of subscriptions that are open in this process. */
  get subscriptions(): number {
    let count = 0;
    for (const hub of this.#hubs.values()) count += hub.subscribers.size;
    return count;
  }

  /** Whether it listens for notifications; else it polls. */
  get listening(): boolean {
    return this.#listener.listening;
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
    const hub = this.#hubs.get(platformId) ?? (await this.#openHub(platformId));
    const release = () => {
      hub.subscribers.delete(subscriber);
      hub.live.delete(subscriber);
      if (hub.subscribers.size === 0) this.#closeHub(hub);
    };
    const channel = new Channel<Event>(maxBacklog, release, onDrop);
    const subscriber: Subscriber = { filter, channel, position: after };
    if (!this.#hubs.has(platformId)) this.#relay?.relay.follow(platformId);
    this.#hubs.set(platformId, hub);
    hub.subscribers.add(subscriber);
    this.#replays.catchUp(hub, subscriber).catch((error: unknown) => {
      if (channel.ended) return;
      this.#log.error({ err: error }, 'a subscriber could not catch up and was dropped');
      channel.fail(error);
      onDrop?.();
    });
    return channel;
  }

  /**
   * Says whether memory shows that all events after a position of the feed are from after `time`. False where only the
   * database knows.
   */
  isRecent(platformId: string, { sequence, epoch }: FeedPosition, time: Date): boolean {
    const hub = this.#hubs.get(platformId);
    if (!hub) return false;
    if (sequence === hub.head) return epoch === hub.epoch;
    const [event, next] = [hub.recent.at(sequence), hub.recent.at(sequence + 1n)];
    return event?.epoch === epoch && next !== undefined && next.occurredAt > time;
  }

  /** How many events of the feed this process has read from the database: live ones, and those that were replayed. */
  get eventsRead(): Readonly<Record<'live' | 'replay', number>> {
    return this.#reads.count;
  }

  /** What the relay has done, where there is one. */
  get relayFigures(): RelayFigures | undefined {
    return this.#relay && { isUp: this.#relay.relay.isUp, published: this.#relay.relay.published, ...this.#count };
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

  /** Opens a platform's hub, once for all subscribers that come meanwhile. */
  async #openHub(platformId: string): Promise<Hub> {
    const opening =
      this.#opening.get(platformId) ??
      this.#reads
        .head(platformId)
        .then((head) => this.#newHub(platformId, head))
        .finally(() => this.#opening.delete(platformId));
    this.#opening.set(platformId, opening);
    const opened = await opening;
    // Another subscriber may have opened it, ended, and been followed by one with a newer hub.
    return this.#hubs.get(platformId) ?? opened;
  }

  #newHub(platformId: string, head: FeedPosition): Hub {
    const late = () => {
      this.#count.late += 1;
      this.#read(platformId, hub);
    };
    const relayed = this.#relay && new RelayedEvents(late);
    const hub = newHub(platformId, head, { recent: new RecentEvents(this.#memory), relayed });
    return hub;
  }

  #closeHub(hub: Hub): void {
    this.#hubs.delete(hub.platformId);
    this.#relay?.relay.unfollow(hub.platformId);
    hub.relayed?.clear();
    hub.recent.clear();
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
      const events = await this.#reads.live(platformId, hub.head, hub.target);
      for (const event of events) {
        if (event.epoch !== hub.epoch && !(await this.#continues(hub))) return;
        // The relay may have brought it meanwhile.
        if (event.sequence <= hub.head) continue;
        dispatch(hub, event);
      }
      if (events.length === 0) return;
      this.#count.relayed += dispatchRelayed(hub);
    }
  }

  /**
   * Takes what the relay brings, as far as it follows what was dispatched. It counts only if it was read from the server to which
   * this process listens: an instance that a restore or a failover has left behind brings what has been undone.
   */
  #take({ platformId, server, events }: RelayedBatch): void {
    const hub = this.#hubs.get(platformId);
    const last = events.at(-1);
    if (!hub?.relayed || !last || server !== this.#listener.server) return;
    hub.relayed.add(events, hub.head);
    this.#count.relayed += dispatchRelayed(hub);
    if (last.sequence >= hub.target) hub.relayed.caughtUp();
    if (hub.relayed.hasGap && hub.head < hub.target) this.#read(platformId, hub);
  }

  /** Reads what was waited for. */
  #relayLost(): void {
    for (const [platformId, hub] of this.#hubs) {
      hub.relayed?.clear();
      if (hub.head < hub.target) this.#read(platformId, hub);
    }
  }

  /**
   * Says whether the feed goes on after what was dispatched here, in a new epoch. Where it does not, the database was restored to
   * an earlier moment, and the hub is abandoned.
   */
  async #continues(hub: Hub): Promise<boolean> {
    const continues = await this.#reads.has(hub.platformId, position(hub));
    if (!continues) this.#abandon(hub);
    return continues;
  }

  /** Ends all subscriptions of a hub whose events have been undone. */
  #abandon(hub: Hub): void {
    const { platformId, subscribers } = hub;
    this.#log.warn(
      { platform: platformId, sequence: hub.head.toString() },
      'the feed has gone back: subscribers are ended',
    );
    hub.target = hub.head;
    this.#closeHub(hub);
    for (const { channel } of [...subscribers]) channel.fail(new EventsUndone());
  }

  #announced({ heads, sessionId }: Announcement): void {
    const isOwn = sessionId === this.#relay?.ownSession();
    for (const head of heads) {
      const comes = this.#publisher?.announced(head, this.#listener.server, isOwn) ?? false;
      this.#announce(head.platformId, head.sequence, comes);
    }
    for (const wake of this.#waiters) wake();
  }

  /** @param comes whether another instance publishes the events up to this one, or this one reads them for all */
  #announce(platformId: string, sequence: bigint, comes: boolean): void {
    const hub = this.#hubs.get(platformId);
    if (!hub) return;
    if (sequence > hub.target) hub.target = sequence;
    if (hub.head >= hub.target) return;
    if (comes && hub.relayed?.waits(() => hub.head >= sequence)) return;
    this.#read(platformId, hub);
  }

  #poll(): void {
    if (this.#closed) return;
    this.#listener.renew();
    let isCounted = false;
    for (const [platformId, hub] of this.#hubs) {
      const before = hub.head;
      this.#reads
        .head(platformId)
        .then(({ sequence, epoch }) => {
          // The end of a feed goes back only with the whole database.
          const isUndone = sequence < before || (sequence === before && before === hub.head && epoch !== hub.epoch);
          if (isUndone) return this.#abandon(hub);
          if (!isCounted && sequence > hub.target) {
            isCounted = true;
            this.#listener.missed();
          }
          return this.#announce(platformId, sequence, true);
        })
        .catch(() => undefined);
    }
  }
}

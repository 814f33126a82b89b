import type { Event, EventType } from '../../infra/database/generated/client/client.ts';
import type { Channel } from './channel.ts';
import type { FeedPosition } from './cursor.ts';
import type { RecentEvents } from './recent.ts';

/**
 * The objects whose events a subscriber reads, without duplicates. The database has an index on each of these
 * columns.
 */
export type Subject = { readonly of: 'customer' | 'transaction' | 'account'; readonly ids: readonly string[] };

export interface EventFilter {
  readonly wants: (event: Event) => boolean;
  /** The subject of all wanted events, so that catching up reads only these. */
  readonly subject?: Subject | undefined;
  /** The types of all wanted events, so that catching up reads only these. */
  readonly types?: readonly EventType[] | undefined;
}

/** One reader of a platform's feed in this process. */
export interface Subscriber {
  readonly filter: EventFilter;
  readonly channel: Channel<Event>;
  position: bigint;
}

/** The subscribers that get live events, indexed by subject. Those without a subject get every event. */
export class SubscriberIndex {
  readonly #withoutSubject = new Set<Subscriber>();
  readonly #bySubject: Readonly<Record<Subject['of'], Map<string, Set<Subscriber>>>> = {
    customer: new Map(),
    transaction: new Map(),
    account: new Map(),
  };

  add(subscriber: Subscriber): void {
    const { subject } = subscriber.filter;
    if (!subject) {
      this.#withoutSubject.add(subscriber);
      return;
    }
    const byId = this.#bySubject[subject.of];
    for (const id of subject.ids) {
      const subscribers = byId.get(id);
      if (subscribers) subscribers.add(subscriber);
      else byId.set(id, new Set([subscriber]));
    }
  }

  delete(subscriber: Subscriber): void {
    const { subject } = subscriber.filter;
    if (!subject) {
      this.#withoutSubject.delete(subscriber);
      return;
    }
    const byId = this.#bySubject[subject.of];
    for (const id of subject.ids) {
      const subscribers = byId.get(id);
      subscribers?.delete(subscriber);
      if (subscribers?.size === 0) byId.delete(id);
    }
  }

  dispatch(event: Event): void {
    for (const subscriber of this.#withoutSubject) offer(subscriber, event);
    this.#dispatchTo('customer', event.customerId, event);
    this.#dispatchTo('transaction', event.transactionId, event);
    this.#dispatchTo('account', event.accountId, event);
  }

  #dispatchTo(of: Subject['of'], id: string | null, event: Event): void {
    const subscribers = id === null ? undefined : this.#bySubject[of].get(id);
    if (subscribers) for (const subscriber of subscribers) offer(subscriber, event);
  }
}

/** Sends an event to a subscriber that wants it, unless it was offered before. Returns whether it was sent. */
export function offer(subscriber: Subscriber, event: Event): boolean {
  if (event.sequence <= subscriber.position) return false;
  subscriber.position = event.sequence;
  if (!subscriber.filter.wants(event)) return false;
  subscriber.channel.push(event);
  return true;
}

/** One platform's feed in this process: read once, and dispatched to all subscribers. */
export interface Hub {
  readonly platformId: string;
  readonly subscribers: Set<Subscriber>;
  /** The subscribers that have caught up, indexed by subject, so that an event takes time only for its readers. */
  readonly live: SubscriberIndex;
  readonly recent: RecentEvents;
  /** The shared read of the newest events. */
  filling?: Promise<void>;
  head: bigint;
  epoch: number | null;
  /** The last sequence known to exist. */
  target: bigint;
  reading: Promise<void> | undefined;
}

/** Creates the hub of a platform, which starts reading after this position. */
export function newHub(platformId: string, { sequence, epoch }: FeedPosition, recent: RecentEvents): Hub {
  return {
    ...{ platformId, recent },
    ...{ head: sequence, epoch, target: sequence, reading: undefined },
    subscribers: new Set<Subscriber>(),
    live: new SubscriberIndex(),
  };
}

/** Returns the position of the last event that was dispatched. */
export const position = ({ head: sequence, epoch }: Hub): FeedPosition => ({ sequence, epoch });

/** Offers the feed's next event to the subscribers that have caught up; the others read it themselves. */
export function dispatch(hub: Hub, event: Event): void {
  hub.epoch = event.epoch;
  hub.recent.add(event);
  hub.live.dispatch(event);
  hub.head = event.sequence;
}

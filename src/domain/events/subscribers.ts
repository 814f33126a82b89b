import type { Event, EventType } from '../../infra/database/generated/client/client.ts';
import type { Channel } from './channel.ts';

/** The objects whose events a subscriber reads, identified by distinct ids in an indexed column. */
export type Subject = { readonly of: 'customer' | 'transaction' | 'account'; readonly ids: readonly string[] };

export interface EventFilter {
  readonly wants: (event: Event) => boolean;
  readonly subject?: Subject | undefined;
  /** Every wanted event concerns the subject and has one of these types, so catching up reads only such events. */
  readonly types?: readonly EventType[] | undefined;
}

export interface Subscriber {
  readonly filter: EventFilter;
  readonly channel: Channel<Event>;
  position: bigint;
}

/** The subscribers that get live events, indexed by subject. Subscribers without a subject get every event. */
export class SubscriberIndex {
  readonly #byKey = new Map<string, Set<Subscriber>>();

  add(subscriber: Subscriber): void {
    for (const key of keysOf(subscriber)) {
      const subscribers = this.#byKey.get(key);
      if (subscribers) subscribers.add(subscriber);
      else this.#byKey.set(key, new Set([subscriber]));
    }
  }

  delete(subscriber: Subscriber): void {
    for (const key of keysOf(subscriber)) {
      const subscribers = this.#byKey.get(key);
      subscribers?.delete(subscriber);
      if (subscribers?.size === 0) this.#byKey.delete(key);
    }
  }

  dispatch(event: Event): void {
    const { customerId, transactionId, accountId } = event;
    for (const key of [anyEvent, `customer ${customerId}`, `transaction ${transactionId}`, `account ${accountId}`]) {
      for (const subscriber of this.#byKey.get(key) ?? []) offer(subscriber, event);
    }
  }
}

const anyEvent = '';

function keysOf({ filter: { subject } }: Subscriber): readonly string[] {
  return subject ? subject.ids.map((id) => `${subject.of} ${id}`) : [anyEvent];
}

/** Sends an event to a subscriber that wants it, unless it was offered before. Returns whether the event was sent. */
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
  /** The subscribers that have caught up, indexed by subject, so that an event is offered only to its readers. */
  readonly live: SubscriberIndex;
  filling?: Promise<void>;
  head: bigint;
  epoch: number | null;
  /** The last sequence known to exist. */
  target: bigint;
  /** Reads and dispatches the events up to `target`. */
  readonly read: () => Promise<void>;
}

import type { Event, EventType } from '../../infra/database/generated/client/client.ts';
import type { Channel } from './channel.ts';

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

import type { Event } from '../database/generated/client/client.ts';
import type { Channel } from './channel.ts';

/** What a subscriber can narrow its reading to: the feed has an index of each. */
export type Subject = { readonly of: 'customer' | 'transaction' | 'account'; readonly id: string };

/** Which events a subscriber wants. */
export interface EventFilter {
  readonly wants: (event: Event) => boolean;
  /** All that it wants are of this one: a gap is then read as fast as that one has events, however many others there are. */
  readonly subject?: Subject | undefined;
}

/** Whoever reads one platform's feed here. */
export interface Subscriber {
  readonly filter: EventFilter;
  readonly channel: Channel<Event>;
  /** The last sequence that this subscriber has been offered. */
  position: bigint;
}

/** The subscribers that are handed events as they come, each in one place: under its subject, or among those of none. */
export class SubscriberIndex {
  readonly #ofAll = new Set<Subscriber>();
  readonly #of: Readonly<Record<Subject['of'], Map<string, Set<Subscriber>>>> = {
    customer: new Map(),
    transaction: new Map(),
    account: new Map(),
  };

  add(subscriber: Subscriber): void {
    const { subject } = subscriber.filter;
    if (!subject) {
      this.#ofAll.add(subscriber);
      return;
    }
    const bySubject = this.#of[subject.of];
    const those = bySubject.get(subject.id);
    if (those) those.add(subscriber);
    else bySubject.set(subject.id, new Set([subscriber]));
  }

  delete(subscriber: Subscriber): void {
    const { subject } = subscriber.filter;
    if (!subject) {
      this.#ofAll.delete(subscriber);
      return;
    }
    const bySubject = this.#of[subject.of];
    const those = bySubject.get(subject.id);
    those?.delete(subscriber);
    if (those?.size === 0) bySubject.delete(subject.id);
  }

  dispatch(event: Event): void {
    for (const subscriber of this.#ofAll) offer(subscriber, event);
    this.#dispatchTo('customer', event.customerId, event);
    this.#dispatchTo('transaction', event.transactionId, event);
    this.#dispatchTo('account', event.accountId, event);
  }

  #dispatchTo(of: Subject['of'], id: string | null, event: Event): void {
    const those = id === null ? undefined : this.#of[of].get(id);
    if (those) for (const subscriber of those) offer(subscriber, event);
  }
}

/** Hands an event to a subscriber that wants it and has not been offered it before. */
export function offer(subscriber: Subscriber, event: Event): void {
  if (event.sequence <= subscriber.position) return;
  subscriber.position = event.sequence;
  if (subscriber.filter.wants(event)) subscriber.channel.push(event);
}

import type { RecentEvents } from './recent.ts';
import type { Subscriber, SubscriberIndex } from './subscribers.ts';

/** One platform's feed in this process: read once from the database, and dispatched to all subscribers. */
export interface Hub {
  readonly platformId: string;
  readonly subscribers: Set<Subscriber>;
  /** The subscribers that have caught up, indexed by subject: an event costs as much as it has readers. */
  readonly live: SubscriberIndex;
  readonly recent: RecentEvents;
  /** The read of the newest events, once for all. */
  filling?: Promise<void>;
  /** The last sequence that was dispatched here. */
  head: bigint;
  /** The epoch of the event with that sequence. */
  epoch: number | null;
  /** The last sequence known to exist. */
  target: bigint;
  reading: Promise<void> | undefined;
}

import type { Event } from '../../infra/database/generated/client/client.ts';
import type { FeedPosition } from './cursor.ts';
import type { RecentEvents } from './recent.ts';
import { type Subscriber, SubscriberIndex } from './subscribers.ts';

/** One platform's feed in this process: read once, and dispatched to all subscribers. */
export interface Hub {
  readonly platformId: string;
  readonly subscribers: Set<Subscriber>;
  /** The subscribers that have caught up, indexed by subject, so that an event costs time only for its readers. */
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

/** Offers the feed's next event to the subscribers that have caught up; the other subscribers read it themselves. */
export function dispatch(hub: Hub, event: Event): void {
  hub.epoch = event.epoch;
  hub.recent.add(event);
  hub.live.dispatch(event);
  hub.head = event.sequence;
}

import { setTimeout as delay, setImmediate as nextRound } from 'node:timers/promises';
import { Slots } from '../../core/slots.ts';
import { type FeedReads, type Page, pageSize, replayConnections } from './reads.ts';
import { newestEvents } from './recent.ts';
import { type Hub, offer, type Subscriber } from './subscribers.ts';

/** The number of events that a replay delivers before it yields to other work of the process. */
const portion = 25;
/** How long a reader may take for a page before the next replay gets its turn, in milliseconds. */
const turnMs = 100;

/** Replays the feed page by page, in turn, to subscribers that are behind. Live events and requests do not wait. */
export class Replays {
  readonly #reads: FeedReads;
  readonly #turns = new Slots(replayConnections);

  constructor(reads: FeedReads) {
    this.#reads = reads;
  }

  /** Brings a subscriber up to the hub's position, and makes it live. */
  async catchUp(hub: Hub, subscriber: Subscriber): Promise<void> {
    const { channel } = subscriber;
    while (subscriber.position < hub.head && !channel.ended) {
      await this.#turns.run(async () => {
        if (!channel.ended) await deliver(await this.#nextPage(hub, subscriber), subscriber);
      });
      await channel.drained();
    }
    // Since the position was compared with the hub's there was no `await`, so the next event that the hub dispatches is
    // the one that follows.
    if (!channel.ended) hub.live.add(subscriber);
  }

  async #nextPage(hub: Hub, { position, filter }: Subscriber): Promise<Page> {
    const { platformId, head } = hub;
    if (this.#turns.isFull && head - position <= newestEvents) await this.#fill(hub);
    const events = hub.recent.after(position, pageSize);
    const last = events?.at(-1);
    return events && last ? { events, upTo: last.sequence } : this.#reads.page(platformId, position, head, filter);
  }

  /** Reads the newest events into memory, once for all waiting readers. */
  async #fill(hub: Hub): Promise<void> {
    hub.filling ??= this.#reads.newest(hub.platformId, hub.head).then(
      (events) => hub.recent.fill(events),
      () => {
        // Each reader then reads its own page.
        delete hub.filling;
      },
    );
    await hub.filling;
  }
}

/** Offers a page to a subscriber in portions, without waiting for a slow reader. */
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
    // Awaiting only the queue does not let live events and requests run.
    await nextRound();
  }
  await Promise.race([channel.drained(), patience]);
  if (upTo > subscriber.position) subscriber.position = upTo;
}

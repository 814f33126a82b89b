import type { Event } from '../../database/generated/client/client.ts';
import type { FeedPosition } from '../cursor.ts';

/** The most events of one platform that wait for those before them. */
const mostWaiting = 2_000;
/** How many milliseconds an announced event may take to come over the relay; then it is read from the database. */
const patienceMs = 200;
/** How many milliseconds the relay is not waited for after an event has not come in time. */
const distrustMs = 10_000;

/**
 * What a relay has delivered of one platform's feed and the hub has not taken yet, and whether the hub waits for the relay. An
 * event counts only as the next one of the feed: by its number, and in the same epoch.
 */
export class RelayedEvents {
  readonly #onLate: () => void;
  /** Events with consecutive numbers. */
  #waiting: Event[] = [];
  #isTrusted = false;
  #distrustedUntil = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param onLate called when an event has not come in time: it must be read from the database */
  constructor(onLate: () => void) {
    this.#onLate = onLate;
  }

  /** Adds what the relay has delivered, without what the hub has dispatched before: the events up to `head`. */
  add(events: readonly Event[], head: bigint): void {
    for (const event of events) {
      if (event.sequence <= head) continue;
      const first = this.#waiting[0];
      const at = first ? Number(event.sequence - first.sequence) : 0;
      if (at === this.#waiting.length && at < mostWaiting) this.#waiting.push(event);
      else if (this.#waiting[at]?.id !== event.id) this.#waiting = [event];
    }
  }

  /** Removes and returns the event that follows a position of the feed; undefined where only the database has it. */
  next({ sequence, epoch }: FeedPosition): Event | undefined {
    const upTo = this.#waiting.findIndex((event) => event.sequence > sequence);
    this.#waiting.splice(0, upTo < 0 ? this.#waiting.length : upTo);
    const [first] = this.#waiting;
    // The first event of an epoch proves nothing: the feed may have gone back before it (decision 77).
    if (first?.sequence !== sequence + 1n || first.epoch !== epoch) return undefined;
    return this.#waiting.shift();
  }

  /** Whether events wait for those before them, which the relay has not delivered. */
  get hasGap(): boolean {
    return this.#waiting.length > 0;
  }

  /** Says that the relay has delivered all that is announced: from now on the hub waits for it. */
  caughtUp(): void {
    if (Date.now() >= this.#distrustedUntil) this.#isTrusted = true;
  }

  /**
   * Says whether to wait for an event that is announced, rather than to read it.
   * @param hasCome says whether it has come
   */
  waits(hasCome: () => boolean): boolean {
    if (!this.#isTrusted || this.hasGap) return false;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (hasCome()) return;
      this.#isTrusted = false;
      this.#distrustedUntil = Date.now() + distrustMs;
      this.#onLate();
    }, patienceMs).unref();
    return true;
  }

  /** Forgets all that waits: the relay was cut off, or the hub has ended. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting = [];
    this.#isTrusted = false;
  }
}

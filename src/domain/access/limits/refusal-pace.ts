import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { boundedCache } from '../../../core/bounded-cache.ts';
import type { Clock } from './token-bucket.ts';

/** How many refusals for one source are sent at once, and how many a second beyond them. */
const refusalRate = { atOnce: 50, perSecond: 20 } as const;
/** How long a refusal waits at most, in milliseconds: less than clients usually wait for an answer. */
const maxWaitMs = 12_000;
/** Refusals that would wait for longer are spread over the last part of this time, in milliseconds. */
const spreadMs = 3_000;
/** The golden ratio: its multiples without their whole parts are spread evenly, however many there are. */
const goldenRatio = (Math.sqrt(5) - 1) / 2;
/** The most sources whose refusals are counted. */
const maxSources = 10_000;

interface Source {
  /** When the next one would be due if each came at its time. */
  due: number;
  /** How many waited for the longest time. */
  longest: number;
}

/**
 * Slows down refusals for a source that keeps sending in spite of them. A refusal costs little, but a client that sends its
 * next request as soon as it is refused would get tens of thousands of them a second, and everybody else would wait behind
 * these.
 */
export class RefusalPace {
  readonly #now: Clock;
  readonly #sources = boundedCache<Source>(maxSources);
  readonly #ended = new AbortController();

  constructor(now: Clock) {
    this.#now = now;
    // At most one refusal per connection waits for it.
    setMaxListeners(0, this.#ended.signal);
  }

  /** Waits until a refusal may be sent to a source: a platform, or an address. */
  async wait(source: string): Promise<void> {
    const ms = this.next(source);
    if (ms > 0) await delay(ms, undefined, { signal: this.#ended.signal }).catch(() => undefined);
  }

  end(): void {
    this.#ended.abort();
  }

  /**
   * Returns how many milliseconds the next refusal for a source waits. The first ones do not wait. Many that arrive together are not
   * sent together either: their clients would all come again at one moment.
   */
  next(key: string): number {
    const now = this.#now();
    const source = this.#sources.get(key) ?? { due: now, longest: 0 };
    this.#sources.set(key, source);
    source.due = Math.max(source.due, now);
    const waitMs = source.due - now - (refusalRate.atOnce * 1_000) / refusalRate.perSecond;
    if (waitMs < maxWaitMs) {
      source.due += 1_000 / refusalRate.perSecond;
      return Math.max(0, waitMs);
    }
    source.longest += 1;
    return maxWaitMs - spreadMs * ((source.longest * goldenRatio) % 1);
  }
}

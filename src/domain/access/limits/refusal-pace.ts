import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { boundedCache } from '../../../core/bounded-cache.ts';
import type { Clock } from './rate-limits.ts';

/** The number of refusals sent to one source without delay, and the number sent per second after that. */
const refusalRate = { atOnce: 50, perSecond: 20 } as const;
/** The maximum delay, in milliseconds. Clients usually wait longer than this for a response. */
const maxWaitMs = 12_000;
/** Refusals that would exceed the maximum delay are spread over this many milliseconds at its end. */
const spreadMs = 3_000;
/** The golden ratio: the fractional parts of its multiples are evenly distributed, however many there are. */
const goldenRatio = (Math.sqrt(5) - 1) / 2;
const maxSources = 10_000;

interface Source {
  due: number;
  longest: number;
}

/**
 * Slows down refusals to a source that keeps sending requests, because a client that does not wait could otherwise
 * receive tens of thousands of refusals per second and slow down everyone else.
 */
export class RefusalPace {
  readonly #now: Clock;
  readonly #sources = boundedCache<Source>(maxSources);
  readonly #ended = new AbortController();

  constructor(now: Clock) {
    this.#now = now;
    // Many listeners are normal, because one refusal per connection may be waiting on the signal.
    setMaxListeners(0, this.#ended.signal);
  }

  async wait(source: string): Promise<void> {
    const ms = this.next(source);
    if (ms > 0) await delay(ms, undefined, { signal: this.#ended.signal }).catch(() => undefined);
  }

  end(): void {
    this.#ended.abort();
  }

  /**
   * Returns how long to delay the next refusal, in milliseconds. Refusals of simultaneous requests are spread out,
   * because their clients would otherwise retry at the same moment.
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

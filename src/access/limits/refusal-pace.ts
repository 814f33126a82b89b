import { setTimeout as delay } from 'node:timers/promises';
import { boundedCache } from '../../core/bounded-cache.ts';
import type { Clock } from './token-bucket.ts';

/** Refusals for one source that are sent at once, and those beyond them that are sent each second. */
const refusalRate = { atOnce: 50, perSecond: 20 } as const;
/** How long a refusal waits at most, in milliseconds: less than an instance that stops waits for requests (stop.ts). */
const maxWaitMs = 4_000;
/** The most sources whose refusals are counted. */
const maxSources = 10_000;

/**
 * Slows down refusals for a source that goes on in spite of them. A refusal costs little, but a client that sends its next
 * request as soon as it is refused would get tens of thousands of them a second, and everybody else would wait behind these.
 */
export class RefusalPace {
  readonly #now: Clock;
  /** By source, when the next refusal would be due if each came at its time. */
  readonly #due = boundedCache<number>(maxSources);

  constructor(now: Clock) {
    this.#now = now;
  }

  /** Waits until a refusal may be sent to a source: a platform, or an address. The first ones do not wait. */
  async wait(source: string): Promise<void> {
    const now = this.#now();
    const due = Math.max(this.#due.get(source) ?? 0, now);
    const waitMs = Math.min(due - now - (refusalRate.atOnce * 1_000) / refusalRate.perSecond, maxWaitMs);
    if (waitMs < maxWaitMs) this.#due.set(source, due + 1_000 / refusalRate.perSecond);
    if (waitMs > 0) await delay(waitMs);
  }
}

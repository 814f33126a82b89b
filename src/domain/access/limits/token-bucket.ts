import type { Rate } from '../rates.ts';

/** Returns a monotonic time in milliseconds, from an arbitrary origin. */
export type Clock = () => number;

/** A token bucket: holds at most `burst` tokens and gains `perSecond` tokens per second. It starts full. */
export class TokenBucket {
  #tokens: number;
  #at: number;

  constructor({ burst }: Rate, now: number) {
    this.#tokens = burst;
    this.#at = now;
  }

  /** The number of tokens at the last refill, minus those taken since. */
  get tokens(): number {
    return this.#tokens;
  }

  /** Adds the tokens gained since the last refill. The rate may have changed. */
  refill({ perSecond, burst }: Rate, now: number): void {
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#at) * perSecond) / 1_000);
    this.#at = now;
  }

  /** Takes tokens, one by default. Call `refill` first, and do not take more than the bucket holds. */
  take(count = 1): void {
    this.#tokens -= count;
  }

  /** Puts back a token that was taken. The next `refill` keeps it within the burst. */
  putBack(): void {
    this.#tokens += 1;
  }
}

export function secondsUntil(wanted: number, tokens: number, { perSecond }: Rate): number {
  return Math.max(0, (wanted - tokens) / perSecond);
}

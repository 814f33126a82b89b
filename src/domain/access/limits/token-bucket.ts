import type { Rate } from '../rates.ts';

/** Returns a monotonic time in milliseconds, from an arbitrary origin. */
export type Clock = () => number;

/** A token bucket: holds at most `burst` tokens and gains `perSecond` tokens per second. It starts full. */
export class TokenBucket {
  /** The number of tokens at the last refill, minus those taken since. Call `refill` before taking any. */
  tokens: number;
  #at: number;

  constructor({ burst }: Rate, now: number) {
    this.tokens = burst;
    this.#at = now;
  }

  /** Adds the tokens gained since the last refill, within the burst. The rate may have changed. */
  refill({ perSecond, burst }: Rate, now: number): void {
    this.tokens = Math.min(burst, this.tokens + ((now - this.#at) * perSecond) / 1_000);
    this.#at = now;
  }
}

/** Returns the number of seconds until a bucket has `wanted` tokens. */
export function secondsUntil(wanted: number, tokens: number, { perSecond }: Rate): number {
  return Math.max(0, (wanted - tokens) / perSecond);
}

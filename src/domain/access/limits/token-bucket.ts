import type { Rate } from '../rates.ts';

/** Returns the time in milliseconds. It only goes forward, and begins anywhere. */
export type Clock = () => number;

/** A token bucket: holds at most `burst` tokens, and gains `perSecond` of them a second. It begins full. */
export class TokenBucket {
  #tokens: number;
  #at: number;

  constructor({ burst }: Rate, now: number) {
    this.#tokens = burst;
    this.#at = now;
  }

  /** How many tokens it held when it was filled last, less what was taken since. */
  get tokens(): number {
    return this.#tokens;
  }

  /** Adds what it has gained since the last time. The rate may be another than before. */
  refill({ perSecond, burst }: Rate, now: number): void {
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#at) * perSecond) / 1_000);
    this.#at = now;
  }

  /** Takes tokens, one where it is not said how many: call `refill` before, and only where it holds them. */
  take(count = 1): void {
    this.#tokens -= count;
  }

  /** Puts back a token that was taken. The next `refill` keeps it within the burst. */
  putBack(): void {
    this.#tokens += 1;
  }
}

/** Returns after how many seconds a bucket with so many tokens holds as many as are wanted. */
export function secondsUntil(wanted: number, tokens: number, { perSecond }: Rate): number {
  return Math.max(0, (wanted - tokens) / perSecond);
}

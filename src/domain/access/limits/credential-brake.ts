import type { Logger } from 'pino';
import { boundedCache } from '../../../core/bounded-cache.ts';
import type { Rate } from '../rates.ts';
import { type Clock, RateLimited, secondsUntil, TokenBucket } from './rate-limits.ts';

/** The maximum number of addresses to track. Beyond it, the least recently seen address is evicted. */
const maxAddresses = 20_000;
const logMs = 60_000;

interface Attempts {
  readonly bucket: TokenBucket;
  refused: number;
  loggedAt: number;
}

/**
 * Slows down credential guessing. For each address, only a limited number of wrong credentials per minute are looked
 * up. Beyond that limit, all unknown credentials from the address are rejected without a lookup, even valid ones that
 * have not been used before.
 */
export class CredentialBrake {
  readonly #rate: Rate;
  readonly #log: Logger;
  readonly #now: Clock;
  readonly #attempts = boundedCache<Attempts>(maxAddresses);

  /** @param perMinute the number of wrong credentials that an address may try in a burst, and per minute */
  constructor(perMinute: number, log: Logger, now: Clock) {
    this.#rate = { perSecond: perMinute / 60, burst: perMinute };
    this.#log = log;
    this.#now = now;
  }

  /**
   * Starts an attempt with unknown credentials. It counts as a failure until it succeeds.
   * @throws RateLimited when this address has sent too many wrong credentials
   */
  begin(address: string): { succeed(): void } {
    const now = this.#now();
    const attempts = this.#attemptsOf(address, now);
    const { bucket } = attempts;
    if (bucket.tokens < 1) {
      this.#logRefusal(address, attempts, now);
      const seconds = secondsUntil(1, bucket.tokens, this.#rate);
      throw new RateLimited('too many wrong credentials from this address', seconds);
    }
    bucket.tokens -= 1;
    return {
      succeed: () => {
        bucket.tokens += 1;
      },
    };
  }

  /** Counts a failed authentication that was not counted when it began. */
  fail(address: string): void {
    const { bucket } = this.#attemptsOf(address, this.#now());
    if (bucket.tokens >= 1) bucket.tokens -= 1;
  }

  #attemptsOf(address: string, now: number): Attempts {
    let attempts = this.#attempts.get(address);
    if (!attempts) {
      attempts = { bucket: new TokenBucket(this.#rate, now), refused: 0, loggedAt: Number.NEGATIVE_INFINITY };
      this.#attempts.set(address, attempts);
    }
    attempts.bucket.refill(this.#rate, now);
    return attempts;
  }

  #logRefusal(address: string, attempts: Attempts, now: number): void {
    attempts.refused += 1;
    if (now - attempts.loggedAt < logMs) return;
    this.#log.warn(
      { address, refused: attempts.refused },
      'too many wrong credentials from an address: further unknown credentials from it are refused without a lookup',
    );
    attempts.refused = 0;
    attempts.loggedAt = now;
  }
}

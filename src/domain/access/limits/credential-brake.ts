import type { Logger } from 'pino';
import { boundedCache } from '../../../core/bounded-cache.ts';
import type { Rate } from '../rates.ts';
import { RateLimited } from './rate-limits.ts';
import { type Clock, secondsUntil, TokenBucket } from './token-bucket.ts';

/** The most addresses whose failures are counted. The least recently seen is forgotten. */
const maxAddresses = 20_000;
/** The shortest time between two log lines about a slowed-down address, in milliseconds. */
const logMs = 60_000;

interface Attempts {
  readonly bucket: TokenBucket;
  refused: number;
  loggedAt: number;
}

/**
 * Slows down guessing of credentials: only a limited number of wrong ones a minute is looked up for each address. All others are
 * refused without a lookup, and so are valid ones that were never seen before.
 */
export class CredentialBrake {
  readonly #rate: Rate;
  readonly #log: Logger;
  readonly #now: Clock;
  readonly #attempts = boundedCache<Attempts>(maxAddresses);

  /** @param perMinute how many wrong credentials an address may try at once, and per minute */
  constructor(perMinute: number, log: Logger, now: Clock) {
    this.#rate = { perSecond: perMinute / 60, burst: perMinute };
    this.#log = log;
    this.#now = now;
  }

  /**
   * Begins an attempt with credentials that are not known. It counts as a failure until `succeed` says otherwise, so that
   * many at once are counted, too.
   * @throws RateLimited when too many from this address were wrong
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
    bucket.take();
    return { succeed: () => bucket.putBack() };
  }

  /** Counts a failure of credentials that no call has announced before. */
  fail(address: string): void {
    const { bucket } = this.#attemptsOf(address, this.#now());
    if (bucket.tokens >= 1) bucket.take();
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

import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { boundedMemo } from '../../../core/bounded-cache.ts';
import type { Viewer } from '../caller.ts';
import type { Rate, Rates } from '../rates.ts';

/** Returns the time in milliseconds since an arbitrary moment. It never decreases. */
export type Clock = () => number;

/** A token bucket: holds at most `burst` tokens and gains `perSecond` tokens per second. The first refill fills it. */
class TokenBucket {
  /** The number of tokens at the last refill, minus those taken since. Call `refill` before taking any. */
  tokens = Number.POSITIVE_INFINITY;
  #at = 0;

  /** Adds the tokens gained since the last refill. The rate may have changed in the meantime. */
  refill({ perSecond, burst }: Rate, now: number): this {
    this.tokens = Math.min(burst, this.tokens + ((now - this.#at) * perSecond) / 1_000);
    this.#at = now;
    return this;
  }

  secondsUntil(wanted: number, { perSecond }: Rate): number {
    return Math.max(0, (wanted - this.tokens) / perSecond);
  }
}

/** The error for a request that exceeds a rate limit. The request had no effect. */
export class RateLimited extends Error {
  readonly retryAfter: number;

  constructor(message: string, retryAfter: number) {
    super(message);
    this.name = 'RateLimited';
    this.retryAfter = Math.max(1, Math.ceil(retryAfter));
  }
}

interface Quota {
  readonly limit: keyof Rates;
  readonly rate: Rate;
  readonly bucket: TokenBucket;
}

export interface RateDecision {
  readonly refusal: RateLimited | undefined;
  readonly quotas: readonly Quota[];
}

/** Token buckets (docs/limits.md) for platforms, API tokens and client tokens. Each instance counts separately. */
export class RateLimits {
  readonly #rates: Rates;
  readonly #now: Clock;
  /** Separate caches, so that client tokens cannot evict API tokens' buckets. An evicted bucket starts full again. */
  readonly #buckets = {
    platform: boundedMemo(10_000, () => new TokenBucket()),
    apiToken: boundedMemo(20_000, () => new TokenBucket()),
    clientToken: boundedMemo(20_000, () => new TokenBucket()),
  };

  constructor(rates: Rates, now: Clock) {
    this.#rates = rates;
    this.#now = now;
  }

  /** Counts a request. A refused request does not count against any limit. */
  count(viewer: Viewer): RateDecision {
    return take(this.#quotasOf(viewer), () => 1);
  }

  /**
   * Charges a request that turns out to be as expensive as several requests. If too few tokens are left, it is refused
   * and not charged. A charge larger than a bucket's capacity is accepted if the bucket is full, and empties it.
   */
  countMore(viewer: Viewer, requests: number): RateDecision {
    const quotas = this.#quotasOf(viewer);
    const decision = take(quotas, ({ burst }) => Math.min(requests, burst - 1));
    if (decision.refusal) for (const { bucket } of quotas) bucket.tokens += 1;
    return decision;
  }

  #quotasOf({ kind, platformId, tokenId, rates: own }: Viewer): Quota[] {
    const now = this.#now();
    const limits = [
      [kind === 'CLIENT' ? 'clientToken' : 'apiToken', tokenId] as const,
      ['platform', platformId] as const,
    ];
    return limits.flatMap(([limit, id]) => {
      const rate = own[limit] ?? this.#rates[limit];
      return rate ? [{ limit, rate, bucket: this.#buckets[limit].memo(id).refill(rate, now) }] : [];
    });
  }
}

function take(quotas: readonly Quota[], wantedOf: (rate: Rate) => number): RateDecision {
  const lacking = quotas.filter(({ bucket, rate }) => bucket.tokens < wantedOf(rate));
  if (lacking.length > 0) return { refusal: refusalOf(lacking, wantedOf), quotas };
  for (const { bucket, rate } of quotas) bucket.tokens -= wantedOf(rate);
  return { refusal: undefined, quotas };
}

/** Each limit's name in header fields, and how refusals refer to its owner. */
const names = {
  platform: ['platform', 'this platform'],
  apiToken: ['api-token', 'this API token'],
  clientToken: ['client-token', 'this client token'],
} as const;

function refusalOf(lacking: readonly Quota[], wantedOf: (rate: Rate) => number): RateLimited {
  const waits = lacking.map(({ bucket, rate }) => bucket.secondsUntil(wantedOf(rate), rate));
  const longest = waits.indexOf(Math.max(...waits));
  const { limit, rate } = lacking[longest] as Quota;
  return new RateLimited(
    `${names[limit][1]} has made too many requests: at most ${rate.perSecond} a second, in bursts of up to ${rate.burst}`,
    waits[longest] ?? 0,
  );
}

/**
 * Returns the header fields RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers): all limits, and the
 * state of the limit with the fewest requests left. `w` is the number of seconds an empty bucket takes to fill up, and
 * `t` the number of seconds until that limit's bucket is full.
 */
export function rateLimitFields([first, second]: readonly Quota[]): { policy: string; state: string } | undefined {
  if (!first) return undefined;
  const { limit, rate, bucket } = second && second.bucket.tokens < first.bucket.tokens ? second : first;
  const { tokens } = bucket;
  return {
    policy: second ? `${policyOf(first)}, ${policyOf(second)}` : policyOf(first),
    state: `"${names[limit][0]}";r=${Math.max(0, Math.floor(tokens))};t=${Math.ceil((rate.burst - tokens) / rate.perSecond)}`,
  };
}

function policyOf({ limit, rate }: Quota): string {
  return `"${names[limit][0]}";q=${rate.burst};w=${Math.ceil(rate.burst / rate.perSecond)}`;
}

/** The number of resources (sockets, streams) that each API token and each client token may hold at once. */
type Cap = Readonly<Record<'apiToken' | 'clientToken', number>>;

/** The number of seconds after which a refused client may retry. It must first release one of its resources. */
const retryAfter = 1;

export class TokenCap {
  readonly #things: string;
  readonly #cap: Cap;
  readonly #open = new Map<string, number>();

  constructor(things: string, cap: Cap) {
    this.#things = things;
    this.#cap = cap;
  }

  mostOf({ kind }: Pick<Viewer, 'kind'>): number {
    return kind === 'CLIENT' ? this.#cap.clientToken : this.#cap.apiToken;
  }

  /** @returns an idempotent function that releases the resource, or an error if the token has reached its cap */
  open(viewer: Viewer): (() => void) | RateLimited {
    const { kind, tokenId } = viewer;
    const most = this.mostOf(viewer);
    const open = this.#open.get(tokenId) ?? 0;
    if (open >= most) {
      const owner = kind === 'CLIENT' ? 'a client token' : 'an API token';
      return new RateLimited(`${owner} can have at most ${most} ${this.#things} at a time`, retryAfter);
    }
    this.#open.set(tokenId, open + 1);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const left = (this.#open.get(tokenId) ?? 0) - 1;
      if (left > 0) this.#open.set(tokenId, left);
      else this.#open.delete(tokenId);
    };
  }
}

/** The maximum number of addresses to track. Beyond that, the least recently seen address is evicted. */
const maxAddresses = 20_000;
const logMs = 60_000;

class Attempts extends TokenBucket {
  refused = 0;
  loggedAt = Number.NEGATIVE_INFINITY;
}

/**
 * Slows down credential guessing. For each address, only a limited number of wrong credentials are looked up per
 * minute. After that, unknown credentials from the address are rejected without a lookup, even valid ones if they have
 * not been used before.
 */
export class CredentialBrake {
  readonly #rate: Rate;
  readonly #log: Logger;
  readonly #now: Clock;
  readonly #attempts = boundedMemo(maxAddresses, () => new Attempts());

  /** @param perMinute the number of wrong credentials that an address may try, both at once and per minute */
  constructor(perMinute: number, log: Logger, now: Clock) {
    this.#rate = { perSecond: perMinute / 60, burst: perMinute };
    this.#log = log;
    this.#now = now;
  }

  /**
   * Starts an attempt with unknown credentials. It counts as a failure until the returned function reports success.
   * @throws RateLimited when this address has sent too many wrong credentials
   */
  begin(address: string): () => void {
    const now = this.#now();
    const attempts = this.#attempts.memo(address).refill(this.#rate, now);
    if (attempts.tokens < 1) {
      this.#logRefusal(address, attempts, now);
      throw new RateLimited('too many wrong credentials from this address', attempts.secondsUntil(1, this.#rate));
    }
    attempts.tokens -= 1;
    return () => {
      attempts.tokens += 1;
    };
  }

  /** Counts a failed authentication that was not counted when it began. */
  fail(address: string): void {
    const attempts = this.#attempts.memo(address).refill(this.#rate, this.#now());
    if (attempts.tokens >= 1) attempts.tokens -= 1;
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

/** The number of refusals sent to one source without delay, and the number sent per second after that. */
const refusalRate = { atOnce: 50, perSecond: 20 } as const;
/** The maximum delay, in milliseconds. Clients usually wait longer than this for a response. */
const maxWaitMs = 12_000;
/** Delays that would exceed the maximum are spread over this many milliseconds below it. */
const spreadMs = 3_000;
/** The golden ratio: the fractional parts of its multiples are evenly distributed, however many there are. */
const goldenRatio = (Math.sqrt(5) - 1) / 2;
const maxSources = 10_000;

/**
 * Slows down refusals to a source that keeps sending requests. A client that does not wait could otherwise receive tens
 * of thousands of refusals per second, and slow down everyone else.
 */
export class RefusalPace {
  readonly #now: Clock;
  readonly #sources = boundedMemo(maxSources, () => ({ due: Number.NEGATIVE_INFINITY, longest: 0 }));
  readonly #ended = new AbortController();

  constructor(now: Clock) {
    this.#now = now;
    // Many listeners are normal here, because each connection may have a refusal waiting.
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
    const source = this.#sources.memo(key);
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

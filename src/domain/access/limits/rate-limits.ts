import type { LRUCache } from 'lru-cache';
import { boundedCache } from '../../../core/bounded-cache.ts';
import type { Rate, Rates } from '../rates.ts';
import type { Viewer } from '../viewer.ts';

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

  /** The rate may have changed since the last refill. */
  refill({ perSecond, burst }: Rate, now: number): void {
    this.tokens = Math.min(burst, this.tokens + ((now - this.#at) * perSecond) / 1_000);
    this.#at = now;
  }
}

/** Returns the number of seconds until a bucket has `wanted` tokens. */
export function secondsUntil(wanted: number, tokens: number, { perSecond }: Rate): number {
  return Math.max(0, (wanted - tokens) / perSecond);
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

/** Token buckets (docs/limits.md) for platforms, API tokens and client tokens, counted by each instance separately. */
export class RateLimits {
  readonly #rates: Rates;
  readonly #now: Clock;
  /** Separate, so that many client tokens cannot evict API tokens' buckets. An evicted bucket starts full again. */
  readonly #buckets = {
    platform: boundedCache<TokenBucket>(10_000),
    apiToken: boundedCache<TokenBucket>(20_000),
    clientToken: boundedCache<TokenBucket>(20_000),
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
      return rate ? [{ limit, rate, bucket: filledBucket(this.#buckets[limit], id, rate, now) }] : [];
    });
  }
}

function take(quotas: readonly Quota[], wantedOf: (rate: Rate) => number): RateDecision {
  const lacking = quotas.filter(({ bucket, rate }) => bucket.tokens < wantedOf(rate));
  if (lacking.length > 0) return { refusal: refusalOf(lacking, wantedOf), quotas };
  for (const { bucket, rate } of quotas) bucket.tokens -= wantedOf(rate);
  return { refusal: undefined, quotas };
}

function filledBucket(buckets: LRUCache<string, TokenBucket>, key: string, rate: Rate, now: number): TokenBucket {
  let bucket = buckets.get(key);
  if (!bucket) {
    bucket = new TokenBucket(rate, now);
    buckets.set(key, bucket);
  }
  bucket.refill(rate, now);
  return bucket;
}

/** The name of each limit in header fields, and its owner in refusals. */
const names = {
  platform: ['platform', 'this platform'],
  apiToken: ['api-token', 'this API token'],
  clientToken: ['client-token', 'this client token'],
} as const;

function refusalOf(lacking: readonly Quota[], wantedOf: (rate: Rate) => number): RateLimited {
  const waits = lacking.map(({ bucket, rate }) => secondsUntil(wantedOf(rate), bucket.tokens, rate));
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
export interface Cap {
  readonly apiToken: number;
  readonly clientToken: number;
}

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

/** A rate limit: the average number of requests per second, and the size of a burst after a pause. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** The rate limits of a platform, and of each of its API tokens and client tokens; null means no limit. */
export interface Rates {
  readonly platform: Rate | null;
  readonly apiToken: Rate | null;
  readonly clientToken: Rate | null;
}

/** The columns of `platform` that override the limits of the settings; null means that the settings apply. */
export interface RateColumns {
  readonly rateLimit: number | null;
  readonly rateBurst: number | null;
  readonly apiTokenRateLimit: number | null;
  readonly apiTokenRateBurst: number | null;
  readonly clientTokenRateLimit: number | null;
  readonly clientTokenRateBurst: number | null;
}

/** The same columns as a select list, from the table `p`. */
export const rateColumns = `p.rate_limit, p.rate_burst, p.api_token_rate_limit, p.api_token_rate_burst,
     p.client_token_rate_limit, p.client_token_rate_burst`;

/** Returns a platform's own limits; null if the limits of the settings apply. */
export function ownRates(row: RateColumns): Rates {
  return {
    platform: rateOf(row.rateLimit, row.rateBurst),
    apiToken: rateOf(row.apiTokenRateLimit, row.apiTokenRateBurst),
    clientToken: rateOf(row.clientTokenRateLimit, row.clientTokenRateBurst),
  };
}

function rateOf(perSecond: number | null, burst: number | null): Rate | null {
  return perSecond === null || burst === null ? null : { perSecond, burst };
}

/** The maximum rate and burst. */
const most = 1_000_000;

/**
 * Parses a limit such as `100/500`: 100 per second, in bursts of up to 500. `100` alone allows bursts of up to 200.
 * @returns undefined for any other form, or numbers outside 1 to 1000000
 */
export function parseRate(text: string): Rate | undefined {
  const [, first, second] = /^(\d{1,7})(?:\/(\d{1,7}))?$/.exec(text) ?? [];
  if (first === undefined) return undefined;
  const perSecond = Number(first);
  const burst = second === undefined ? Math.min(2 * perSecond, most) : Number(second);
  const isInRange = (value: number) => value >= 1 && value <= most;
  return isInRange(perSecond) && isInRange(burst) ? { perSecond, burst } : undefined;
}

/** Formats a limit as `parseRate` reads it. */
export function formatRate({ perSecond, burst }: Rate): string {
  return `${perSecond}/${burst}`;
}

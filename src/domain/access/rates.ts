import { columnName } from '../../infra/database/rows.ts';

/** A rate limit: the average number of requests per second, and the burst size after a pause. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** The rate limits for a platform, and for each of its API tokens and client tokens; null means no limit. */
export interface Rates {
  readonly platform: Rate | null;
  readonly apiToken: Rate | null;
  readonly clientToken: Rate | null;
}

/** Changes to a platform's own limits. Null restores the limit from the settings. */
export type RateChanges = { readonly [limit in keyof Rates]?: Rate | null };

const prefixes = { platform: 'rate', apiToken: 'apiTokenRate', clientToken: 'clientTokenRate' } as const;
const limits = Object.keys(prefixes) as (keyof Rates)[];

/** The columns that hold a platform's own limits. Where they are null, the limits from the settings apply. */
export type RateColumns = {
  readonly [Column in `${(typeof prefixes)[keyof Rates]}${'Limit' | 'Burst'}`]: number | null;
};

/** The same columns as an SQL select list, for a table with the alias `p`. */
export const rateColumns = limits
  .flatMap((limit) => [`${prefixes[limit]}Limit`, `${prefixes[limit]}Burst`])
  .map((column) => `p.${columnName(column)}`)
  .join(', ');

/** Returns a platform's own limits, each null if the limit from the settings applies. */
export function ownRates(row: RateColumns): Rates {
  const rateOf = (limit: keyof Rates): Rate | null => {
    const [perSecond, burst] = [row[`${prefixes[limit]}Limit`], row[`${prefixes[limit]}Burst`]];
    return perSecond === null || burst === null ? null : { perSecond, burst };
  };
  return { platform: rateOf('platform'), apiToken: rateOf('apiToken'), clientToken: rateOf('clientToken') };
}

export function changedColumns(changes: RateChanges): Partial<RateColumns> {
  const columns = limits.flatMap((limit) => {
    const rate = changes[limit];
    if (rate === undefined) return [];
    return [
      [`${prefixes[limit]}Limit`, rate?.perSecond ?? null],
      [`${prefixes[limit]}Burst`, rate?.burst ?? null],
    ] as const;
  });
  return Object.fromEntries(columns);
}

const most = 1_000_000;

/** Parses a limit such as `100/500`: 100 requests per second, with bursts of up to 500. `100` alone means `100/200`. */
export function parseRate(text: string): Rate | undefined {
  const [, first, second] = /^(\d{1,7})(?:\/(\d{1,7}))?$/.exec(text) ?? [];
  if (first === undefined) return undefined;
  const perSecond = Number(first);
  const burst = second === undefined ? Math.min(2 * perSecond, most) : Number(second);
  const isInRange = (value: number) => value >= 1 && value <= most;
  return isInRange(perSecond) && isInRange(burst) ? { perSecond, burst } : undefined;
}

export function formatRate({ perSecond, burst }: Rate): string {
  return `${perSecond}/${burst}`;
}

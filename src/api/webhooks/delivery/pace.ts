/** The pauses after failed attempts, in seconds: ten attempts over about three days. */
const schedule = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400] as const;
/** The fraction by which a pause varies at random, so that deliveries that failed together are not retried together. */
const jitter = 0.2;
/** The longest pause that a receiver's Retry-After header can set, in seconds. */
const maxRetryAfter = 86_400;

const secondMs = 1_000;
const dayMs = 86_400_000;

export type Pace = ReturnType<typeof paceOf>;

/**
 * Returns the intervals and time limits for webhooks in milliseconds, divided by `scale` (1 outside development). An
 * attempt gets at least a second.
 */
export function paceOf(scale: number, random: () => number = Math.random) {
  const atLeast = (ms: number, min: number) => Math.max(ms / scale, Math.min(ms, min));
  const attemptMs = atLeast(15 * secondMs, secondMs);
  return {
    /** The time limit for one attempt, from the name lookup to the end of the response headers. */
    attemptMs,
    connectMs: atLeast(5 * secondMs, secondMs),
    /** How long a process leases a delivery. After that, another process may attempt it. */
    leaseMs: Math.max((30 * secondMs) / scale, 2 * attemptMs),
    /** How long an endpoint can fail, without a single success, before it is disabled. */
    disableAfterMs: (5 * dayMs) / scale,
    /** How long after a rotation the previous secret is still used for signing. */
    rotationMs: dayMs / scale,
    /** Returns the milliseconds until the next attempt, or undefined after the last one. `retryAfter` is in seconds. */
    nextInMs(failures: number, retryAfter: number | undefined): number | undefined {
      const seconds = schedule[failures - 1];
      if (seconds === undefined) return undefined;
      const planned = seconds * (1 + jitter * (2 * random() - 1));
      return (Math.max(planned, Math.min(retryAfter ?? 0, maxRetryAfter)) * secondMs) / scale;
    },
  };
}

/**
 * Converts a Retry-After header (RFC 9110, 10.2.3) to seconds; undefined if it is neither a number nor a date. Some
 * receivers send fractions. A date must contain a time of day, because `Date.parse` would read even -5 as a date.
 */
export function retryAfterSeconds(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  if (/^\s*\d+(\.\d+)?\s*$/.test(header)) return Number(header);
  const date = header.includes(':') ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now.getTime()) / secondMs);
}

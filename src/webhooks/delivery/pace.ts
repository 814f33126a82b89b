/** Seconds after each failed attempt until the next: ten attempts over about three days. */
const schedule = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400] as const;
/** Each pause is longer or shorter by up to this part, so that what failed together does not come back together. */
const jitter = 0.2;
/** The longest pause that a receiver's Retry-After can ask for. */
const longestRetryAfter = 86_400;

/** How time passes for webhooks. */
export interface Pace {
  /** One attempt, from the name lookup to the end of the answer's head. */
  readonly attemptMs: number;
  readonly connectMs: number;
  /** The time that a receiver has to decide about a payment (decision 33). */
  readonly questionMs: number;
  /** How long an attempt may be under way before another process takes the delivery up. */
  readonly leaseMs: number;
  /** How long an endpoint may fail, without any success, before it is disabled. */
  readonly disableAfterMs: number;
  /** How long the secret before a rotation still signs. */
  readonly rotationMs: number;
  /** Milliseconds until the next attempt after `failures` failed ones, or undefined when there is none. */
  nextInMs(failures: number, retryAfter: number | undefined): number | undefined;
}

const secondMs = 1_000;
const dayMs = 86_400_000;

/**
 * The pace of deliveries, `scale` times as fast as in earnest: pauses shrink with it, and the limits of an attempt do
 * down to a second, which a receiver needs.
 */
export function paceOf(scale: number, random: () => number = Math.random): Pace {
  const atLeast = (ms: number, least: number) => Math.max(ms / scale, Math.min(ms, least));
  const attemptMs = atLeast(15 * secondMs, secondMs);
  return {
    attemptMs,
    connectMs: atLeast(5 * secondMs, secondMs),
    questionMs: atLeast(5 * secondMs, secondMs),
    leaseMs: Math.max((30 * secondMs) / scale, 2 * attemptMs),
    disableAfterMs: (5 * dayMs) / scale,
    rotationMs: dayMs / scale,
    nextInMs(failures, retryAfter) {
      const seconds = schedule[failures - 1];
      if (seconds === undefined) return undefined;
      const planned = seconds * (1 + jitter * (2 * random() - 1));
      return (Math.max(planned, Math.min(retryAfter ?? 0, longestRetryAfter)) * secondMs) / scale;
    },
  };
}

/** The seconds that a Retry-After header asks for (RFC 9110, 10.2.3): a number or a date; undefined when it is neither. */
export function retryAfterSeconds(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  if (/^\s*\d{1,9}\s*$/.test(header)) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now.getTime()) / secondMs);
}

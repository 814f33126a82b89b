/** The largest amount that one payment can send or receive, in smallest units. */
export const maxAmount = 9_000_000_000_000_000n;

/**
 * The largest balance. Deposits and payments can raise a balance only to `maxAmount`; refunds, fees and other money
 * owed can raise it further.
 */
export const maxBalance = 1_000n * maxAmount;

/** The maximum length of a list in a request, in every API. */
export const maxListLength = 100;

/** Returns whether a string is a calendar date, YYYY-MM-DD. Neither the calendar nor Postgres has a year 0. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || text.startsWith('0000')) return false;
  // Date turns February 30 into March 1 or 2, and the day of an invalid date is NaN.
  return new Date(`${text}T00:00:00Z`).getUTCDate() === Number(text.slice(8));
}

const oldestYears = 150;

/** Returns what is wrong with a living person's birth date, as the end of a sentence. `now` is the database's time. */
export function birthFault(text: string, now: Date): string | undefined {
  if (!isDay(text)) return 'must be a valid date, YYYY-MM-DD';
  const today = now.toISOString().slice(0, 10);
  const oldest = `${String(now.getUTCFullYear() - oldestYears).padStart(4, '0')}${today.slice(4)}`;
  if (text > today) return `must not be in the future: today is ${today}`;
  return text < oldest ? `must not be more than ${oldestYears} years ago` : undefined;
}

/** The latest time that RFC 3339 can express, in milliseconds since 1970. */
export const lastMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Parses an RFC 3339 date-time with a time zone; undefined if invalid or outside the years that can be stored. */
export function parseTimestamp(text: string): Date | undefined {
  const form = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;
  if (!form.test(text) || !isDay(text.slice(0, 10))) return undefined;
  const moment = new Date(text.toUpperCase());
  // A time zone can move a date-time out of the years 1 to 9999. The year of an invalid date is NaN.
  return moment.getUTCFullYear() >= 1 && moment.getUTCFullYear() <= 9999 ? moment : undefined;
}

/** A period from one moment (inclusive) to another (exclusive), so that consecutive periods leave no gap. */
export interface Period {
  readonly from: Date;
  readonly to: Date;
}

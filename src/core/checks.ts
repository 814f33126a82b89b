import type { FieldPath } from './path.ts';
import { Refusal } from './refusal.ts';

/** The largest amount of one payment on either side, in smallest units (specification 8). */
export const maxAmount = 9_000_000_000_000_000n;

/**
 * The largest balance of an account, which refunds, fees and other money that it is owed may raise it to, in smallest
 * units. New money may raise it to `maxAmount` (check_balances.sql).
 */
export const maxBalance = 1_000n * maxAmount;

/** The most values that a list in a request has, in every API. */
export const maxListLength = 100;

/**
 * Refuses text that is longer than `maxLength` characters, or has control characters or unpaired surrogates.
 * @throws Refusal INVALID_INPUT
 */
export function checkText(text: string | null | undefined, path: FieldPath, maxLength = 500): void {
  if (text === null || text === undefined) return;
  if (text.length > maxLength)
    throw new Refusal('INVALID_INPUT', `the text must have at most ${maxLength} characters`, path);
  if (!isPlainText(text)) {
    throw new Refusal('INVALID_INPUT', 'the text must not have control characters or unpaired surrogates', path);
  }
}

/**
 * Returns whether text can be stored. Postgres stores neither U+0000 nor unpaired surrogates. The other control characters are
 * refused because nobody can read them.
 */
export function isPlainText(text: string): boolean {
  return !/[\p{Cc}\p{Cs}]/u.test(text);
}

/** Returns whether text is a calendar date, YYYY-MM-DD. The calendar has no year 0, and neither has Postgres. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || text.startsWith('0000')) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/**
 * Parses a date-time in RFC 3339 with a time zone, within the years that can be stored.
 * @returns undefined for other text
 */
export function parseTimestamp(text: string): Date | undefined {
  const form = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;
  if (!form.test(text) || !isDay(text.slice(0, 10))) return undefined;
  const moment = new Date(text.toUpperCase());
  // A time zone can lead out of the years 1 to 9999. An invalid date has the year NaN.
  return moment.getUTCFullYear() >= 1 && moment.getUTCFullYear() <= 9999 ? moment : undefined;
}

/**
 * Refuses text that is blank or too long.
 * @throws Refusal INVALID_INPUT
 */
export function checkRequiredText(text: string, path: FieldPath, maxLength = 200): void {
  if (text.trim() === '') throw new Refusal('INVALID_INPUT', 'the text must not be empty', path);
  checkText(text, path, maxLength);
}

import type { FieldPath } from './path.ts';
import { Refusal } from './refusal.ts';

/** The most that one payment may move on either side, in smallest units (specification 8). */
export const maxAmount = 9_000_000_000_000_000n;

/**
 * The most that an account may have with what it is owed, refunds and fees, in smallest units; with new money it has at most
 * `maxAmount` (check_balance.sql).
 */
export const maxBalance = 1_000n * maxAmount;

/** Refuses an amount (smallest units) that is not positive or over what one payment may move. */
export function checkAmount(amount: bigint, path: FieldPath): void {
  if (amount < 1n) {
    throw new Refusal('INVALID_AMOUNT', "the amount must be at least 1 (the currency's smallest unit)", {
      path,
      value: amount.toString(),
    });
  }
  if (amount > maxAmount) {
    throw new Refusal('AMOUNT_OUT_OF_RANGE', `the amount must be at most ${maxAmount}`, {
      path,
      value: amount.toString(),
    });
  }
}

/** Refuses text that is longer than `most` characters, or has control characters or half a surrogate pair. */
export function checkText(text: string | null | undefined, path: FieldPath, most = 500): void {
  if (text === null || text === undefined) return;
  if (text.length > most) throw new Refusal('INVALID_INPUT', `the text must have at most ${most} characters`, { path });
  if (!isPlainText(text)) {
    throw new Refusal('INVALID_INPUT', 'the text must not have control characters or halves of characters', { path });
  }
}

/** Whether text can be stored: Postgres keeps neither U+0000 nor half a surrogate pair, and nobody reads the other control characters. */
export function isPlainText(text: string): boolean {
  return !/[\p{Cc}\p{Cs}]/u.test(text);
}

/** Whether text is a day of the calendar, YYYY-MM-DD. There is no year 0 in it, nor in Postgres. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || text.startsWith('0000')) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** The moment that text in RFC 3339 with a time zone names, within the years that can be stored; undefined for other text. */
export function momentIn(text: string): Date | undefined {
  const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/i;
  if (!form.test(text) || !isDay(text.slice(0, 10))) return undefined;
  const moment = new Date(text.toUpperCase());
  // A time zone can lead out of the years 1 to 9999. What is no moment has no year.
  return moment.getUTCFullYear() >= 1 && moment.getUTCFullYear() <= 9999 ? moment : undefined;
}

/** Refuses text that is missing, blank or too long. */
export function checkRequiredText(text: string, path: FieldPath, most = 200): void {
  if (text.trim() === '') throw new Refusal('INVALID_INPUT', 'the text must not be empty', { path });
  checkText(text, path, most);
}

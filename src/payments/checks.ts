import { maxAmount } from './pricing.ts';
import { Refusal } from './refusal.ts';

/** Refuses an amount (smallest units) that is not positive or over what one payment may move. */
export function checkAmount(amount: bigint, field: string): void {
  if (amount < 1n) {
    throw new Refusal('INVALID_AMOUNT', `${field} must be at least 1 (the currency's smallest unit)`, {
      field,
      value: amount.toString(),
    });
  }
  if (amount > maxAmount) {
    throw new Refusal('AMOUNT_OUT_OF_RANGE', `${field} must be at most ${maxAmount}`, {
      field,
      value: amount.toString(),
    });
  }
}

/** Refuses text that is longer than `most` characters, or has control characters or half a surrogate pair. */
export function checkText(text: string | null | undefined, field: string, most = 500): void {
  if (text === null || text === undefined) return;
  if (text.length > most)
    throw new Refusal('INVALID_INPUT', `${field} must have at most ${most} characters`, { field });
  if (!isPlainText(text)) {
    throw new Refusal('INVALID_INPUT', `${field} must not have control characters or halves of characters`, { field });
  }
}

/** Whether text can be stored: Postgres keeps neither U+0000 nor half a surrogate pair, and nobody reads the other control characters. */
export function isPlainText(text: string): boolean {
  return !/[\p{Cc}\p{Cs}]/u.test(text);
}

/** Refuses text that is missing, blank or too long. */
export function checkRequiredText(text: string, field: string, most = 200): void {
  if (text.trim() === '') throw new Refusal('INVALID_INPUT', `${field} must not be empty`, { field });
  checkText(text, field, most);
}

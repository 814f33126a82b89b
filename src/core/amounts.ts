import { maxAmount } from './checks.ts';
import { type Currency, formatMajor } from './currencies.ts';
import { type FieldPath, Refusal } from './refusal.ts';

/** An amount as a caller gives it: in smallest units, or as a decimal of major units such as "12.50". */
export type GivenAmount = bigint | { readonly decimal: string };

/**
 * Converts a given amount to smallest units, and refuses one that is not positive or exceeds what one payment may move.
 * A decimal has at most the places of the currency: nothing is rounded.
 * @throws Refusal INVALID_AMOUNT, AMOUNT_OUT_OF_RANGE
 */
export function smallestUnits(given: GivenAmount, currency: Currency, path: FieldPath): bigint {
  const amount = typeof given === 'bigint' ? given : parseMajor(given.decimal, currency, path);
  const value = typeof given === 'bigint' ? given.toString() : given.decimal;
  if (amount < 1n) {
    throw new Refusal('INVALID_AMOUNT', `the amount must be at least ${formatMajor(1n, currency)}`, {
      path,
      value,
    });
  }
  if (amount > maxAmount) {
    throw new Refusal('AMOUNT_OUT_OF_RANGE', `the amount must be at most ${formatMajor(maxAmount, currency)}`, {
      path,
      value,
    });
  }
  return amount;
}

/** Returns a given amount in smallest units where it is one of the currency, and else as it is given: to compare inputs. */
export function comparableAmount(given: GivenAmount, currency: Currency | undefined): GivenAmount {
  if (typeof given === 'bigint' || !currency) return given;
  try {
    return parseMajor(given.decimal, currency, []);
  } catch (error) {
    if (error instanceof Refusal) return given;
    throw error;
  }
}

/** Parses a decimal of major units: "12.5" is 1250 where there are 2 decimals. */
function parseMajor(decimal: string, { code, decimals }: Currency, path: FieldPath): bigint {
  const parts = /^(-?)(\d{1,30})(?:\.(\d{1,30}))?$/.exec(decimal);
  if (!parts) {
    const message = 'an amount in major units must be digits with an optional decimal point, such as "12.50"';
    throw new Refusal('INVALID_AMOUNT', message, { path, value: decimal });
  }
  const [, sign, whole = '', fraction = ''] = parts;
  if (fraction.length > decimals) {
    const message = `${code} has ${decimals === 0 ? 'no' : `at most ${decimals}`} decimal places, but ${decimal} has ${fraction.length}`;
    throw new Refusal('INVALID_AMOUNT', message, { path, value: decimal });
  }
  return BigInt(`${sign}${whole}${fraction.padEnd(decimals, '0')}`);
}

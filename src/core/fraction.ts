/** Exact fractions and decimal rates. With them, pricing rounds only where a rule requires it. */

import { formatDecimal } from './currencies.ts';

/** The maximum number of significant digits in a rate: exact as a JSON number, so the printed rate is the rate used. */
export const rateDigits = 15;

/** The maximum number of decimal places in a rate: as many as its database column has, numeric(32,18). */
export const ratePlaces = 18;

/** Rates must be below ten to this power, also because of the column. */
const rateMagnitude = 14;

/** A rational number. The denominator is positive; the fraction need not be in lowest terms. */
export interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** Parses a plain decimal such as "0.05797101" or "-3" exactly. @throws RangeError on anything else */
export function parseDecimal(text: string): Fraction {
  if (!isPlainDecimal(text)) throw new RangeError(`not a plain decimal: ${JSON.stringify(text)}`);
  const point = text.indexOf('.');
  const places = point === -1 ? 0 : text.length - point - 1;
  return { numerator: BigInt(text.replace('.', '')), denominator: powerOfTen(places) };
}

/** Returns whether a string is a decimal number without an exponent, plus sign or superfluous leading zeros. */
export function isPlainDecimal(text: string): boolean {
  return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text);
}

export function whole(value: bigint): Fraction {
  return { numerator: value, denominator: 1n };
}

export function tenTo(exponent: number): Fraction {
  return exponent >= 0 ? whole(powerOfTen(exponent)) : { numerator: 1n, denominator: powerOfTen(-exponent) };
}

export function add(a: Fraction, b: Fraction): Fraction {
  return {
    numerator: a.numerator * b.denominator + b.numerator * a.denominator,
    denominator: a.denominator * b.denominator,
  };
}

export function subtract(a: Fraction, b: Fraction): Fraction {
  return add(a, { numerator: -b.numerator, denominator: b.denominator });
}

export function multiply(a: Fraction, b: Fraction): Fraction {
  return { numerator: a.numerator * b.numerator, denominator: a.denominator * b.denominator };
}

/** Returns a ÷ b. @throws RangeError when b is zero */
export function divide(a: Fraction, b: Fraction): Fraction {
  if (b.numerator === 0n) throw new RangeError('division by zero');
  const sign = b.numerator < 0n ? -1n : 1n;
  return { numerator: sign * a.numerator * b.denominator, denominator: sign * a.denominator * b.numerator };
}

/** Compares fractions, whose denominators are positive. */
export function isLess(a: Fraction, b: Fraction): boolean {
  return a.numerator * b.denominator < b.numerator * a.denominator;
}

/** Returns the greatest whole number that is not above the value. */
export function roundDown({ numerator, denominator }: Fraction): bigint {
  const quotient = numerator / denominator;
  return numerator < 0n && quotient * denominator !== numerator ? quotient - 1n : quotient;
}

/** Returns the least whole number that is not below the value. */
export function roundUp({ numerator, denominator }: Fraction): bigint {
  return -roundDown({ numerator: -numerator, denominator });
}

/** Returns the nearest whole number, rounding halves up. */
export function roundHalfUp({ numerator, denominator }: Fraction): bigint {
  return roundDown({ numerator: 2n * numerator + denominator, denominator: 2n * denominator });
}

/**
 * Formats the value as a plain decimal without trailing zeros, rounding half up.
 * @param digits the maximum number of significant digits; 15 are exact as a JSON number
 */
export function toDecimal(value: Fraction, digits: number, places = Number.POSITIVE_INFINITY): string {
  const decimals = Math.min(places, digits - 1 - magnitudeOf(value));
  const scaled = roundHalfUp(multiply(value, tenTo(decimals)));
  if (decimals <= 0) return (scaled * powerOfTen(-decimals)).toString();
  return withoutZeros(formatDecimal(scaled, decimals));
}

/** Returns what is wrong with an exchange rate, worded to follow its name; undefined if it is usable. */
export function rateFault(rate: string): string | undefined {
  if (!isPlainDecimal(rate)) return 'must be a plain decimal such as "1.08695652"';
  const value = parseDecimal(rate);
  if (!isLess(whole(0n), value)) return 'must be greater than 0';
  if (!isLess(value, tenTo(rateMagnitude))) return `must be less than 1 followed by ${rateMagnitude} zeros`;
  if (!isExactWithin(value, rateDigits)) return `must have at most ${rateDigits} significant digits`;
  if (!isExactWithin(value, rateDigits, ratePlaces)) return `must have at most ${ratePlaces} decimal places`;
  return undefined;
}

/** Returns what is wrong with a variable fee rate, worded to follow its name; undefined if it is usable. */
export function variableFeeRateFault(rate: string): string | undefined {
  if (!isPlainDecimal(rate)) return 'must be a plain decimal such as "0.003"';
  const value = parseDecimal(rate);
  if (isLess(value, whole(0n)) || !isLess(value, whole(1n))) return 'must be at least 0 and less than 1';
  if (!isExactWithin(value, rateDigits)) return `must have at most ${rateDigits} significant digits`;
  return undefined;
}

/** Formats the value as the shortest decimal that equals it exactly; undefined if there is none. */
export function toExactDecimal(value: Fraction): string | undefined {
  const { numerator, denominator } = lowestTerms(value);
  // A denominator has at most as many factors of 2 or 5 as it has binary digits.
  const places = denominator.toString(2).length;
  const scaled = numerator * powerOfTen(places);
  return scaled % denominator === 0n ? withoutZeros(formatDecimal(scaled / denominator, places)) : undefined;
}

function withoutZeros(decimal: string): string {
  return decimal.replace(/\.?0+$/, '');
}

/** Formats the value as "numerator/denominator" in lowest terms. */
export function toRatio(value: Fraction): string {
  const { numerator, denominator } = lowestTerms(value);
  return `${numerator}/${denominator}`;
}

/** Returns whether a decimal with at most this many digits and places equals the value exactly. */
function isExactWithin(value: Fraction, digits: number, places?: number): boolean {
  return subtract(value, parseDecimal(toDecimal(value, digits, places))).numerator === 0n;
}

function powerOfTen(exponent: number): bigint {
  return 10n ** BigInt(exponent);
}

/** Returns the exponent of the value's first significant digit: 0 for 1 to 9.99…, -2 for 0.05; 0 for zero. */
function magnitudeOf({ numerator, denominator }: Fraction): number {
  if (numerator === 0n) return 0;
  const size = { numerator: numerator < 0n ? -numerator : numerator, denominator };
  const estimate = size.numerator.toString().length - denominator.toString().length;
  return isLess(size, tenTo(estimate)) ? estimate - 1 : estimate;
}

function lowestTerms({ numerator, denominator }: Fraction): Fraction {
  let [divisor, rest] = [denominator, numerator < 0n ? -numerator : numerator];
  while (rest !== 0n) [divisor, rest] = [rest, divisor % rest];
  return { numerator: numerator / divisor, denominator: denominator / divisor };
}

/** Returns the smaller of two whole numbers: Math.min does not accept bigint. */
export function smaller(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

export function larger(one: bigint, other: bigint): bigint {
  return smaller(one, other) === one ? other : one;
}

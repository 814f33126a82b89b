/** Exact fractions and decimal rates. With them, pricing rounds only where a rule requires it. */

import { formatDecimal } from './currencies.ts';

/** The maximum number of significant digits in a rate, chosen so that every rate is exact as a JSON number. */
export const rateDigits = 15;

/** The maximum number of decimal places in a rate: the scale of its database column, which is numeric(32,18). */
export const ratePlaces = 18;

/** Rates must be below ten to this power. The database column has the same limit. */
const rateMagnitude = 14;

/** A rational number. The denominator is positive. The fraction need not be in lowest terms. */
export class Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;

  constructor(numerator: bigint, denominator = 1n) {
    this.numerator = numerator;
    this.denominator = denominator;
  }

  plus({ numerator, denominator }: Fraction): Fraction {
    return new Fraction(this.numerator * denominator + numerator * this.denominator, this.denominator * denominator);
  }

  minus({ numerator, denominator }: Fraction): Fraction {
    return this.plus(new Fraction(-numerator, denominator));
  }

  times({ numerator, denominator }: Fraction): Fraction {
    return new Fraction(this.numerator * numerator, this.denominator * denominator);
  }

  /** @throws RangeError when the divisor is zero */
  over({ numerator, denominator }: Fraction): Fraction {
    if (numerator === 0n) throw new RangeError('division by zero');
    const sign = numerator < 0n ? -1n : 1n;
    return new Fraction(sign * this.numerator * denominator, sign * this.denominator * numerator);
  }

  isLessThan({ numerator, denominator }: Fraction): boolean {
    return this.numerator * denominator < numerator * this.denominator;
  }

  /** Returns the greatest whole number that is not above the value. */
  roundDown(): bigint {
    const quotient = this.numerator / this.denominator;
    return this.numerator < 0n && quotient * this.denominator !== this.numerator ? quotient - 1n : quotient;
  }

  /** Returns the least whole number that is not below the value. */
  roundUp(): bigint {
    return -new Fraction(-this.numerator, this.denominator).roundDown();
  }

  /** Returns the nearest whole number, rounding halves up. */
  roundHalfUp(): bigint {
    const { numerator, denominator } = this;
    return new Fraction(2n * numerator + denominator, 2n * denominator).roundDown();
  }

  /**
   * Formats the value as a plain decimal without trailing zeros, rounding half up.
   * @param digits the maximum number of significant digits; up to 15 are exact in a JSON number
   */
  toDecimal(digits: number, places = Number.POSITIVE_INFINITY): string {
    const decimals = Math.min(places, digits - 1 - magnitudeOf(this));
    const scaled = this.times(tenTo(decimals)).roundHalfUp();
    if (decimals <= 0) return (scaled * powerOfTen(-decimals)).toString();
    return withoutZeros(formatDecimal(scaled, decimals));
  }

  /** Formats the value as an exact decimal without trailing zeros; undefined if it has infinitely many digits. */
  toExactDecimal(): string | undefined {
    const { numerator, denominator } = lowestTerms(this);
    // A denominator has at most as many factors of 2 or 5 as it has binary digits.
    const places = denominator.toString(2).length;
    const scaled = numerator * powerOfTen(places);
    return scaled % denominator === 0n ? withoutZeros(formatDecimal(scaled / denominator, places)) : undefined;
  }

  /** Formats the value as "numerator/denominator" in lowest terms. */
  toRatio(): string {
    const { numerator, denominator } = lowestTerms(this);
    return `${numerator}/${denominator}`;
  }
}

/** Parses a plain decimal such as "0.05797101" or "-3" exactly. @throws RangeError on anything else */
export function parseDecimal(text: string): Fraction {
  if (!isPlainDecimal(text)) throw new RangeError(`not a plain decimal: ${JSON.stringify(text)}`);
  const point = text.indexOf('.');
  const places = point === -1 ? 0 : text.length - point - 1;
  return new Fraction(BigInt(text.replace('.', '')), powerOfTen(places));
}

/** Returns whether a string is a decimal number without an exponent, plus sign or superfluous leading zeros. */
export function isPlainDecimal(text: string): boolean {
  return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text);
}

export function whole(value: bigint): Fraction {
  return new Fraction(value);
}

export function tenTo(exponent: number): Fraction {
  return exponent >= 0 ? whole(powerOfTen(exponent)) : new Fraction(1n, powerOfTen(-exponent));
}

/** Returns what is wrong with an exchange rate, as the end of a sentence; undefined if it is valid. */
export function rateFault(rate: string): string | undefined {
  if (!isPlainDecimal(rate)) return 'must be a plain decimal such as "1.08695652"';
  const value = parseDecimal(rate);
  if (!whole(0n).isLessThan(value)) return 'must be greater than 0';
  if (!value.isLessThan(tenTo(rateMagnitude))) return `must be less than 1 followed by ${rateMagnitude} zeros`;
  if (!isExactWithin(value, rateDigits)) return `must have at most ${rateDigits} significant digits`;
  if (!isExactWithin(value, rateDigits, ratePlaces)) return `must have at most ${ratePlaces} decimal places`;
  return undefined;
}

/** Returns what is wrong with a variable fee rate, as the end of a sentence; undefined if it is valid. */
export function variableFeeRateFault(rate: string): string | undefined {
  if (!isPlainDecimal(rate)) return 'must be a plain decimal such as "0.003"';
  const value = parseDecimal(rate);
  if (value.isLessThan(whole(0n)) || !value.isLessThan(whole(1n))) return 'must be at least 0 and less than 1';
  if (!isExactWithin(value, rateDigits)) return `must have at most ${rateDigits} significant digits`;
  return undefined;
}

function withoutZeros(decimal: string): string {
  return decimal.replace(/\.?0+$/, '');
}

/** Returns whether the value has at most the given numbers of significant digits and decimal places. */
function isExactWithin(value: Fraction, digits: number, places?: number): boolean {
  return value.minus(parseDecimal(value.toDecimal(digits, places))).numerator === 0n;
}

function powerOfTen(exponent: number): bigint {
  return 10n ** BigInt(exponent);
}

/** Returns the exponent of the value's first significant digit: 0 for 1 to 9.99… and for zero, -2 for 0.05. */
function magnitudeOf({ numerator, denominator }: Fraction): number {
  if (numerator === 0n) return 0;
  const size = new Fraction(numerator < 0n ? -numerator : numerator, denominator);
  const estimate = size.numerator.toString().length - denominator.toString().length;
  return size.isLessThan(tenTo(estimate)) ? estimate - 1 : estimate;
}

function lowestTerms({ numerator, denominator }: Fraction): Fraction {
  let [divisor, rest] = [denominator, numerator < 0n ? -numerator : numerator];
  while (rest !== 0n) [divisor, rest] = [rest, divisor % rest];
  return new Fraction(numerator / divisor, denominator / divisor);
}

/** Returns the smaller of two whole numbers. Math.min does not accept bigints. */
export function smaller(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

export function larger(one: bigint, other: bigint): bigint {
  return smaller(one, other) === one ? other : one;
}

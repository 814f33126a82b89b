import { boundedCache } from './bounded-cache.ts';
import { maxAmount } from './checks.ts';
import { type FieldPath, Refusal } from './refusal.ts';

/** The currencies that the gateway knows. A migration writes the same rows to the database. */

const table = [
  { code: 'USD', name: 'US Dollar', symbol: '$', decimals: 2 },
  { code: 'EUR', name: 'Euro', symbol: '€', decimals: 2 },
  { code: 'GBP', name: 'British Pound', symbol: '£', decimals: 2 },
  { code: 'MXN', name: 'Mexican Peso', symbol: 'MX$', decimals: 2 },
  { code: 'BRL', name: 'Brazilian Real', symbol: 'R$', decimals: 2 },
  { code: 'INR', name: 'Indian Rupee', symbol: '₹', decimals: 2 },
  { code: 'NGN', name: 'Nigerian Naira', symbol: '₦', decimals: 2 },
  { code: 'CAD', name: 'Canadian Dollar', symbol: 'CA$', decimals: 2 },
  { code: 'PHP', name: 'Philippine Peso', symbol: '₱', decimals: 2 },
  { code: 'SGD', name: 'Singapore Dollar', symbol: 'S$', decimals: 2 },
  { code: 'JPY', name: 'Japanese Yen', symbol: '¥', decimals: 0 },
  { code: 'BTC', name: 'Bitcoin', symbol: '₿', decimals: 8 },
  { code: 'USDC', name: 'USD Coin', symbol: 'USDC', decimals: 6 },
  { code: 'USDT', name: 'Tether', symbol: 'USDT', decimals: 6 },
] as const;

/** An ISO 4217 code, or the asset code of a cryptocurrency. */
export type CurrencyCode = (typeof table)[number]['code'];

export interface Currency {
  readonly code: CurrencyCode;
  readonly name: string;
  readonly symbol: string;
  /** The number of decimal places: with 2, an amount of 12550 smallest units is 125.50. */
  readonly decimals: number;
}

export const currencies: readonly Currency[] = table;

const byCode: ReadonlyMap<string, Currency> = new Map(currencies.map((currency) => [currency.code, currency]));

/** Returns the currency with the given code, or undefined if there is none. */
export function currencyOf(code: string): Currency | undefined {
  return byCode.get(code);
}

/** Returns the currency for a stored code. The tables accept only known codes. */
export function requiredCurrency(code: string): Currency {
  const currency = currencyOf(code);
  if (!currency) throw new Error(`unknown currency ${code}`);
  return currency;
}

/** Returns the currency for a code from a request. @throws Refusal INVALID_CURRENCY */
export function givenCurrency(code: string, path: FieldPath): Currency {
  const currency = currencyOf(code);
  if (!currency) throw new Refusal('INVALID_CURRENCY', `unknown currency ${JSON.stringify(code)}`, path);
  return currency;
}

export interface Money {
  readonly amount: bigint;
  readonly currency: Currency;
}

/** Returns an amount, in the smallest unit, together with its currency. @throws Error for an unknown code */
export function money(amount: bigint, currency: string): Money {
  return { amount, currency: requiredCurrency(currency) };
}

/** Returns whether the gateway knows a currency with exactly this code. */
export function isCurrencyCode(code: string): code is CurrencyCode {
  return byCode.has(code);
}

/** Formats an amount as an exact decimal. With 2 decimal places, 12550 becomes "125.50" and -1 becomes "-0.01". */
export function formatDecimal(amount: bigint, decimals: number): string {
  const sign = amount < 0n ? '-' : '';
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  return decimals === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** Formats an amount in major units with the currency's code: "0.03 USD". */
export function formatMajor(amount: bigint, currency: Currency): string {
  return `${formatDecimal(amount, currency.decimals)} ${currency.code}`;
}

/** Formats an amount with a provider's currency code, even if the gateway does not know that code. */
export function formatForeign(amount: bigint, code: string): string {
  const currency = currencyOf(code);
  return currency ? formatMajor(amount, currency) : `${amount} of the smallest unit of ${code}`;
}

/**
 * Formats an amount in the locale's style, with all of the currency's decimal places: "$125.50", "USDC 1.000001".
 * Amounts of any size are exact, because Intl gets a decimal string instead of a number.
 * @returns the formatted amount, or an error for a locale that is not a BCP 47 language tag or has no number format
 */
export function formatMoney(amount: bigint, currency: Currency, locale: string): string | RangeError {
  const format = moneyFormat(currency, locale);
  if (format instanceof RangeError) return format;
  // Intl's types accept only numeric strings, which is what formatDecimal returns.
  const decimal = formatDecimal(amount, currency.decimals) as `${number}`;
  return format
    .formatToParts(decimal)
    .map((part) => (part.type === 'currency' && part.value === standIn ? currency.code : part.value))
    .join('');
}

/**
 * Stands in for longer codes, because Intl accepts only three-letter codes. The ISO 4217 test code has no symbol in any
 * locale. The real code replaces it in the result, so that position and spacing follow the locale.
 */
const standIn = 'XTS';

/** A bounded cache, because clients choose the locales. Creating a format costs about 50 times as much as using it. */
const formats = boundedCache<Intl.NumberFormat>(256);

function moneyFormat(currency: Currency, locale: string): Intl.NumberFormat | RangeError {
  const key = `${currency.code} ${locale}`;
  const cached = formats.get(key);
  if (cached !== undefined) return cached;
  if (!isKnownLocale(locale)) {
    return new RangeError(
      `unknown locale ${JSON.stringify(locale)}: use a BCP 47 language tag such as "en" or "de-DE"`,
    );
  }
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: currency.code.length === 3 ? currency.code : standIn,
    minimumFractionDigits: currency.decimals,
    maximumFractionDigits: currency.decimals,
  });
  formats.set(key, format);
  return format;
}

function isKnownLocale(locale: string): boolean {
  // RFC 5646 requires support only for tags of up to 35 characters. Meaningless subtags can make a tag far longer.
  if (locale.length > 100) return false;
  try {
    return Intl.NumberFormat.supportedLocalesOf([locale]).length > 0;
  } catch {
    return false; // not a well-formed language tag
  }
}

/** An amount given by a caller: in the currency's smallest unit, or in major units such as "12.50". */
export type GivenAmount = bigint | { readonly decimal: string };

/**
 * Converts a given amount to the currency's smallest unit. Refuses an amount that is not positive or exceeds the limit
 * for one payment. A decimal may not have more decimal places than the currency, because nothing is rounded.
 * @throws Refusal INVALID_AMOUNT, AMOUNT_OUT_OF_RANGE
 */
export function smallestUnits(given: GivenAmount, currency: Currency, path: FieldPath): bigint {
  const amount = unitsOf(given, currency);
  const about = { path, value: typeof given === 'bigint' ? given.toString() : given.decimal };
  if (typeof amount === 'string') throw new Refusal('INVALID_AMOUNT', amount, about);
  if (amount < 1n) {
    throw new Refusal('INVALID_AMOUNT', `the amount must be at least ${formatMajor(1n, currency)}`, about);
  }
  if (amount > maxAmount) {
    throw new Refusal('AMOUNT_OUT_OF_RANGE', `the amount must be at most ${formatMajor(maxAmount, currency)}`, about);
  }
  return amount;
}

/** Converts an amount to the smallest unit for comparison; returns it unchanged if the currency cannot represent it. */
export function comparableAmount(given: GivenAmount, currency: Currency | undefined): GivenAmount {
  const amount = currency ? unitsOf(given, currency) : given;
  return typeof amount === 'string' ? given : amount;
}

/** Converts a given amount to the currency's smallest unit. Returns a message if that is impossible. */
function unitsOf(given: GivenAmount, { code, decimals }: Currency): bigint | string {
  if (typeof given === 'bigint') return given;
  const parts = /^(-?)(\d{1,30})(?:\.(\d{1,30}))?$/.exec(given.decimal);
  if (!parts) return 'an amount in major units must be digits with an optional decimal point, such as "12.50"';
  const [, sign, whole = '', fraction = ''] = parts;
  if (fraction.length > decimals)
    return `${code} has ${decimals === 0 ? 'no' : `at most ${decimals}`} decimal places, but ${given.decimal} has ${fraction.length}`;
  return BigInt(`${sign}${whole}${fraction.padEnd(decimals, '0')}`);
}

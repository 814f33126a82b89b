import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonInteger, jsonNumber, UnrepresentableAmount } from '../../src/api/records/fields.ts';
import {
  type CurrencyCode,
  currencies,
  currencyOf,
  formatDecimal,
  formatMoney,
  isCurrencyCode,
} from '../../src/core/currencies.ts';

describe('the currencies', () => {
  it('are the fourteen that the interface promises, each with its decimal places', () => {
    expect(Object.fromEntries(currencies.map(({ code, decimals }) => [code, decimals]))).toEqual({
      ...{ USD: 2, EUR: 2, GBP: 2, MXN: 2, BRL: 2, INR: 2, NGN: 2, CAD: 2, PHP: 2, SGD: 2 },
      ...{ JPY: 0, BTC: 8, USDC: 6, USDT: 6 },
    });
  });

  it('are found only by their exact code', () => {
    expect(currencyOf('USDC')).toEqual({ code: 'USDC', name: 'USD Coin', symbol: 'USDC', decimals: 6 });
    for (const stranger of ['usd', 'USD ', '', 'XXX', 'constructor', '__proto__']) {
      expect(currencyOf(stranger)).toBeUndefined();
      expect(isCurrencyCode(stranger)).toBe(false);
    }
    expect(isCurrencyCode('JPY')).toBe(true);
  });
});

describe('an amount as a decimal', () => {
  it.each<[bigint, number, string]>([
    [12550n, 2, '125.50'],
    [-1n, 2, '-0.01'],
    [100n, 0, '100'],
    [123456789012345678901234567890n, 6, '123456789012345678901234.567890'],
  ])('writes %s with %i decimals as %s', (amount, decimals, decimal) => {
    expect(formatDecimal(amount, decimals)).toBe(decimal);
  });

  it('keeps every digit, so removing the decimal point gives the amount', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.constantFrom(...currencies), (amount, { decimals }) => {
        const text = formatDecimal(amount, decimals);
        expect(BigInt(text.replace('.', ''))).toBe(amount);
        expect(text.split('.')[1]?.length ?? 0).toBe(decimals);
      }),
    );
  });
});

describe('a formatted amount', () => {
  it.each<[bigint, CurrencyCode, string, string]>([
    [12550n, 'USD', 'en', '$125.50'],
    [-1n, 'USD', 'en', '-$0.01'],
    [123456789n, 'EUR', 'de-DE', '1.234.567,89 €'],
    [1234567n, 'JPY', 'en', '¥1,234,567'],
    [828835n, 'BTC', 'en', 'BTC 0.00828835'],
    [1_000_001n, 'USDC', 'en', 'USDC 1.000001'],
    [-1_234_000_000n, 'USDT', 'de', '-1.234,000000 USDT'],
    [9_000_000_000_000_001n, 'USD', 'en', '$90,000,000,000,000.01'],
    [90_071_992_547_409_931_234_567n, 'USD', 'en', '$900,719,925,474,099,312,345.67'],
  ])('writes %s of %s in %s as %s', (amount, code, locale, expected) => {
    const formatted = formatMoney(amount, known(code), locale);
    expect(String(formatted).replaceAll('\u00a0', ' ')).toBe(expected);
  });

  it.each(['', 'not a locale', 'en_US', 'zz-ZZ', 'x'])(
    'reports that the locale "%s" is unknown, without throwing',
    (locale) => {
      const answer = formatMoney(100n, known('USD'), locale);
      expect(answer).toBeInstanceOf(RangeError);
      expect(answer).toMatchObject({ message: expect.stringContaining(JSON.stringify(locale)) });
    },
  );

  it('never throws, whatever the locale', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.constantFrom(...currencies), fc.string(), (amount, currency, locale) => {
        const answer = formatMoney(amount, currency, locale);
        expect(typeof answer === 'string' || answer instanceof RangeError).toBe(true);
      }),
    );
  });
});

it('an amount becomes an exact JSON integer or is refused', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (amount) => {
      if (amount > 2n ** 53n - 1n || amount < -(2n ** 53n) + 1n) {
        expect(() => jsonInteger(amount)).toThrow(UnrepresentableAmount);
      } else {
        expect(JSON.stringify(jsonInteger(amount))).toBe(amount.toString());
      }
    }),
  );
  expect(jsonInteger(9_007_199_254_740_991n)).toBe(Number.MAX_SAFE_INTEGER);
  expect(() => jsonInteger(9_007_199_254_740_992n)).toThrow(UnrepresentableAmount);
});

it('a rate of up to 15 significant digits is unchanged as a JSON number', () => {
  const rate = fc.tuple(fc.integer({ min: 1, max: 999_999_999_999_999 }), fc.integer({ min: 0, max: 14 }));
  fc.assert(
    fc.property(rate, ([digits, places]) => {
      const text = formatDecimal(BigInt(digits), places);
      const read = JSON.parse(JSON.stringify(jsonNumber(text))) as number;
      expect(read.toFixed(places)).toBe(text);
    }),
  );
});

function known(code: CurrencyCode) {
  const currency = currencyOf(code);
  if (currency === undefined) throw new Error(`${code} is missing`);
  return currency;
}

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonInteger, jsonNumber, UnrepresentableAmount } from '../../src/api/records/fields.ts';
import { formatDecimal } from '../../src/core/currencies.ts';

test('an amount is an exact JSON integer, or is refused', () => {
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

test('a rate with 15 significant digits is the same number in JSON', () => {
  const rate = fc.tuple(fc.integer({ min: 1, max: 999_999_999_999_999 }), fc.integer({ min: 0, max: 14 }));
  fc.assert(
    fc.property(rate, ([digits, places]) => {
      const text = formatDecimal(BigInt(digits), places);
      const read = JSON.parse(JSON.stringify(jsonNumber(text))) as number;
      expect(read.toFixed(places)).toBe(text);
    }),
  );
});

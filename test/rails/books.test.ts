import { describe, expect, test } from 'vitest';
import { type OrderHere, totalsOf } from '../../src/domain/reconciliation/differences.ts';
import { agrees } from '../../src/domain/reconciliation/reconciliation.ts';
import type { RailMovement } from '../../src/rails/rail-parts.ts';

// Tests a period's totals in the books here and at the provider, and which balances count as equal.

const period = { from: new Date('2026-01-01T00:00:00.000Z'), to: new Date('2026-01-02T00:00:00.000Z') };
const beside = (moment: Date, ms: number) => new Date(moment.getTime() + ms);

const order = (rest: Partial<OrderHere> = {}): OrderHere => ({
  ...{ id: 'order', transactionId: 'transaction', kind: 'PAYOUT', amount: 100n, currency: 'USD' },
  ...{ status: 'COMPLETED', state: 'SETTLED', inPeriod: true },
  ...rest,
});
const movement = (rest: Partial<RailMovement> = {}): RailMovement => ({
  ...{ orderId: undefined, reference: 'movement', amount: 100n, currency: 'USD', direction: 'OUT', state: 'SETTLED' },
  ...rest,
});
const usd = (sums: object) => [
  { currency: 'USD', receivedHere: 0n, receivedThere: 0n, paidHere: 0n, paidThere: 0n, ...sums },
];

describe('in the totals of a period', () => {
  test("a movement without an order counts from the period's first moment to the last before its end", () => {
    const at = (moment: Date) => totalsOf([], [movement({ at: moment })], period);
    expect(at(period.from)).toEqual(usd({ paidThere: 100n }));
    expect(at(beside(period.to, -1))).toEqual(usd({ paidThere: 100n }));
    expect(at(period.to)).toEqual([]);
    expect(at(beside(period.from, -1))).toEqual([]);
  });

  test("an order's movement counts with the order, regardless of its own time", () => {
    const late = movement({ orderId: 'order', at: beside(period.to, 3_600_000) });
    expect(totalsOf([order()], [late], period)).toEqual(usd({ paidHere: 100n, paidThere: 100n }));
    expect(totalsOf([order({ inPeriod: false })], [{ ...late, at: period.from }], period)).toEqual([]);
  });

  test('unsettled orders and movements do not count', () => {
    for (const state of ['UNDER_WAY', 'FAILED', 'RETURNED'] as const)
      expect(totalsOf([order({ state })], [movement({ orderId: 'order', state })], period)).toEqual([]);
  });

  test('collected money counts as received, and any part of it that is returned counts as paid', () => {
    const collected = order({ kind: 'COLLECTION' });
    const taken = movement({ orderId: 'order', direction: undefined });
    const back = movement({ returnOf: 'order', direction: undefined, amount: 60n });
    expect(totalsOf([collected], [taken, back], period)).toEqual(
      usd({ receivedHere: 100n, receivedThere: 100n, paidThere: 60n }),
    );
  });

  test('a movement without an order counts as received or paid depending on its direction', () => {
    expect(totalsOf([], [movement({ direction: 'IN' }), movement({ amount: 7n })], period)).toEqual(
      usd({ receivedThere: 100n, paidThere: 7n }),
    );
  });
});

test.each([
  [0n, 0n, true],
  [-5n, 0n, true],
  [0n, 5n, true],
  [1n, 5n, false],
  [-5n, -1n, false],
])('a provider balance that exceeds the books by %s to %s agrees with them: %s', (beyondLow, beyondHigh, doesAgree) => {
  expect(agrees({ beyondLow, beyondHigh }, undefined)).toBe(doesAgree);
});

test.each([
  [7n, 7n, true],
  [9n, 12n, true],
  [10n, 12n, false],
  [2n, 5n, true],
  [2n, 4n, false],
])('if an excess of 5 to 9 is known, one of %s to %s agrees with the books: %s', (beyondLow, beyondHigh, doesAgree) => {
  expect(agrees({ beyondLow, beyondHigh }, { beyondLow: 5n, beyondHigh: 9n })).toBe(doesAgree);
});

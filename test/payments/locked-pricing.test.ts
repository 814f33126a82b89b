import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maxAmount } from '../../src/core/checks.ts';
import { type CurrencyCode, currencies, requiredCurrency } from '../../src/core/currencies.ts';
import { Fraction } from '../../src/core/fraction.ts';
import { narrowest, priceQuote, receivingLimits } from '../../src/domain/pricing/pricing.ts';
import type { PricingRequest } from '../../src/domain/pricing/pricing-steps.ts';
import { amountToLock, checkLock, priceByLock } from '../../src/domain/quotes/lock-rate.ts';
import type { RateTerms } from '../../src/rails/rail.ts';
import type { RateLock } from '../../src/rails/rail-parts.ts';
import { request as plainRequest, plainTerms, quoted } from '../proof/quote-cases.ts';

const request = (rest: Partial<PricingRequest> = {}, rate: Partial<RateTerms> = {}): PricingRequest => ({
  ...plainRequest('USD', 'EUR', 'SENDING', 1_000n, rate),
  ...rest,
});

const lock = (rest: Partial<RateLock> = {}): RateLock => ({
  reference: 'a lock',
  sent: 1_000n,
  received: 1_000n,
  rate: '1',
  fees: 0n,
  ...rest,
});

describe('a lock is valid', () => {
  it.each<[string, PricingRequest['lockedSide'], Partial<RateLock>, Partial<RateLock>]>([
    ['sends one unit', 'RECEIVING', { sent: 1n }, { sent: 0n }],
    ['delivers one unit', 'SENDING', { received: 1n }, { received: 0n }],
    ['has no fees', 'SENDING', { fees: 0n }, { fees: -1n }],
    ['has fees that leave one unit', 'SENDING', { fees: 999n }, { fees: 1_000n }],
    ['has a reference', 'SENDING', { reference: 'r' }, { reference: '' }],
    ['has a rate', 'SENDING', { rate: '2' }, { rate: 'two' }],
    ['sends the requested amount', 'SENDING', { sent: 1_000n }, { sent: 999n }],
  ])('if it %s, and invalid one step beyond', (_what, lockedSide, sound, broken) => {
    const check = (rest: Partial<RateLock>) => () => checkLock(request({ lockedSide }), 1_000n, lock(rest), 1);
    expect(check(sound)).not.toThrow();
    expect(check(broken)).toThrow(RangeError);
  });

  it('only for a positive duration', () => {
    const check = (validMs: number) => () => checkLock(request(), 1_000n, lock(), validMs);
    expect(check(0.001)).not.toThrow();
    for (const validMs of [0, -1, Number.NaN]) expect(check(validMs)).toThrow(RangeError);
  });
});

describe('the price of a lock', () => {
  const platformFee = { fixedFee: 25n, variableFeeRate: '0' };

  it('never exceeds the maximum amount, on either side', () => {
    const of = request({ lockedSide: 'RECEIVING', platformFee });
    const by = (rest: Partial<RateLock>) => priceByLock(of, quoted(of), lock(rest));
    expect(by({ sent: maxAmount - 25n })).toMatchObject({ totalSendingAmount: maxAmount, platformFee: 25n });
    expect(by({ sent: maxAmount - 24n })).toEqual({
      code: 'AMOUNT_OUT_OF_RANGE',
      reason: 'at most 90000000000000.00 USD can be moved, not 90000000000000.01 USD',
    });
    expect(by({ received: maxAmount })).toMatchObject({ totalReceivingAmount: maxAmount });
    expect(by({ received: maxAmount + 1n })).toEqual({
      code: 'AMOUNT_OUT_OF_RANGE',
      reason: 'at most 90000000000000.00 EUR can be moved, not 90000000000000.01 EUR',
    });
  });

  it("keeps the platform's fee out of the amount that the rail locks", () => {
    const of = request({ platformFee });
    expect(amountToLock(of, quoted(of))).toBe(975n);
    expect(priceByLock(of, quoted(of), lock({ sent: 975n }))).toMatchObject({
      totalSendingAmount: 1_000n,
      feesIncluded: 25n,
      fixedFees: 25n,
    });
  });

  it.each([
    [9n, 9n],
    [10n, 10n],
    [11n, 10n],
  ])('with rail fees of %s and a listed fixed fee of 10, counts %s as the fixed fee', (fees, fixed) => {
    const of = request({ platformFee }, { serviceFixedFee: 10n });
    const price = priceByLock(of, quoted(of), lock({ sent: 975n, fees }));
    expect(price).toMatchObject({ feesIncluded: fees + 25n, fixedFees: fixed + 25n });
    expect(price).toMatchObject({
      rateDetails: { serviceApiFixedFee: fixed, serviceApiVariableFeeAmount: fees - fixed },
    });
  });

  it("charges the platform's share on what is left after the rail's fixed fee, if the rail has one", () => {
    const shared = { fixedFee: 0n, variableFeeRate: '0.5' };
    const of = request({ lockedSide: 'RECEIVING', platformFee: shared }, { serviceFixedFee: 10n });
    const fee = (sent: bigint) => priceByLock(of, quoted(of), lock({ sent }));
    expect(fee(110n)).toMatchObject({ platformFee: 100n, totalSendingAmount: 210n });
    expect(fee(11n)).toMatchObject({ platformFee: 1n, totalSendingAmount: 12n });
    for (const sent of [10n, 9n]) expect(fee(sent)).toMatchObject({ platformFee: 0n, totalSendingAmount: sent });
  });
});

describe('the limits of a receiving amount', () => {
  const amounts = fc.oneof(fc.bigInt(1n, 40n), fc.bigInt(1n, 100_000n), fc.bigInt(1n, maxAmount));
  const codes = fc.constantFrom<CurrencyCode>(...currencies.map(({ code }) => code));
  const shares = fc.constantFrom('0', '0.003', '0.25', '0.5');
  const conversions = fc
    .record({
      pair: fc.tuple(codes, codes),
      rate: fc.bigInt(1n, 10n ** 8n).map((digits) => new Fraction(digits, 10n ** 4n).toDecimal(15)),
      bounds: fc.tuple(amounts, amounts),
      fees: fc.tuple(fc.bigInt(0n, 30n), fc.bigInt(0n, 30n)),
      shares: fc.tuple(shares, shares),
    })
    .map(({ pair, rate, bounds: [least, width], fees, shares: [service, platform] }) => ({
      sending: requiredCurrency(pair[0]),
      receiving: requiredCurrency(pair[1]),
      rate: {
        ...plainTerms,
        ...{ rate, serviceFixedFee: fees[0], serviceVariableFeeRate: service },
        minSendingAmount: least,
        // A rail may report a limit beyond what any payment can move.
        maxSendingAmount: least + width - 1n,
      },
      platformFee: { fixedFee: fees[1], variableFeeRate: platform },
    }));

  it('are the minimum and maximum that a quote accepts, and are absent if it accepts nothing', () => {
    fc.assert(
      fc.property(conversions, amounts, (conversion, other) => {
        const isTaken = (lockedAmount: bigint) =>
          !('code' in priceQuote({ ...conversion, lockedSide: 'RECEIVING', lockedAmount }));
        const limits = receivingLimits(conversion);
        if (limits) {
          const { min, max } = limits;
          expect([min - 1n, min, max, max + 1n].map(isTaken)).toEqual([false, true, true, false]);
        } else {
          expect([1n, 2n, other, maxAmount].filter(isTaken)).toEqual([]);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('can allow only a single amount, with one conversion or several', () => {
    const { sending, receiving, platformFee, rate } = request({}, { minSendingAmount: 7n, maxSendingAmount: 7n });
    const one = receivingLimits({ sending, receiving, platformFee, rate });
    expect(one).toEqual({ min: 7n, max: 7n });
    expect(
      narrowest([
        { min: 1n, max: 7n },
        { min: 7n, max: 9n },
      ]),
    ).toEqual(one);
    expect(
      narrowest([
        { min: 1n, max: 7n },
        { min: 8n, max: 9n },
      ]),
    ).toBeUndefined();
    expect(narrowest([])).toBeUndefined();
  });
});

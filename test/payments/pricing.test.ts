import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maxAmount } from '../../src/core/checks.ts';
import { type CurrencyCode, requiredCurrency } from '../../src/core/currencies.ts';
import { Fraction, parseDecimal, tenTo, whole } from '../../src/core/fraction.ts';
import { type Pricing, type PricingRefusal, priceQuote } from '../../src/domain/pricing/pricing.ts';
import type { PricingRequest } from '../../src/domain/pricing/pricing-steps.ts';
import type { RateTerms } from '../../src/rails/rail.ts';
import { sandboxTerms } from '../../src/rails/sandbox/rates.ts';
import { quoted, request, requests } from '../proof/quote-cases.ts';

const anyRequest = fc.oneof(requests('SENDING'), requests('RECEIVING'));

describe('the worked examples', () => {
  it.each<[CurrencyCode, CurrencyCode, bigint, bigint, string, bigint]>([
    ['USD', 'EUR', 123010n, 10n, '123', 1000n],
    ['USD', 'EUR', 100000n, 500n, '1.08695652', 91540n],
    ['USD', 'BTC', 100000n, 500n, '120048.01920768', 828835n],
    ['USD', 'MXN', 100000n, 500n, '0.05797101', 1716375n],
  ])('%s to %s: %s with fees of %s at %s gives %s, whichever side is locked', (from, to, send, fees, rate, receive) => {
    const terms = { rate, serviceFixedFee: fees };
    const forward = quoted(request(from, to, 'SENDING', send, terms));
    expect(forward).toMatchObject({ totalSendingAmount: send, totalReceivingAmount: receive, feesIncluded: fees });
    expect(forward.exchangeRate).toBe(rate);

    const backward = quoted(request(from, to, 'RECEIVING', receive, terms));
    expect(backward).toMatchObject({ totalReceivingAmount: receive, feesIncluded: fees, exchangeRate: rate });
    const worth = whole(receive).over(unitsBought(request(from, to, 'RECEIVING', receive, terms)));
    expect(backward.totalSendingAmount).toBe(fees + worth.roundUp());
  });
});

describe('a quote explains itself', () => {
  it('lists every rounding, with the exact value before it and the integer after it', () => {
    const terms = { rate: '1.25', serviceVariableFeeRate: '0.01', counterpartyFixedFee: 3n };
    const quote = quoted(request('USD', 'EUR', 'SENDING', 1000n, terms, { fixedFee: 50n, variableFeeRate: '0.003' }));
    expect(quote.steps).toEqual([
      {
        ...{ step: 'COUNTERPARTY_FIXED_FEE', before: '3.75', after: 4n, currency: 'USD', rounding: 'HALF_UP' },
        text: '3 × 1.25 = 3.75, rounded half up to 4 (0.04 USD)',
      },
      {
        ...{ step: 'TOTAL_RECEIVING_AMOUNT', before: '746.9616', after: 747n, currency: 'EUR', rounding: 'HALF_UP' },
        text: '(1000 − 54) × 0.987 ÷ 1.25 = 746.9616, rounded half up to 747 (7.47 EUR)',
      },
      {
        ...{ step: 'PLATFORM_VARIABLE_FEE', before: '2.838', after: 3n, currency: 'USD', rounding: 'HALF_UP' },
        text: '946 × 0.003 = 2.838, rounded half up to 3 (0.03 USD)',
      },
      {
        ...{ step: 'SERVICE_VARIABLE_FEE', before: '9.46', after: 9n, currency: 'USD', rounding: 'HALF_UP' },
        text: '946 × 0.01 = 9.46, rounded half up to 9 (0.09 USD)',
      },
    ]);
    expect(quote).toMatchObject({ totalReceivingAmount: 747n, feesIncluded: 66n, platformFee: 53n });
  });

  it('shows a non-terminating decimal as a ratio, and the factor that aligns different decimal places', () => {
    const terms = { serviceFixedFee: 7n, serviceVariableFeeRate: '0.001' };
    const quote = quoted(request('USD', 'USDC', 'RECEIVING', 50_000_000n, terms));
    expect(quote.steps[0]).toEqual({
      ...{ step: 'TOTAL_SENDING_AMOUNT', before: '5012.00500500500500500500500501', after: 5013n },
      ...{ currency: 'USD', rounding: 'UP' },
      text: '7 + 50000000 × 1 ÷ 10000 ÷ 0.999 = 5006993/999 (about 5012.00500500501), rounded up to 5013 (50.13 USD)',
    });
  });

  it('gives the service the surplus from rounding up, if the quote would otherwise break the rate law', () => {
    // 1191 sats cost 11.91 cents. At least 17.01… cents must be charged, so 18 are. The 30 % fee, 5.4, is rounded to 5,
    // which would leave 13 cents for sats that cost 11.91.
    const terms = { rate: '10000', serviceVariableFeeRate: '0.3' };
    const quote = quoted(request('USD', 'BTC', 'RECEIVING', 1191n, terms));
    expect(quote).toMatchObject({ totalSendingAmount: 18n, totalReceivingAmount: 1191n, feesIncluded: 6n });
    expect(quote.steps.at(-1)).toEqual({
      ...{ step: 'ROUNDING_SURPLUS', before: '1.09', after: 1n, currency: 'USD', rounding: 'DOWN' },
      text: "13 − 11.91 = 1.09 left over, 1 of which is added to the service's variable fee",
    });
    expect(quote.rateDetails.serviceApiVariableFeeAmount).toBe(6n);

    const platform = { fixedFee: 0n, variableFeeRate: '0.3' };
    const ofPlatform = quoted(request('USD', 'BTC', 'RECEIVING', 1191n, { rate: '10000' }, platform));
    expect(ofPlatform).toMatchObject({ feesIncluded: 6n, platformFee: 6n });
    expect(ofPlatform.rateDetails.serviceApiVariableFeeAmount).toBe(0n);
  });

  it('prints the rate it used, without trailing zeros', () => {
    const printed = (rate: string) => quoted(request('USD', 'JPY', 'SENDING', 1000n, { rate })).exchangeRate;
    expect([printed('1.100'), printed('0.00670000000000001')]).toEqual(['1.1', '0.00670000000000001']);
  });
});

describe('the rate details', () => {
  it('state both multipliers in terms of millisatoshis, at the given bitcoin price', () => {
    const terms = { rate: '1.25', bridge: '100000', serviceVariableFeeRate: '0.01', serviceFixedFee: 7n };
    const quote = quoted(request('USD', 'EUR', 'SENDING', 1000n, terms, { fixedFee: 0n, variableFeeRate: '0.003' }));
    expect(quote.rateDetails).toEqual({
      serviceApiMultiplier: '9870', // a cent is 10000 msat, of which 1.3 % are fees
      serviceApiFixedFee: 7n,
      serviceApiVariableFeeRate: '0.01',
      serviceApiVariableFeeAmount: 10n,
      counterpartyMultiplier: '0.00008', // 10000 msat are a cent, and 1.25 cents are a euro cent
      counterpartyFixedFee: 0n,
    });
  });

  it('reproduce the quote: (send − F) × both multipliers = receive, within rounding', () => {
    everyQuote(anyRequest, (asked, quote) => {
      const { serviceApiMultiplier, counterpartyMultiplier } = quote.rateDetails;
      const factor = parseDecimal(serviceApiMultiplier).times(parseDecimal(counterpartyMultiplier));
      const composed = whole(quote.totalSendingAmount - quote.fixedFees).times(factor);
      // Allows one smallest unit on each side for rounding, and 1 in 10^14 for each of the two printed multipliers.
      const ofPrinted = composed.times(new Fraction(2n, 10n ** 14n));
      const slack = whole(1n).plus(unitsBought(asked)).plus(ofPrinted);
      const off = composed.minus(whole(quote.totalReceivingAmount));
      expect(slack.isLessThan(off) || off.isLessThan(whole(0n).minus(slack))).toBe(false);
      for (const multiplier of [serviceApiMultiplier, counterpartyMultiplier]) {
        expect(multiplier).toMatch(/^(0|[1-9]\d*)(\.\d+)?$/);
        expect(parseDecimal(multiplier).toDecimal(15)).toBe(multiplier);
      }
    });
  });
});

/** test/proof/theorems.ts states further properties of all quotes. test/proof/pricing.test.ts evaluates them. */
describe('for every pair, amount and fee', () => {
  it('the locked side is exactly the locked amount, and both sides stay within their bounds', () => {
    everyQuote(anyRequest, (asked, quote) => {
      const { totalSendingAmount: send, totalReceivingAmount: receive } = quote;
      expect(asked.lockedSide === 'SENDING' ? send : receive).toBe(asked.lockedAmount);
      expect(send >= asked.rate.minSendingAmount && send <= asked.rate.maxSendingAmount).toBe(true);
      expect(receive >= 1n && receive <= maxAmount).toBe(true);
    });
  });

  it('with SENDING locked and two variable fees, a quote can deviate from the rate law by more than one unit of either currency', () => {
    const terms = { ...sandboxTerms(requiredCurrency('USD'), requiredCurrency('CAD')), maxSendingAmount: maxAmount };
    const platform = { fixedFee: 7n, variableFeeRate: '0.0123456789' };
    const asked = request('USD', 'CAD', 'SENDING', 6_173_403_473_077_186n, terms, platform);
    const quote = quoted(asked);
    const converted = whole(quote.totalSendingAmount - quote.feesIncluded).times(unitsBought(asked));
    expect(whole(quote.totalReceivingAmount).minus(converted).toDecimal(3)).toBe('1.69');
  });
});

describe('the bounds', () => {
  it('allow exactly 9000000000000000, on either side', () => {
    for (const lockedSide of ['SENDING', 'RECEIVING'] as const) {
      expect(quoted(request('USD', 'EUR', lockedSide, maxAmount))).toMatchObject({
        totalSendingAmount: 9_000_000_000_000_000n,
        totalReceivingAmount: 9_000_000_000_000_000n,
        feesIncluded: 0n,
      });
    }
    const taxed = quoted(request('USD', 'EUR', 'SENDING', maxAmount, { serviceVariableFeeRate: '0.000000000000001' }));
    expect(taxed).toMatchObject({ totalReceivingAmount: 8_999_999_999_999_991n, feesIncluded: 9n });
  });

  it.each<bigint>([0n, -1n, -9_000_000_000_000_000n])('refuse %s as a locked amount', (amount) => {
    expect(refused(request('USD', 'EUR', 'SENDING', amount))).toEqual({
      code: 'INVALID_AMOUNT',
      reason: `the amount must be at least 1, not ${amount}`,
    });
  });

  it.each(['SENDING', 'RECEIVING'] as const)('refuse a locked amount above the maximum (%s)', (lockedSide) => {
    const reason = 'the amount must be at most 9000000000000000, not 9000000000000001';
    expect(refused(request('USD', 'EUR', lockedSide, maxAmount + 1n))).toEqual(outOfRange(reason));
  });

  it("limit a corridor's sending amount, and are stated in the refusal", () => {
    const terms = { minSendingAmount: 10n, maxSendingAmount: 500n };
    const reason = (sent: string) => `from USD to EUR the sending amount must be 0.10 to 5.00 USD, not ${sent} USD`;
    for (const lockedSide of ['SENDING', 'RECEIVING'] as const) {
      expect(quoted(request('USD', 'EUR', lockedSide, 10n, terms)).totalSendingAmount).toBe(10n);
      expect(quoted(request('USD', 'EUR', lockedSide, 500n, terms)).totalSendingAmount).toBe(500n);
      expect(refused(request('USD', 'EUR', lockedSide, 9n, terms)).reason).toBe(reason('0.09'));
      expect(refused(request('USD', 'EUR', lockedSide, 501n, terms)).reason).toBe(reason('5.01'));
    }
  });

  it('refuse a computed sending amount above the maximum, even if the rail has no bound', () => {
    const terms = { serviceFixedFee: 1n, maxSendingAmount: 10n ** 30n };
    expect(quoted(request('USD', 'EUR', 'RECEIVING', maxAmount - 1n, terms)).totalSendingAmount).toBe(maxAmount);
    expect(refused(request('USD', 'EUR', 'RECEIVING', maxAmount, terms))).toEqual(
      outOfRange('from USD to EUR the sending amount must be 0.01 to 90000000000000.00 USD, not 90000000000000.01 USD'),
    );
  });

  it.each<[string, CurrencyCode, string, bigint, bigint, bigint, string]>([
    // 1 cent buys 10^12 satoshis.
    [
      'the maximum in satoshis',
      'BTC',
      '0.000001',
      9_000n,
      maxAmount,
      9_001n,
      '0.00000001 to 90000000.00000000 BTC, not 90010000.00000000',
    ],
    [
      'the maximum by one unit',
      'EUR',
      '0.999999999999999',
      8_999_999_999_999_991n,
      maxAmount,
      8_999_999_999_999_992n,
      '0.01 to 90000000000000.00 EUR, not 90000000000000.01',
    ],
    // 100 cents buy one yen.
    ['the minimum, at less than half a unit', 'JPY', '1', 50n, 1n, 49n, '1 to 9000000000000000 JPY, not 0'],
  ])('refuse a computed received amount beyond %s', (_what, to, rate, fits, received, beyond, bounds) => {
    expect(quoted(request('USD', to, 'SENDING', fits, { rate })).totalReceivingAmount).toBe(received);
    const reason = `from USD to ${to} the receiving amount must be ${bounds} ${to}`;
    expect(refused(request('USD', to, 'SENDING', beyond, { rate }))).toEqual(outOfRange(reason));
  });

  it('refuse an amount that covers only the fixed fees, and accept one unit more', () => {
    const terms = { serviceFixedFee: 300n, counterpartyFixedFee: 50n };
    const ask = (amount: bigint) =>
      request('USD', 'EUR', 'SENDING', amount, terms, { fixedFee: 150n, variableFeeRate: '0' });
    expect(refused(ask(500n))).toEqual(outOfRange('the amount must be more than the fixed fees of 5.00 USD'));
    expect(quoted(ask(501n)).totalReceivingAmount).toBe(1n);
  });

  it.each(['SENDING', 'RECEIVING'] as const)('refuse variable fees that consume everything (%s)', (lockedSide) => {
    const [terms, platform] = [{ serviceVariableFeeRate: '0.5' }, { fixedFee: 0n, variableFeeRate: '0.5' }];
    const reason = 'the variable fees of the service and the platform together leave nothing to send';
    expect(refused(request('USD', 'EUR', lockedSide, 100n, terms, platform))).toEqual(outOfRange(reason));
  });

  it.each<[Partial<RateTerms>, string]>([
    [{ rate: '0' }, 'rate must be greater than 0'],
    [{ rate: '-1' }, 'rate must be greater than 0'],
    [{ rate: '1e3' }, 'rate must be a plain decimal such as "1.08695652"'],
    [{ rate: 'NaN' }, 'rate must be a plain decimal such as "1.08695652"'],
    [{ rate: '1.234567890123456' }, 'rate must have at most 15 significant digits'],
    [{ rate: '0.0000000000000000001' }, 'rate must have at most 18 decimal places'],
    [{ rate: '100000000000000' }, 'rate must be less than 1 followed by 14 zeros'],
    [{ bridge: '0' }, 'bridge must be greater than 0'],
    [{ serviceVariableFeeRate: '1' }, 'service variable fee rate must be at least 0 and less than 1'],
    [{ serviceFixedFee: -1n }, 'service fixed fee must not be negative, but is -1'],
    [{ counterpartyFixedFee: -1n }, 'counterparty fixed fee must not be negative, but is -1'],
  ])('refuse terms that no rail may state: %o', (terms, message) => {
    expect(() => priceQuote(request('USD', 'EUR', 'SENDING', 100n, terms))).toThrow(new RangeError(message));
  });
});

/** Checks a property of random quotes, ignoring those that are refused. */
function everyQuote(asked: fc.Arbitrary<PricingRequest>, check: (asked: PricingRequest, quote: Pricing) => void): void {
  fc.assert(
    fc.property(asked, (one) => {
      const quote = priceQuote(one);
      fc.pre(!('code' in quote));
      check(one, quote);
    }),
  );
}

function refused(asked: PricingRequest): PricingRefusal {
  const answer = priceQuote(asked);
  if (!('code' in answer)) throw new Error('not refused');
  return answer;
}

const outOfRange = (reason: string): PricingRefusal => ({ code: 'AMOUNT_OUT_OF_RANGE', reason });

/** Returns k, the number of smallest units received for each smallest unit sent. */
function unitsBought({ sending, receiving, rate }: PricingRequest): Fraction {
  return tenTo(receiving.decimals - sending.decimals).over(parseDecimal(rate.rate));
}

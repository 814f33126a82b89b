import fc from 'fast-check';
import { maxAmount } from '../../src/core/checks.ts';
import { type CurrencyCode, currencies, formatDecimal, requiredCurrency } from '../../src/core/currencies.ts';
import { whole } from '../../src/core/fraction.ts';
import { type Pricing, priceQuote, readTerms } from '../../src/domain/pricing/pricing.ts';
import type { PricingRequest } from '../../src/domain/pricing/pricing-steps.ts';
import type { RateTerms } from '../../src/rails/rail.ts';
import type { Value } from './smt.ts';

/** Quotes from priceQuote, with the names that the model gives to their numbers. */

const amounts = fc.oneof(
  fc.bigInt(1n, 200n),
  fc.bigInt(1n, 10n ** 9n),
  fc.bigInt(1n, maxAmount),
  fc.constantFrom(1n, 2n, maxAmount - 1n, maxAmount),
);
/** Rates within the limits of 15 significant digits and 18 decimal places. */
const rates = fc
  .tuple(fc.bigInt(1n, 10n ** 6n), fc.integer({ min: -8, max: 6 }))
  .map(([digits, exponent]) => (exponent >= 0 ? `${digits}${'0'.repeat(exponent)}` : formatDecimal(digits, -exponent)));
const feeRates = fc.oneof(
  fc.constantFrom('0', '0.5', '0.001', '0.499999999999999', '0.000000000000001'),
  fc.integer({ min: 0, max: 999 }).map((thousandths) => formatDecimal(BigInt(thousandths), 3)),
);
const fixedFees = fc.oneof(fc.constant(0n), fc.bigInt(0n, 100n), fc.bigInt(0n, 10n ** 12n));
const currency = fc.constantFrom(...currencies);

/** Arbitrary requests in all currencies, with amounts and rates over their full ranges. */
export const requests = (lockedSide: 'SENDING' | 'RECEIVING'): fc.Arbitrary<PricingRequest> =>
  fc.record({
    sending: currency,
    receiving: currency,
    lockedSide: fc.constant(lockedSide),
    lockedAmount: amounts,
    rate: fc.record({
      rate: rates,
      serviceFixedFee: fixedFees,
      serviceVariableFeeRate: feeRates,
      counterpartyFixedFee: fixedFees,
      minSendingAmount: fc.constant(1n),
      maxSendingAmount: fc.constant(maxAmount),
      bridge: fc.constant('100000'),
    }),
    platformFee: fc.record({ fixedFee: fixedFees, variableFeeRate: feeRates }),
  });

/** The terms of a rail without fees or bounds, at a rate of 1:1. */
export const plainTerms: RateTerms = {
  rate: '1',
  bridge: '100000',
  serviceFixedFee: 0n,
  serviceVariableFeeRate: '0',
  counterpartyFixedFee: 0n,
  minSendingAmount: 1n,
  maxSendingAmount: maxAmount,
};

/** Builds a request, by default at a rate of 1:1 and without fees or bounds. */
export function request(
  sending: CurrencyCode,
  receiving: CurrencyCode,
  lockedSide: PricingRequest['lockedSide'],
  lockedAmount: bigint,
  terms: Partial<RateTerms> = {},
  platformFee: PricingRequest['platformFee'] = { fixedFee: 0n, variableFeeRate: '0' },
): PricingRequest {
  return {
    sending: requiredCurrency(sending),
    receiving: requiredCurrency(receiving),
    lockedSide,
    lockedAmount,
    rate: { ...plainTerms, ...terms },
    platformFee,
  };
}

/** Prices a request. Throws if there is no price. */
export function quoted(request: PricingRequest): Pricing {
  const price = priceQuote(request);
  if ('code' in price) throw new Error(`refused: ${price.reason}`);
  return price;
}

/** Prices a request, or returns undefined if there is no price. */
export function priced(request: PricingRequest): Pricing | undefined {
  const price = priceQuote(request);
  return 'code' in price ? undefined : price;
}

/** Returns a quote's numbers under the names that the model uses. */
export function numbersOf(request: PricingRequest, price: Pricing): Record<string, Value> {
  const { fixedFees: fixed, unitsBought, platformRate, serviceRate } = readTerms(request);
  return {
    fixed: whole(fixed),
    units_bought: unitsBought,
    platform: platformRate,
    service: serviceRate,
    send: whole(price.totalSendingAmount),
    receive: whole(price.totalReceivingAmount),
    platform_part: whole(price.platformFee - request.platformFee.fixedFee),
    service_part: whole(price.rateDetails.serviceApiVariableFeeAmount),
    fees: whole(price.feesIncluded),
    taken: whole(price.steps.some(({ step }) => step === 'ROUNDING_SURPLUS') ? 1n : 0n),
  };
}

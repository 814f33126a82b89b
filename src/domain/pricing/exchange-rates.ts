import { currencies, type GivenAmount, givenCurrency, smallestUnits } from '../../core/currencies.ts';
import { pathsIn, Refusal } from '../../core/refusal.ts';
import type { Caller } from '../access/caller.ts';
import { type Payments, railOf } from '../commands/command.ts';
import { readPlatformFee } from '../commands/parties.ts';
import { neededOf } from '../orders/orders.ts';
import { deliveryRails } from './delivery-rails.ts';
import { priceQuote } from './pricing.ts';

/** The current terms of a conversion, including the platform's fees. */
export type ExchangeRate = Awaited<ReturnType<typeof readExchangeRates>>[number];

const defaultAmount = 10_000n;

export interface RatesQuery {
  readonly source: string;
  readonly destinations?: readonly string[] | null | undefined;
  readonly sendingAmount?: GivenAmount | null | undefined;
}

const at = pathsIn<RatesQuery>();

/**
 * Returns indicative rates for an amount (in the source currency's smallest unit), one for each destination. An amount
 * that is out of range for a destination is refused if the query names the destination; otherwise, that destination is
 * omitted. An amount outside the limits that apply to every payment is always refused.
 * @throws Refusal INVALID_CURRENCY, INVALID_AMOUNT, AMOUNT_OUT_OF_RANGE
 */
export async function readExchangeRates(payments: Payments, caller: Caller, query: RatesQuery) {
  const source = givenCurrency(query.source, at('source'));
  const given =
    query.sendingAmount == null ? undefined : smallestUnits(query.sendingAmount, source, at('sendingAmount'));
  const requested = query.destinations?.map((code) => givenCurrency(code, at('destinations')));
  // One rate per currency, so that a short request cannot produce a long response.
  const destinations = requested ? [...new Set(requested)] : currencies.filter((currency) => currency !== source);
  const platformFee = await readPlatformFee(payments.database.pool, caller, source.code);
  const rates = await Promise.all(
    destinations.map(async (destination) => {
      const terms = await neededOf(payments, railOf(payments, caller, 'rate').rate(source, destination));
      if (!terms) return [];
      const { minSendingAmount: least } = terms;
      // In some currencies, the default amount is below the minimum, so a quote for it would be refused.
      const lockedAmount = given ?? (least > defaultAmount ? least : defaultAmount);
      const sides = { sending: source, receiving: destination, lockedSide: 'SENDING' } as const;
      const price = priceQuote({ ...sides, lockedAmount, rate: terms, platformFee });
      if ('code' in price) {
        if (!query.destinations) return [];
        throw new Refusal(price.code, price.reason, at('sendingAmount'));
      }
      return [
        {
          source,
          destination,
          rate: price.exchangeRate,
          sendingAmount: { amount: price.totalSendingAmount, currency: source },
          receivingAmount: { amount: price.totalReceivingAmount, currency: destination },
          fees: { amount: price.feesIncluded, currency: source },
          // The part of the fees that is independent of the amount.
          fixedFees: { amount: price.fixedFees, currency: source },
          // The receiving currency's usual rail.
          deliveryRail: deliveryRails[destination.code],
          minSendingAmount: { amount: least, currency: source },
          maxSendingAmount: { amount: terms.maxSendingAmount, currency: source },
          updatedAt: new Date(),
        },
      ];
    }),
  );
  return rates.flat();
}

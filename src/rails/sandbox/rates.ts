/** The rates of the sandbox rail: a fixed table, so that tests produce the same amounts every day. */

import { z } from 'zod';
import { maxAmount } from '../../core/checks.ts';
import { type Currency, type CurrencyCode, isCurrencyCode } from '../../core/currencies.ts';
import {
  type Fraction,
  parseDecimal,
  rateDigits,
  rateFault,
  ratePlaces,
  tenTo,
  variableFeeRateFault,
  whole,
} from '../../core/fraction.ts';
import type { RateTerms } from '../rail.ts';

/** The mid price of one unit of each currency in US dollars. The prices are plausible, not live. */
const midPrices: Readonly<Record<CurrencyCode, string>> = {
  USD: '1',
  EUR: '1.0869',
  GBP: '1.2658',
  MXN: '0.0582',
  BRL: '0.1851',
  INR: '0.0117',
  NGN: '0.00065',
  CAD: '0.7143',
  PHP: '0.0172',
  SGD: '0.7463',
  JPY: '0.0067',
  BTC: '100000',
  USDC: '1',
  USDT: '0.9995',
};

/** The markup on the mid price, as a fraction. It applies if the sending and receiving currencies differ. */
const spread = '0.004';

/** The fixed fee in US dollars, which is converted to each currency and rounded down to its smallest unit. */
const fixedFeeWorth = '0.05';

/** The minimum amount to send, in US dollars. It is converted in the same way. */
const minSendingWorth = '0.1';

const defaultVariableFeeRate = '0.003';

/** The maximum amount to send, in the currency's smallest unit: the API's own maximum. */
const maxSendingAmount = maxAmount;

/** The number of decimal places in a rate, as in the API's samples. Rates below `minUsualRate` have more. */
const usualPlaces = 8;
const minUsualRate = '0.001';

/** Returns a pair's terms from the table, with any overrides. Every ordered pair of currencies has a rate. */
export function sandboxTerms(
  sending: Currency,
  receiving: Currency,
  overrides: z.infer<typeof rateOverrides> = new Map(),
): RateTerms {
  const override = overrides.get(`${sending.code}/${receiving.code}`);
  return {
    rate: override?.rate ?? tableRate(sending, receiving),
    serviceFixedFee: override?.fixedFee ?? unitsWorth(fixedFeeWorth, sending),
    serviceVariableFeeRate: override?.variableFeeRate ?? defaultVariableFeeRate,
    counterpartyFixedFee: 0n,
    minSendingAmount: unitsWorth(minSendingWorth, sending),
    maxSendingAmount,
    bridge: midPrice('BTC').over(midPrice(sending.code)).toDecimal(rateDigits, ratePlaces),
  };
}

function tableRate(sending: Currency, receiving: Currency): string {
  if (sending.code === receiving.code) return '1';
  const mid = midPrice(receiving.code).over(midPrice(sending.code));
  const rate = mid.times(whole(1n).plus(parseDecimal(spread)));
  const places = rate.isLessThan(parseDecimal(minUsualRate)) ? ratePlaces : usualPlaces;
  return rate.toDecimal(rateDigits, places);
}

/** Converts an amount in US dollars to a currency's smallest unit at the mid price, rounding down. */
function unitsWorth(dollars: string, currency: Currency): bigint {
  return parseDecimal(dollars).over(midPrice(currency.code)).times(tenTo(currency.decimals)).roundDown();
}

function midPrice(code: CurrencyCode): Fraction {
  return parseDecimal(midPrices[code]);
}

/** Returns a schema for the decimals that pricing accepts. They are strings, because JSON numbers could be inexact. */
function decimalText(fault: (text: string) => string | undefined) {
  return z.string({ error: 'must be a decimal in quotation marks' }).superRefine((text, context) => {
    const reason = fault(text);
    if (reason !== undefined) context.addIssue({ code: 'custom', message: `${reason}, not ${JSON.stringify(text)}` });
  });
}

/** An entry that replaces a pair's entry in the table. If it omits a fee, the table's fee applies. */
const overrideSchema = z.strictObject({
  /** Major units of the sending currency per unit of the receiving currency, before fees. No spread is added. */
  rate: decimalText(rateFault),
  /** In the smallest unit of the sending currency. */
  fixedFee: z.int().min(0).max(Number(maxSendingAmount)).transform(BigInt).optional(),
  /** As a fraction of the sending amount. */
  variableFeeRate: decimalText(variableFeeRateFault).optional(),
});

const pair = z.string().refine((name) => {
  const [sending = '', receiving = '', ...rest] = name.split('/');
  return isCurrencyCode(sending) && isCurrencyCode(receiving) && rest.length === 0;
}, 'must be the codes of two known currencies, such as "USD/EUR"');

const overridesByPair = z.record(pair, overrideSchema, { error: 'must be an object with keys such as "USD/EUR"' });
/** The replacement entries, keyed by pair, such as `{"USD/EUR": {"rate": "1.08695652", "fixedFee": 500}}`. */
export const rateOverrides = overridesByPair.transform((entries, context) => {
  for (const [name, { rate }] of Object.entries(entries)) {
    const isConverted = new Set(name.split('/')).size > 1;
    if (isConverted || parseDecimal(rate).toDecimal(rateDigits) === '1') continue;
    context.addIssue({ code: 'custom', path: [name, 'rate'], message: 'must be 1 between a currency and itself' });
  }
  return new Map(Object.entries(entries));
});

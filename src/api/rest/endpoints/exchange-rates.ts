import { z } from '@hono/zod-openapi';
import type { PathTable } from '../../../core/refusal.ts';
import type { Payments } from '../../../domain/commands/command.ts';
import { type ExchangeRate, type RatesQuery, readExchangeRates } from '../../../domain/pricing/exchange-rates.ts';
import { jsonInteger, jsonNumber } from '../../records/fields.ts';
import { type Endpoints, withRequestPaths } from '../endpoint.ts';
import { addWholeList, amountParameter, repeatable } from '../lists.ts';
import { amount, CurrencySchema, rate, responseObject, string, time } from '../schemas/fields.ts';

const RateSchema = responseObject('ExchangeRate', {
  sourceCurrency: CurrencySchema,
  destinationCurrency: CurrencySchema,
  destinationPaymentRail: string(
    'The network that usually delivers payments in the receiving currency.',
    'SEPA_INSTANT',
  ),
  sendingAmount: amount('The amount to send, fees included, in the smallest unit of the source currency.'),
  receivingAmount: amount('The amount that would arrive, in the smallest unit of the destination currency.', 12495),
  minSendingAmount: amount('The smallest amount that can be sent, in the smallest unit of the source currency.'),
  maxSendingAmount: amount('The largest amount that can be sent, in the smallest unit of the source currency.'),
  exchangeRate: rate(
    'Units of the source currency per unit of the destination currency, in major units and without fees.',
  ),
  fees: z
    .object({
      fixed: amount('The fixed fees, in the smallest unit of the source currency.', 5),
      total: amount('All fees, in the smallest unit of the source currency.', 55),
    })
    .describe('The fees that are deducted.'),
  updatedAt: time('When the rate was read.'),
}).describe('The current indicative price of a conversion. Only a quote locks a price.');

function rateRecord(rate: ExchangeRate): z.infer<typeof RateSchema> {
  return {
    sourceCurrency: { ...rate.source },
    destinationCurrency: { ...rate.destination },
    destinationPaymentRail: rate.deliveryRail,
    sendingAmount: jsonInteger(rate.sendingAmount.amount),
    receivingAmount: jsonInteger(rate.receivingAmount.amount),
    minSendingAmount: jsonInteger(rate.minSendingAmount.amount),
    maxSendingAmount: jsonInteger(rate.maxSendingAmount.amount),
    exchangeRate: jsonNumber(rate.rate),
    fees: { fixed: jsonInteger(rate.fixedFees.amount), total: jsonInteger(rate.fees.amount) },
    updatedAt: rate.updatedAt.toISOString(),
  };
}

const paths: PathTable<RatesQuery> = [
  [['source'], ['sourceCurrency']],
  [['destinations'], ['destinationCurrency']],
];

/** Adds the exchange rate endpoint. */
export function exchangeRateEndpoints(endpoints: Endpoints, payments: Payments): void {
  addWholeList(endpoints, 'listExchangeRates', {
    summary: 'List indicative exchange rates',
    description:
      'The current prices, with all fees, of conversions from one source currency. Only a quote locks a price.',
    at: '/exchange-rates',
    filters: {
      sourceCurrency: string('The code of the currency to send.', 'USD'),
      destinationCurrency: repeatable(
        z.string(),
        'The code of a currency to receive; all currencies by default. May be repeated.',
      ),
      sendingAmount: amountParameter(
        'The amount to price, in the smallest unit of the source currency; by default 10000, or the minimum amount if that is more.',
        1,
      ),
    },
    item: RateSchema,
    name: 'ExchangeRateList',
    read: async (viewer, { sourceCurrency: source, destinationCurrency: destinations, sendingAmount }) => {
      const query = { source, destinations, sendingAmount };
      return (await withRequestPaths(paths, readExchangeRates(payments, viewer, query))).map(rateRecord);
    },
  });
}

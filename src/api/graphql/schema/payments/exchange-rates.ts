import { type ExchangeRate, readExchangeRates } from '../../../../domain/pricing/exchange-rates.ts';
import { executedRead } from '../../reading/derive.ts';
import { builder } from '../builder.ts';
import { PaymentRail } from '../enums.ts';
import { AmountInput, givenAmount } from '../values/amount-input.ts';

const ExchangeRateType = builder.objectRef<ExchangeRate>('ExchangeRate').implement({
  description: 'The indicative price of a conversion at this moment. It is not locked; a quote locks a rate.',
  fields: (t) => ({
    source: t.expose('source', { type: 'Currency', description: 'The currency of the amount sent.' }),
    destination: t.expose('destination', { type: 'Currency', description: 'The currency of the amount received.' }),
    rate: t.expose('rate', {
      type: 'Decimal',
      description: 'Units of the sending currency per unit of the receiving currency, in major units and without fees.',
    }),
    sendingAmount: t.expose('sendingAmount', {
      type: 'Money',
      description: 'The amount that the price is for, fees included.',
    }),
    receivingAmount: t.expose('receivingAmount', { type: 'Money', description: 'The amount that would arrive.' }),
    fees: t.expose('fees', { type: 'Money', description: 'All fees, in the sending currency.' }),
    minSendingAmount: t.expose('minSendingAmount', {
      type: 'Money',
      description: 'The smallest amount that can be sent.',
    }),
    maxSendingAmount: t.expose('maxSendingAmount', {
      type: 'Money',
      description: 'The largest amount that can be sent.',
    }),
    deliveryRail: t.expose('deliveryRail', {
      type: PaymentRail,
      description: 'The network that usually delivers payments in the receiving currency.',
    }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the rate was read.' }),
  }),
});

builder.queryField('exchangeRates', (t) =>
  t.field({
    type: [ExchangeRateType],
    ...executedRead,
    description: 'Indicative exchange rates from one currency to others.',
    args: {
      source: t.arg({ type: 'CurrencyCode', required: true, description: 'The currency to send in.' }),
      destinations: t.arg({ type: ['CurrencyCode'], description: 'The currencies to receive in; all when left out.' }),
      sendingAmount: t.arg({
        type: AmountInput,
        description: 'The amount to price, fees included; 10000 smallest units by default.',
      }),
    },
    resolve: (_root, { sendingAmount, ...args }, { payments, viewer }) =>
      readExchangeRates(payments, viewer, { ...args, sendingAmount: sendingAmount && givenAmount(sendingAmount) }),
  }),
);

import { type ExchangeRate, readExchangeRates } from '../../../../domain/pricing/exchange-rates.ts';
import { executedRead } from '../../reading/derive.ts';
import { builder } from '../builder.ts';
import { AmountInput, givenAmount } from '../values/amount-input.ts';
import { PaymentRail } from '../values/payment-rail.ts';

const ExchangeRateType = builder.objectRef<ExchangeRate>('ExchangeRate').implement({
  description: 'What a conversion would cost now. Not locked: a quote is.',
  fields: (t) => ({
    source: t.expose('source', { type: 'Currency', description: 'Sent in.' }),
    destination: t.expose('destination', { type: 'Currency', description: 'Received in.' }),
    rate: t.expose('rate', {
      type: 'Decimal',
      description: 'Sending currency units per receiving currency unit, fee-exclusive.',
    }),
    sendingAmount: t.expose('sendingAmount', { type: 'Money', description: 'The amount priced, fees included.' }),
    receivingAmount: t.expose('receivingAmount', { type: 'Money', description: 'What would arrive.' }),
    fees: t.expose('fees', { type: 'Money', description: 'All fees.' }),
    minSendingAmount: t.expose('minSendingAmount', { type: 'Money', description: 'The least that can be sent.' }),
    maxSendingAmount: t.expose('maxSendingAmount', { type: 'Money', description: 'The most that can be sent.' }),
    deliveryRail: t.expose('deliveryRail', {
      type: PaymentRail,
      description: 'The usual rail of the delivery.',
    }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the rate was read.' }),
  }),
});

builder.queryField('exchangeRates', (t) =>
  t.field({
    type: [ExchangeRateType],
    ...executedRead,
    description: 'Indicative rates from one currency to others.',
    args: {
      source: t.arg({ type: 'CurrencyCode', required: true, description: 'The currency to send in.' }),
      destinations: t.arg({
        type: ['CurrencyCode'],
        description: 'The currencies to receive in; all when left out.',
      }),
      sendingAmount: t.arg({
        type: AmountInput,
        description: 'The amount to price, fees included; 10000 smallest units when left out.',
      }),
    },
    resolve: (_root, { sendingAmount, ...args }, { payments, viewer }) =>
      readExchangeRates(payments, viewer, { ...args, sendingAmount: sendingAmount && givenAmount(sendingAmount) }),
  }),
);

import { currencies, formatDecimal, formatMoney } from '../../../../core/currencies.ts';
import { invalidInput } from '../../failure.ts';
import { executed } from '../../reading/derive.ts';
import { builder } from '../builder.ts';

builder.objectType('Currency', {
  description: 'A currency or asset (specification 2.1).',
  fields: (t) => ({
    code: t.expose('code', { type: 'CurrencyCode', description: 'Its code.' }),
    name: t.exposeString('name', { description: 'Name for people, in English.' }),
    symbol: t.exposeString('symbol', { description: 'Symbol for people.' }),
    decimals: t.exposeInt('decimals', { description: 'Decimal places of the smallest unit: 2 for cents.' }),
  }),
});

builder.objectType('Money', {
  description: 'An amount of money (specification 2.2).',
  fields: (t) => ({
    amount: t.expose('amount', {
      type: 'BigInt',
      description: "In the currency's smallest unit: 12550 is 125.50 where there are 2 decimals.",
    }),
    currency: t.expose('currency', { type: 'Currency', description: 'The currency.' }),
    decimal: t.field({
      type: 'Decimal',
      description: 'The same amount in major units, exact: "125.50".',
      resolve: ({ amount, currency }) => formatDecimal(amount, currency.decimals),
    }),
    formatted: t.string({
      description: 'For people, as the locale writes it: "$125.50".',
      args: { locale: t.arg.string({ defaultValue: 'en', description: 'A BCP 47 language tag.' }) },
      resolve: ({ amount, currency }, { locale }) => {
        const text = formatMoney(amount, currency, locale ?? 'en');
        if (typeof text !== 'string') throw invalidInput(text.message, 'locale');
        return text;
      },
    }),
  }),
});

builder.queryField('currencies', (t) =>
  t.field({
    type: ['Currency'],
    description: 'All currencies that the gateway knows.',
    ...executed,
    resolve: () => [...currencies],
  }),
);

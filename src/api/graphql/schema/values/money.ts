import { currencies, formatDecimal, formatMoney, type GivenAmount } from '../../../../core/currencies.ts';
import { invalidInput } from '../../failure.ts';
import { executed } from '../../reading/derive.ts';
import { builder } from '../builder.ts';

builder.objectType('Currency', {
  description: 'A currency or asset.',
  fields: (t) => ({
    code: t.expose('code', {
      type: 'CurrencyCode',
      description: 'The currency code: an ISO 4217 code, or an asset code such as USDC or BTC.',
    }),
    name: t.exposeString('name', { description: "The currency's English name, for display." }),
    symbol: t.exposeString('symbol', { description: "The currency's symbol, for display." }),
    decimals: t.exposeInt('decimals', {
      description:
        "The number of decimal places in the currency's amounts, such as 2 for the US dollar, whose smallest unit is the cent.",
    }),
  }),
});

builder.objectType('Money', {
  description: 'An amount of money in a currency.',
  fields: (t) => ({
    amount: t.expose('amount', {
      type: 'BigInt',
      description:
        'The amount in the smallest unit of its currency: 12550 means 125.50 if the currency has two decimal places.',
    }),
    currency: t.expose('currency', { type: 'Currency', description: 'The currency of the amount.' }),
    decimal: t.field({
      type: 'Decimal',
      description: 'The exact amount in major units, such as "125.50".',
      resolve: ({ amount, currency }) => formatDecimal(amount, currency.decimals),
    }),
    formatted: t.string({
      description: 'The amount formatted for display in the locale, such as "$125.50".',
      args: { locale: t.arg.string({ defaultValue: 'en', description: 'The locale, as a BCP 47 language tag.' }) },
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
    description: 'All currencies and assets known to the service.',
    ...executed,
    resolve: () => [...currencies],
  }),
);

export const AmountInput = builder.inputType('AmountInput', {
  description:
    'An amount of money: set exactly one field. A retry with the same idempotency key may give the same amount in either form.',
  isOneOf: true,
  fields: (t) => ({
    units: t.field({
      type: 'BigInt',
      description:
        'The amount in the smallest unit of its currency: 1250 means 12.50 if the currency has two decimal places.',
    }),
    decimal: t.field({ type: 'Decimal', description: 'The exact amount in major units, such as "12.50".' }),
  }),
});

/** Converts the input to the domain's form. */
export const givenAmount = ({ units, decimal }: typeof AmountInput.$inferInput): GivenAmount =>
  decimal === undefined ? units : { decimal };

import {
  type Currency,
  currencies,
  formatDecimal,
  formatMoney,
  requiredCurrency,
} from '../../../../core/currencies.ts';
import { invalidInput } from '../../failure.ts';
import { formattedPlaceholder } from '../../reading/finish.ts';
import { type Env, leaf, type Read, reads } from '../../reading/reads.ts';
import { literal } from '../../reading/sql.ts';
import { builder } from '../builder.ts';

/** Reads a property of a currency by its code. */
function currencyProperty(property: 'name' | 'symbol' | 'decimals'): Read {
  const cases = currencies
    .map((one) => `when ${literal(one.code)} then ${literal(JSON.stringify(one[property]))}`)
    .join(' ');
  return leaf.of((env) => [`case ${env.code} ${cases} end`]);
}

/** SQL cases from a currency's code to its smallest unit in major units: a numeric whose scale is the currency's decimals. */
const smallestUnit = currencies
  .map(
    ({ code, decimals }) => `when ${literal(code)} then ${decimals === 0 ? '1' : `0.${'1'.padStart(decimals, '0')}`}`,
  )
  .join(' ');

/** Reads a currency by its code. */
export const currencyRead = (code: (env: Env) => string): Read => ({
  kind: 'value',
  env: (env) => ({ code: code(env) }),
});

/** Reads money from the columns of its amount and its currency; null where either is. */
export const moneyRead = (amount: string, currency: string): Read =>
  moneyReadOf(
    (env) => `${env.row}.${amount}`,
    (env) => `${env.row}.${currency}`,
  );

/** Reads money from SQL expressions of its amount and its currency; null where either is. */
export const moneyReadOf = (amount: (env: Env) => string, currency: (env: Env) => string): Read => ({
  kind: 'value',
  env: (env) => ({ amount: amount(env), currency: currency(env) }),
  unless: (env) => [`${amount(env)} is null or ${currency(env)} is null`],
});

export const CurrencyType = builder.objectRef<Currency>('Currency').implement({
  description: 'A currency or asset (specification 2.1).',
  fields: (t) => ({
    code: t.exposeString('code', {
      description: 'ISO 4217 code, or an asset code such as USDC or BTC.',
      ...reads(leaf.of((env) => [`'"' || ${env.code} || '"'`])),
    }),
    name: t.exposeString('name', { description: 'Name for people, in English.', ...reads(currencyProperty('name')) }),
    symbol: t.exposeString('symbol', { description: 'Symbol for people.', ...reads(currencyProperty('symbol')) }),
    decimals: t.exposeInt('decimals', {
      description: 'Decimal places of the smallest unit: 2 for cents.',
      ...reads(currencyProperty('decimals')),
    }),
  }),
});

/** An amount in a currency's smallest unit. */
export interface Money {
  readonly amount: bigint;
  readonly currency: Currency;
}

/** Creates money from a stored amount and currency code. */
export function money(amount: bigint, currency: string): Money {
  return { amount, currency: requiredCurrency(currency) };
}

/** Creates money where both amount and currency are known, else returns null. */
export function moneyOrNull(amount: bigint | null, currency: string | null): Money | null {
  return amount === null || currency === null ? null : money(amount, currency);
}

export const MoneyType = builder.objectRef<Money>('Money').implement({
  description: 'An amount of money (specification 2.2).',
  fields: (t) => ({
    amount: t.expose('amount', {
      type: 'BigInt',
      description: "In the currency's smallest unit: 12550 is 125.50 where there are 2 decimals.",
      ...reads(leaf.of((env) => [`'"' || ${env.amount} || '"'`])),
    }),
    currency: t.expose('currency', {
      type: CurrencyType,
      description: 'The currency.',
      ...reads(currencyRead((env) => env.currency ?? '')),
    }),
    decimal: t.field({
      type: 'Decimal',
      description: 'The same amount in major units, exact: "125.50".',
      ...reads(leaf.of((env) => [`'"' || ${env.amount} * case ${env.currency} ${smallestUnit} end || '"'`])),
      resolve: ({ amount, currency }) => formatDecimal(amount, currency.decimals),
    }),
    formatted: t.string({
      description: 'For people, as the locale writes it: "$125.50".',
      args: { locale: t.arg.string({ defaultValue: 'en', description: 'A BCP 47 language tag.' }) },
      ...reads(
        leaf.of((env, args) => [
          (run) => formattedPlaceholder(env.amount ?? '', env.currency ?? '', run.note(args(run).locale ?? 'en')),
        ]),
      ),
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
    type: [CurrencyType],
    description: 'All currencies that the gateway knows.',
    resolve: () => [...currencies],
  }),
);

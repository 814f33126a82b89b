import { type Currency, currencies, formatDecimal, formatMoney, requiredCurrency } from '../../../core/currencies.ts';
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

/** The parts of a price, as they are stored: exact numbers as text. */
export interface RateDetails {
  readonly counterpartyMultiplier?: string | null;
  readonly counterpartyFixedFee?: string | null;
  readonly serviceApiMultiplier?: string | null;
  readonly serviceApiFixedFee?: string | null;
  readonly serviceApiVariableFeeRate?: string | null;
  readonly serviceApiVariableFeeAmount?: string | null;
}

export const RateDetailsType = builder.objectRef<RateDetails>('RateDetails').implement({
  description:
    'What a price is made of (specification 2.5): received = (sent − fixed fees) × serviceApiMultiplier × counterpartyMultiplier.',
  fields: (t) => ({
    counterpartyMultiplier: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Smallest units of the receiving currency per millisatoshi.',
      ...reads(leaf.member('counterpartyMultiplier')),
      resolve: (details) => details.counterpartyMultiplier,
    }),
    counterpartyFixedFee: t.field({
      type: 'BigInt',
      nullable: true,
      description: "Fixed fee of the receiving side, in the receiving currency's smallest unit.",
      ...reads(leaf.member('counterpartyFixedFee')),
      resolve: (details) => bigintOrNull(details.counterpartyFixedFee),
    }),
    serviceApiMultiplier: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Millisatoshi per smallest unit of the sending currency, variable fees taken off.',
      ...reads(leaf.member('serviceApiMultiplier')),
      resolve: (details) => details.serviceApiMultiplier,
    }),
    serviceApiFixedFee: t.field({
      type: 'BigInt',
      nullable: true,
      description: "Fixed fee of the service, in the sending currency's smallest unit.",
      ...reads(leaf.member('serviceApiFixedFee')),
      resolve: (details) => bigintOrNull(details.serviceApiFixedFee),
    }),
    serviceApiVariableFeeRate: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Variable fee of the service as a fraction: 0.003 is 0.3 %.',
      ...reads(leaf.member('serviceApiVariableFeeRate')),
      resolve: (details) => details.serviceApiVariableFeeRate,
    }),
    serviceApiVariableFeeAmount: t.field({
      type: 'BigInt',
      nullable: true,
      description: "What the variable fee comes to, in the sending currency's smallest unit.",
      ...reads(leaf.member('serviceApiVariableFeeAmount')),
      resolve: (details) => bigintOrNull(details.serviceApiVariableFeeAmount),
    }),
  }),
});

function bigintOrNull(digits: string | null | undefined): bigint | null {
  return digits === null || digits === undefined ? null : BigInt(digits);
}

builder.queryField('currencies', (t) =>
  t.field({
    type: [CurrencyType],
    description: 'All currencies that the gateway knows.',
    resolve: () => [...currencies],
  }),
);

import { type Currency, currencies, currencyOf, formatDecimal, formatMoney } from '../money/currencies.ts';
import { builder } from './builder.ts';
import { invalidInput } from './failure.ts';

export const CurrencyType = builder.objectRef<Currency>('Currency').implement({
  description: 'A currency or asset (specification 2.1).',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'ISO 4217 code, or an asset code such as USDC or BTC.' }),
    name: t.exposeString('name', { description: 'Name for people, in English.' }),
    symbol: t.exposeString('symbol', { description: 'Symbol for people.' }),
    decimals: t.exposeInt('decimals', { description: 'Decimal places of the smallest unit: 2 for cents.' }),
  }),
});

/** An amount in a currency's smallest unit. */
export interface Money {
  readonly amount: bigint;
  readonly currency: Currency;
}

/** The currency of a stored code. The tables admit only known ones. */
export function knownCurrency(code: string): Currency {
  const currency = currencyOf(code);
  if (!currency) throw new Error(`unknown currency ${code}`);
  return currency;
}

export function money(amount: bigint, currency: string): Money {
  return { amount, currency: knownCurrency(currency) };
}

/** Money where both amount and currency are known, else null. */
export function maybeMoney(amount: bigint | null, currency: string | null): Money | null {
  return amount === null || currency === null ? null : money(amount, currency);
}

export const MoneyType = builder.objectRef<Money>('Money').implement({
  description: 'An amount of money (specification 2.2).',
  fields: (t) => ({
    amount: t.expose('amount', {
      type: 'BigInt',
      description: "In the currency's smallest unit: 12550 is 125.50 where there are 2 decimals.",
    }),
    currency: t.expose('currency', { type: CurrencyType, description: 'The currency.' }),
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
      resolve: (details) => details.counterpartyMultiplier,
    }),
    counterpartyFixedFee: t.field({
      type: 'BigInt',
      nullable: true,
      description: "Fixed fee of the receiving side, in the receiving currency's smallest unit.",
      resolve: (details) => bigintOrNull(details.counterpartyFixedFee),
    }),
    serviceApiMultiplier: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Millisatoshi per smallest unit of the sending currency, variable fees taken off.',
      resolve: (details) => details.serviceApiMultiplier,
    }),
    serviceApiFixedFee: t.field({
      type: 'BigInt',
      nullable: true,
      description: "Fixed fee of the service, in the sending currency's smallest unit.",
      resolve: (details) => bigintOrNull(details.serviceApiFixedFee),
    }),
    serviceApiVariableFeeRate: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Variable fee of the service as a fraction: 0.003 is 0.3 %.',
      resolve: (details) => details.serviceApiVariableFeeRate,
    }),
    serviceApiVariableFeeAmount: t.field({
      type: 'BigInt',
      nullable: true,
      description: "What the variable fee comes to, in the sending currency's smallest unit.",
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

import { type ExchangeRate, readExchangeRates } from '../../../../domain/pricing/exchange-rates.ts';
import type { RateDetails } from '../../../../domain/pricing/pricing.ts';
import type { PricingStep as PricingStepShape } from '../../../../domain/pricing/pricing-steps.ts';
import { executedRead } from '../../reading/derive.ts';
import { builder, enumOf, required } from '../builder.ts';
import { PaymentRail } from '../enums.ts';
import { AmountInput, givenAmount } from '../values/money.ts';

interface PricedRateDetails {
  /** The parts of a price as they are stored: exact numbers as text. */
  readonly details: { readonly [Part in keyof RateDetails]: string };
  readonly sending: string;
  readonly receiving: string;
}

export const RateDetailsType = builder.objectRef<PricedRateDetails>('RateDetails').implement({
  description:
    'The parts of a price. With amounts in the smallest unit of each currency, received = (sent − fixed fees) × `serviceApiMultiplier` × `counterpartyMultiplier`.',
  fields: (t) => ({
    counterpartyMultiplier: t.json(['details', 'counterpartyMultiplier'], 'Decimal', {
      description:
        "The receiving side's part of the rate: smallest units of the receiving currency per millisatoshi. All rates are computed via millisatoshis, whatever the currencies.",
    }),
    counterpartyFixedFee: t.money(['details', 'counterpartyFixedFee'], 'receiving', {
      description: "The receiving side's fixed fee, in the receiving currency.",
    }),
    serviceApiMultiplier: t.json(['details', 'serviceApiMultiplier'], 'Decimal', {
      description:
        "The sending side's part of the rate, after variable fees: millisatoshis per smallest unit of the sending currency.",
    }),
    serviceApiFixedFee: t.money(['details', 'serviceApiFixedFee'], 'sending', {
      description: "The service's fixed fee, in the sending currency.",
    }),
    serviceApiVariableFeeRate: t.json(['details', 'serviceApiVariableFeeRate'], 'Decimal', {
      description: "The service's variable fee as a fraction of the amount: 0.003 means 0.3%.",
    }),
    serviceApiVariableFeeAmount: t.money(['details', 'serviceApiVariableFeeAmount'], 'sending', {
      description: "The service's variable fee as an amount in the sending currency.",
    }),
  }),
});

const PricingStepName = enumOf('PricingStepName', "A rounded amount in a quote's price.", {
  COUNTERPARTY_FIXED_FEE: "The receiving side's fixed fee, converted to the sending currency.",
  TOTAL_SENDING_AMOUNT: 'The amount debited from the source.',
  TOTAL_RECEIVING_AMOUNT: 'The amount that the destination receives.',
  PLATFORM_VARIABLE_FEE: "The platform's variable fee.",
  SERVICE_VARIABLE_FEE: "The service's variable fee.",
  ROUNDING_SURPLUS: 'The surplus that results from rounding up.',
} satisfies Record<PricingStepShape['step'], string>);

const Rounding = enumOf('Rounding', 'How an amount in a price was rounded.', {
  HALF_UP: 'To the nearest whole number of smallest units, with halves rounded up.',
  UP: 'Up to a whole number of smallest units.',
  DOWN: 'Down to a whole number of smallest units.',
  NONE: 'Not rounded: the amount was set by a provider.',
} satisfies Record<PricingStepShape['rounding'], string>);

export const PricingStep = builder.objectRef<PricingStepShape>('PricingStep').implement({
  description: "A rounding step in a quote's price.",
  fields: (t) => ({
    step: t.expose('step', { type: PricingStepName, description: 'The amount that was rounded.' }),
    before: t.expose('before', {
      type: 'Decimal',
      description:
        'The figure before rounding, in the smallest unit of its currency: exact if it has a finite number of decimal places, otherwise to 30 significant digits.',
    }),
    after: t.money('after', 'currency', { description: 'The figure after rounding.' }),
    rounding: t.expose('rounding', { type: Rounding, description: 'How the figure was rounded.' }),
    text: t.exposeString('text', { description: 'The whole step as a human-readable formula. Do not parse it.' }),
  }),
});

const ExchangeRateType = builder.objectRef<ExchangeRate>('ExchangeRate').implement({
  description: 'The current indicative price of a conversion. It is not locked: only a quote locks a rate.',
  fields: (t) => ({
    source: t.expose('source', { type: 'Currency', description: 'The currency of the amount sent.' }),
    destination: t.expose('destination', { type: 'Currency', description: 'The currency of the amount received.' }),
    rate: t.expose('rate', {
      type: 'Decimal',
      description: 'Units of the sending currency per unit of the receiving currency, in major units and without fees.',
    }),
    sendingAmount: t.expose('sendingAmount', { type: 'Money', description: 'The amount to send, fees included.' }),
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
      source: t.arg(required('CurrencyCode', 'The currency to send.')),
      destinations: t.arg({ type: ['CurrencyCode'], description: 'The currencies to receive; all if omitted.' }),
      sendingAmount: t.arg({
        type: AmountInput,
        description:
          'The amount to price, fees included; by default, 10000 in the smallest unit of `source`, or the minimum amount if that is more.',
      }),
    },
    resolve: (_root, { sendingAmount, ...args }, { payments, viewer }) =>
      readExchangeRates(payments, viewer, { ...args, sendingAmount: sendingAmount && givenAmount(sendingAmount) }),
  }),
);

import { type Env, leaf, type Read, reads } from '../../reading/reads.ts';
import { literal } from '../../reading/sql.ts';
import { builder } from '../builder.ts';
import { MoneyType, money, moneyReadOf } from './money.ts';

/** The parts of a price, as they are stored: exact numbers as text. */
export interface RateDetails {
  readonly counterpartyMultiplier: string;
  readonly counterpartyFixedFee: string;
  readonly serviceApiMultiplier: string;
  readonly serviceApiFixedFee: string;
  readonly serviceApiVariableFeeRate: string;
  readonly serviceApiVariableFeeAmount: string;
}

/** The parts of a price, with the codes of its currencies. */
export interface PricedRateDetails {
  readonly details: RateDetails;
  readonly sending: string;
  readonly receiving: string;
}

/** Reads the parts of a price from SQL of their JSON object, or null where there is none. */
export const rateDetailsRead = (json: (env: Env) => string, sending: string, receiving: string): Read => ({
  kind: 'value',
  env: (env) => ({ json: json(env), sending: `${env.row}.${sending}`, receiving: `${env.row}.${receiving}` }),
  unless: (env) => [`coalesce(jsonb_typeof(${json(env)}), 'null') = 'null'`],
});

/** Reads a fee, in the currency of a side. */
const feeRead = (name: keyof RateDetails, side: 'sending' | 'receiving') =>
  moneyReadOf(
    ({ json }) => `(${json} ->> ${literal(name)})::bigint`,
    (env) => env[side] ?? '',
  );

export const RateDetailsType = builder.objectRef<PricedRateDetails>('RateDetails').implement({
  description:
    'What a price is made of (specification 2.5): received = (sent − fixed fees) × serviceApiMultiplier × counterpartyMultiplier.',
  fields: (t) => ({
    counterpartyMultiplier: t.field({
      type: 'Decimal',
      description: 'Smallest units of the receiving currency per millisatoshi.',
      ...reads(leaf.member('counterpartyMultiplier')),
      resolve: ({ details }) => details.counterpartyMultiplier,
    }),
    counterpartyFixedFee: t.field({
      type: MoneyType,
      description: 'Fixed fee of the receiving side, in the receiving currency.',
      ...reads(feeRead('counterpartyFixedFee', 'receiving')),
      resolve: ({ details, receiving }) => money(BigInt(details.counterpartyFixedFee), receiving),
    }),
    serviceApiMultiplier: t.field({
      type: 'Decimal',
      description: 'Millisatoshi per smallest unit of the sending currency, variable fees taken off.',
      ...reads(leaf.member('serviceApiMultiplier')),
      resolve: ({ details }) => details.serviceApiMultiplier,
    }),
    serviceApiFixedFee: t.field({
      type: MoneyType,
      description: 'Fixed fee of the service, in the sending currency.',
      ...reads(feeRead('serviceApiFixedFee', 'sending')),
      resolve: ({ details, sending }) => money(BigInt(details.serviceApiFixedFee), sending),
    }),
    serviceApiVariableFeeRate: t.field({
      type: 'Decimal',
      description: 'Variable fee of the service as a fraction: 0.003 is 0.3 %.',
      ...reads(leaf.member('serviceApiVariableFeeRate')),
      resolve: ({ details }) => details.serviceApiVariableFeeRate,
    }),
    serviceApiVariableFeeAmount: t.field({
      type: MoneyType,
      description: 'What the variable fee comes to, in the sending currency.',
      ...reads(feeRead('serviceApiVariableFeeAmount', 'sending')),
      resolve: ({ details, sending }) => money(BigInt(details.serviceApiVariableFeeAmount), sending),
    }),
  }),
});

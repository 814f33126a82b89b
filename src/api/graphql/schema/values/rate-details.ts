import { builder } from '../builder.ts';

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

export const RateDetailsType = builder.objectRef<PricedRateDetails>('RateDetails').implement({
  description:
    'What a price is made of (specification 2.5): received = (sent − fixed fees) × serviceApiMultiplier × counterpartyMultiplier.',
  fields: (t) => ({
    counterpartyMultiplier: t.json(['details', 'counterpartyMultiplier'], 'Decimal', {
      description: 'Smallest units of the receiving currency per millisatoshi.',
    }),
    counterpartyFixedFee: t.money(['details', 'counterpartyFixedFee'], 'receiving', {
      description: 'Fixed fee of the receiving side, in the receiving currency.',
    }),
    serviceApiMultiplier: t.json(['details', 'serviceApiMultiplier'], 'Decimal', {
      description: 'Millisatoshi per smallest unit of the sending currency, variable fees taken off.',
    }),
    serviceApiFixedFee: t.money(['details', 'serviceApiFixedFee'], 'sending', {
      description: 'Fixed fee of the service, in the sending currency.',
    }),
    serviceApiVariableFeeRate: t.json(['details', 'serviceApiVariableFeeRate'], 'Decimal', {
      description: 'Variable fee of the service as a fraction: 0.003 is 0.3 %.',
    }),
    serviceApiVariableFeeAmount: t.money(['details', 'serviceApiVariableFeeAmount'], 'sending', {
      description: 'What the variable fee comes to, in the sending currency.',
    }),
  }),
});

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
    'The parts of a price: received = (sent − fixed fees) × serviceApiMultiplier × counterpartyMultiplier, in smallest units.',
  fields: (t) => ({
    counterpartyMultiplier: t.json(['details', 'counterpartyMultiplier'], 'Decimal', {
      description:
        "The receiving side's part of the rate: smallest units of the receiving currency per millisatoshi. Every rate is split at this common unit, whatever its currencies.",
    }),
    counterpartyFixedFee: t.money(['details', 'counterpartyFixedFee'], 'receiving', {
      description: 'The fixed fee of the receiving side, in the receiving currency.',
    }),
    serviceApiMultiplier: t.json(['details', 'serviceApiMultiplier'], 'Decimal', {
      description:
        "The sending side's part of the rate, after variable fees: millisatoshi per smallest unit of the sending currency.",
    }),
    serviceApiFixedFee: t.money(['details', 'serviceApiFixedFee'], 'sending', {
      description: 'The fixed fee of the service, in the sending currency.',
    }),
    serviceApiVariableFeeRate: t.json(['details', 'serviceApiVariableFeeRate'], 'Decimal', {
      description: 'The variable fee of the service as a fraction of the amount: 0.003 is 0.3 %.',
    }),
    serviceApiVariableFeeAmount: t.money(['details', 'serviceApiVariableFeeAmount'], 'sending', {
      description: 'The variable fee of the service as an amount in the sending currency.',
    }),
  }),
});

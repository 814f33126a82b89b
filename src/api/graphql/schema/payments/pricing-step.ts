import type { PricingStep as PricingStepShape } from '../../../../domain/pricing/pricing-steps.ts';
import { builder } from '../builder.ts';

const stepDescriptions: Readonly<Record<PricingStepShape['step'], string>> = {
  counterpartyFixedFee: 'The fixed fee of the receiving side, converted to the sending currency.',
  totalSendingAmount: 'The amount that the source is debited.',
  totalReceivingAmount: 'The amount that the destination receives.',
  platformVariableFee: 'The variable fee of the platform.',
  serviceVariableFee: 'The variable fee of the service.',
  roundingSurplus: 'The surplus that rounding up leaves.',
};

const inCapitals = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

const PricingStepName = builder.enumType('PricingStepName', {
  description: 'A rounded amount in the price of a quote.',
  values: Object.fromEntries(
    Object.entries(stepDescriptions).map(([value, description]) => [inCapitals(value), { description }]),
  ),
});

export const PricingStep = builder.objectRef<PricingStepShape>('PricingStep').implement({
  description: 'A rounding in the price of a quote.',
  fields: (t) => ({
    step: t.field({
      type: PricingStepName,
      description: 'The amount that was rounded.',
      resolve: ({ step }) => inCapitals(step),
    }),
    value: t.exposeString('value', {
      description:
        'The calculation for people, in smallest units: exact before and whole after rounding. Do not parse it.',
    }),
  }),
});

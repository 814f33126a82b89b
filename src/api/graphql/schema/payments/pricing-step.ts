import type { PricingStep as PricingStepShape } from '../../../../domain/pricing/pricing-steps.ts';
import { builder } from '../builder.ts';

const stepDescriptions: Readonly<Record<PricingStepShape['step'], string>> = {
  counterpartyFixedFee: "The receiving side's fixed fee, in the sending currency.",
  totalSendingAmount: 'What the source is debited.',
  totalReceivingAmount: 'What arrives.',
  platformVariableFee: "The platform's variable fee.",
  serviceVariableFee: "The service's variable fee.",
  roundingSurplus: 'What rounding up leaves over.',
};

const inCapitals = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

const PricingStepName = builder.enumType('PricingStepName', {
  description: 'A figure of a price that is rounded.',
  values: Object.fromEntries(
    Object.entries(stepDescriptions).map(([value, description]) => [inCapitals(value), { description }]),
  ),
});

export const PricingStep = builder.objectRef<PricingStepShape>('PricingStep').implement({
  description: 'One rounding on the way to a price.',
  fields: (t) => ({
    step: t.field({
      type: PricingStepName,
      description: 'The figure that was rounded.',
      resolve: ({ step }) => inCapitals(step),
    }),
    value: t.exposeString('value', { description: 'Exact before and whole after, in smallest units.' }),
  }),
});

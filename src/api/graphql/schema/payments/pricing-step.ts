import type { PricingStep as PricingStepShape } from '../../../../domain/pricing/pricing-steps.ts';
import { builder } from '../builder.ts';
import { inCapitals } from '../enums.ts';

const stepDescriptions: Readonly<Record<PricingStepShape['step'], string>> = {
  counterpartyFixedFee: 'The fixed fee of the receiving side, converted to the sending currency.',
  totalSendingAmount: 'The amount that the source is debited.',
  totalReceivingAmount: 'The amount that the destination receives.',
  platformVariableFee: 'The variable fee of the platform.',
  serviceVariableFee: 'The variable fee of the service.',
  roundingSurplus: 'The surplus that rounding up leaves.',
};

const PricingStepName = builder.enumType('PricingStepName', {
  description: 'A rounded amount in the price of a quote.',
  values: Object.fromEntries(
    Object.entries(stepDescriptions).map(([value, description]) => [inCapitals(value), { description }]),
  ),
});

const Rounding = builder.enumType('Rounding', {
  description: 'How a figure of a price was made whole.',
  values: {
    HALF_UP: { description: 'To the nearest smallest unit, a half up.' },
    UP: { description: 'Up to the next smallest unit.' },
    DOWN: { description: 'Down to the smallest unit.' },
    NONE: { description: 'It was whole: a provider named it.' },
  } satisfies Record<PricingStepShape['rounding'], object>,
});

export const PricingStep = builder.objectRef<PricingStepShape>('PricingStep').implement({
  description: 'A rounding in the price of a quote.',
  fields: (t) => ({
    step: t.field({
      type: PricingStepName,
      description: 'The amount that was rounded.',
      resolve: ({ step }) => inCapitals(step),
    }),
    before: t.expose('before', {
      type: 'Decimal',
      description:
        'The figure before it was rounded, in smallest units: exact where its decimals end, else to 30 significant digits.',
    }),
    after: t.money('after', 'currency', { description: 'The figure after it was rounded.' }),
    rounding: t.expose('rounding', { type: Rounding, description: 'How it was rounded.' }),
    text: t.exposeString('text', { description: 'The whole step as a formula, for people. Do not parse it.' }),
  }),
});

import type { PricingStep as PricingStepShape } from '../../../../domain/pricing/pricing-steps.ts';
import { builder } from '../builder.ts';
import { inCapitals } from '../enums.ts';

const stepDescriptions: Readonly<Record<PricingStepShape['step'], string>> = {
  counterpartyFixedFee: "The receiving side's fixed fee, in the sending currency.",
  totalSendingAmount: 'What the source is debited.',
  totalReceivingAmount: 'What arrives.',
  platformVariableFee: "The platform's variable fee.",
  serviceVariableFee: "The service's variable fee.",
  roundingSurplus: 'What rounding up leaves over.',
};

const PricingStepName = builder.enumType('PricingStepName', {
  description: 'A figure of a price that is rounded.',
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
  description: 'One rounding on the way to a price.',
  fields: (t) => ({
    step: t.field({
      type: PricingStepName,
      description: 'The figure that was rounded.',
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

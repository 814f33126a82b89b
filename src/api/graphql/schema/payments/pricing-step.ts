import type { PricingStep as PricingStepShape } from '../../../../domain/pricing/pricing-steps.ts';
import { builder } from '../builder.ts';

const PricingStepName = builder.enumType('PricingStepName', {
  description: 'A rounded amount in the price of a quote.',
  values: {
    COUNTERPARTY_FIXED_FEE: { description: 'The fixed fee of the receiving side, converted to the sending currency.' },
    TOTAL_SENDING_AMOUNT: { description: 'The amount that the source is debited.' },
    TOTAL_RECEIVING_AMOUNT: { description: 'The amount that the destination receives.' },
    PLATFORM_VARIABLE_FEE: { description: 'The variable fee of the platform.' },
    SERVICE_VARIABLE_FEE: { description: 'The variable fee of the service.' },
    ROUNDING_SURPLUS: { description: 'The surplus that rounding up leaves.' },
  } satisfies Record<PricingStepShape['step'], object>,
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
    step: t.expose('step', { type: PricingStepName, description: 'The amount that was rounded.' }),
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

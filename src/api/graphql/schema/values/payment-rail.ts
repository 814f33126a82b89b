import { paymentRails, type PaymentRail as RailName } from '../../../../domain/pricing/delivery-rails.ts';
import { builder } from '../builder.ts';

export const PaymentRail = builder.enumType('PaymentRail', {
  description: 'The network that delivers a payment to an account elsewhere.',
  values: Object.fromEntries(Object.entries(paymentRails).map(([name, description]) => [name, { description }])) as {
    readonly [Name in RailName]: { readonly description: string };
  },
});

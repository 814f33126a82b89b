import { builder } from '../builder.ts';

export const CustomerReferenceInput = builder.inputType('CustomerReferenceInput', {
  description: 'A customer of the platform: exactly one field.',
  isOneOf: true,
  fields: (t) => ({
    customerId: t.id({ description: 'Customer:…' }),
    umaAddress: t.string({ description: "The customer's UMA address, $name@domain." }),
  }),
});

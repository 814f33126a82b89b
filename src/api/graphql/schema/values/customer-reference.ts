import { builder } from '../builder.ts';

export const CustomerReferenceInput = builder.inputType('CustomerReferenceInput', {
  description: 'A customer of the platform, named by exactly one field.',
  isOneOf: true,
  fields: (t) => ({
    customerId: t.id({ description: 'The id of the customer: Customer:…' }),
    umaAddress: t.string({ description: 'The UMA address of the customer: $name@domain.' }),
  }),
});

import { maySee } from '../../../../domain/access/visible.ts';
import type { Address } from '../../../../domain/commands/information.ts';
import type { Context } from '../../context.ts';
import { builder, enumOf, oneOf } from '../builder.ts';

export const AddressType = builder.objectRef<Address>('Address').implement({
  description: 'A postal address.',
  fields: (t) => ({
    line1: t.exposeString('line1', { description: 'The first line of the address: street and number.' }),
    line2: t.optional('line2', 'String', { description: 'The second line of the address, if it has one.' }),
    city: t.optional('city', 'String', { description: 'The city; null if it is unknown.' }),
    state: t.optional('state', 'String', { description: 'The state or province, if the address has one.' }),
    postalCode: t.exposeString('postalCode', { description: 'The postal code.' }),
    country: t.exposeString('country', { description: 'The country, as an ISO 3166-1 alpha-2 code such as DE.' }),
  }),
});

export const AddressInput = builder.inputType('AddressInput', {
  description: 'A postal address.',
  fields: (t) => ({
    line1: t.string({ required: true, description: 'The first line of the address: street and number.' }),
    line2: t.string({ description: 'The second line of the address.' }),
    city: t.string({ description: 'The city.' }),
    state: t.string({ description: 'The state or province.' }),
    postalCode: t.string({ required: true, description: 'The postal code.' }),
    country: t.string({ required: true, description: 'The country, as an ISO 3166-1 alpha-2 code such as DE.' }),
  }),
});

const Owner = enumOf('Owner', 'The owner of an account or a payment.', {
  PLATFORM: 'The platform itself.',
  CUSTOMER: 'The customer in the `customer` field.',
  HIDDEN: 'A customer whom the viewer may not see.',
});

/** The options for the `owner` field, which explains why `customer` is null. */
export const owner = {
  type: Owner,
  description: 'Whether the owner is the platform, a customer whom the viewer may see, or a hidden customer.',
  select: { customerId: true },
  resolve: ({ customerId }: { readonly customerId: string | null }, _args: object, { viewer }: Context) => {
    if (customerId === null) return 'PLATFORM';
    return maySee('customer', viewer, { id: customerId }) ? 'CUSTOMER' : 'HIDDEN';
  },
} as const;

export const CustomerReferenceInput = oneOf('CustomerReferenceInput', 'A customer of the platform', (t) => ({
  customerId: t.id({ description: "The customer's id (`Customer:…`)." }),
  umaAddress: t.string({ description: "The customer's UMA address: $name@domain." }),
}));

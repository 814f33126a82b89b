import type { Address } from '../../../../domain/commands/people.ts';
import { builder } from '../builder.ts';

/** Addresses and the details of people and companies, shared by customers and beneficiaries. */

export const AddressType = builder.objectRef<Address>('Address').implement({
  description: 'A postal address.',
  fields: (t) => ({
    line1: t.exposeString('line1', { description: 'Street and number.' }),
    line2: t.exposeString('line2', { nullable: true, description: 'Second line.' }),
    city: t.exposeString('city', { nullable: true, description: 'City.' }),
    state: t.exposeString('state', { nullable: true, description: 'State or province.' }),
    postalCode: t.exposeString('postalCode', { description: 'Postal code.' }),
    country: t.exposeString('country', { description: 'ISO 3166-1 alpha-2.' }),
  }),
});

export const AddressInput = builder.inputType('AddressInput', {
  description: 'A postal address.',
  fields: (t) => ({
    line1: t.string({ required: true, description: 'Street and number.' }),
    line2: t.string({ description: 'Second line.' }),
    city: t.string({ description: 'City.' }),
    state: t.string({ description: 'State or province.' }),
    postalCode: t.string({ required: true, description: 'Postal code.' }),
    country: t.string({ required: true, description: 'ISO 3166-1 alpha-2.' }),
  }),
});

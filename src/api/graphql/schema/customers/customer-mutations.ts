import { deleteCustomer, updateCustomer } from '../../../../domain/customers/customer-changes.ts';
import { createCustomer, type CustomerDetails as Details } from '../../../../domain/customers/customers.ts';
import { builder, type SchemaConfig } from '../builder.ts';
import { mutation } from '../mutation.ts';
import { Customer } from '../nouns.ts';
import { changedMetadata, MetadataInput, metadataOf, newMetadata } from '../values/metadata.ts';
import { AddressInput } from '../values/people.ts';
import { IndividualType } from './customer.ts';

type Types = PothosSchemaTypes.ExtendDefaultTypes<SchemaConfig>;

const IndividualDetailsInput = builder.inputType('IndividualDetailsInput', {
  description: 'What is known of a person, or what changes of it: all of it may be left out.',
  fields: (t) => ({
    fullName: t.string({ description: 'Full name.' }),
    birthDate: t.field({ type: 'Date', description: 'Day of birth.' }),
    nationality: t.string({ description: 'ISO 3166-1 alpha-2.' }),
    address: t.field({ type: AddressInput, description: 'Postal address.' }),
  }),
});

const BeneficialOwnerInput = builder.inputType('BeneficialOwnerInput', {
  description: 'A person who owns or controls a company.',
  fields: (t) => ({
    fullName: t.string({ required: true, description: 'Full name.' }),
    individualType: t.field({ type: IndividualType, required: true, description: 'Role in the company.' }),
    emailAddress: t.string({ description: 'Email address.' }),
    phoneNumber: t.string({ description: 'Phone number, E.164: +14155550123.' }),
    taxId: t.string({ description: 'Tax number.' }),
    birthDate: t.field({ type: 'Date', description: 'Day of birth.' }),
    nationality: t.string({ description: 'ISO 3166-1 alpha-2.' }),
    address: t.field({ type: AddressInput, description: 'Postal address.' }),
    percentageOwnership: t.field({ type: 'Decimal', description: 'Share of the company, 0 to 100: "33.5".' }),
    title: t.string({ description: 'Title.' }),
  }),
});

const companyFields = (t: PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>) => ({
  registrationNumber: t.string({ description: 'Number in the company register.' }),
  taxId: t.string({ description: 'Tax number.' }),
  address: t.field({ type: AddressInput, description: 'Postal address.' }),
  beneficialOwners: t.field({ type: [BeneficialOwnerInput], description: 'Who owns or controls it.' }),
});

const BusinessDetailsInput = builder.inputType('BusinessDetailsInput', {
  description: 'What is known of a company.',
  fields: (t) => ({ legalName: t.string({ required: true, description: 'Legal name.' }), ...companyFields(t) }),
});

const BusinessChangesInput = builder.inputType('BusinessChangesInput', {
  description: 'What changes of a company: what is left out stays.',
  fields: (t) => ({ legalName: t.string({ description: 'Legal name.' }), ...companyFields(t) }),
});

const CustomerDetailsInput = builder.inputType('CustomerDetailsInput', {
  description: 'What is known of a customer: exactly one field, its type.',
  isOneOf: true,
  fields: (t) => ({
    individual: t.field({ type: IndividualDetailsInput, description: 'A person.' }),
    business: t.field({ type: BusinessDetailsInput, description: 'A company.' }),
  }),
});

const CustomerChangesInput = builder.inputType('CustomerChangesInput', {
  description: 'What changes of a customer: exactly one field, its type.',
  isOneOf: true,
  fields: (t) => ({
    individual: t.field({ type: IndividualDetailsInput, description: 'A person.' }),
    business: t.field({ type: BusinessChangesInput, description: 'A company.' }),
  }),
});

type DetailsInput = typeof CustomerChangesInput.$inferInput;

/** Returns the domain's form of the input. A @oneOf input has exactly one field. */
function detailsOf(input: DetailsInput): Details {
  if (input.individual) return { customerType: 'INDIVIDUAL', ...input.individual };
  if (input.business) {
    const { beneficialOwners, ...business } = input.business;
    const owners = beneficialOwners?.map(({ percentageOwnership: share, ...owner }) => ({
      ...owner,
      // The specification has a JSON number.
      percentageOwnership: typeof share === 'string' ? Number(share) : share,
    }));
    return {
      customerType: 'BUSINESS',
      ...business,
      ...(beneficialOwners !== undefined && { beneficialOwners: owners }),
    };
  }
  throw new Error('a @oneOf input has one field');
}

mutation('createCustomer', {
  description: 'Creates a customer, with an internal account in each currency of the platform (specification 2.8).',
  input: (t) => ({
    platformCustomerId: t.string({ required: true, description: "The platform's own id." }),
    umaAddress: t.string({
      description: 'Its UMA address, $name@domain, in the domain of the platform; made up when left out.',
    }),
    details: t.field({ type: CustomerDetailsInput, required: true, description: 'Who it is.' }),
    metadata: t.field({ type: [MetadataInput], description: newMetadata }),
  }),
  success: { customer: { type: Customer, description: 'The new customer.' } },
  resolve: async ({ idempotencyKey, details, metadata, ...given }, { payments, viewer }) => {
    const input = { ...given, details: detailsOf(details), metadata: metadataOf(metadata) };
    const result = await createCustomer(payments, viewer, input, idempotencyKey);
    return { customer: result.row, replayed: result.replayed };
  },
});

mutation('updateCustomer', {
  description:
    'Changes what is known of a customer: what is left out stays, its type cannot change. In the sandbox a new name decides its KYC status anew.',
  input: (t) => ({
    customerId: t.id({ required: true, description: 'Customer:…' }),
    umaAddress: t.string({
      description: 'A new UMA address, $name@domain, in the domain of the platform.',
    }),
    details: t.field({
      type: CustomerChangesInput,
      description: 'What changes, under its type; null empties a field.',
    }),
    metadata: t.field({ type: [MetadataInput], description: changedMetadata }),
  }),
  success: { customer: { type: Customer, description: 'The customer as it is now.' } },
  refusals: ['NotFoundError'],
  resolve: async ({ idempotencyKey, details, metadata, ...input }, { payments, viewer }) => {
    const changes = { ...input, details: details && detailsOf(details), metadata: metadataOf(metadata) };
    const result = await updateCustomer(payments, viewer, changes, idempotencyKey);
    return { customer: result.row, replayed: result.replayed };
  },
});

mutation('deleteCustomer', {
  description:
    'Deletes a customer who holds nothing and has no payment under way, else CUSTOMER_IN_USE: its history stays, it moves no money any more, its UMA address is free again, and the client tokens of its apps end. A second time is refused with CUSTOMER_DELETED.',
  input: (t) => ({ customerId: t.id({ required: true, description: 'Customer:…' }) }),
  success: { customer: { type: Customer, description: 'The customer, deleted.' } },
  refusals: ['NotFoundError', 'CustomerInUseError'],
  resolve: async ({ customerId, idempotencyKey }, { payments, viewer }) => {
    const result = await deleteCustomer(payments, viewer, customerId, idempotencyKey);
    return { customer: result.row, replayed: result.replayed };
  },
});

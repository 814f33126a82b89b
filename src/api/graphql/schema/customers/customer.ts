import { visibleCustomers } from '../../../../domain/access/visible.ts';
import { whereCustomers } from '../../../../domain/commands/filters.ts';
import {
  createCustomer,
  type CustomerDetails as Details,
  deleteCustomer,
  individualTypes,
  type BeneficialOwner as Owner,
  updateCustomer,
} from '../../../../domain/customers/customers.ts';
import type { Customer as CustomerRow } from '../../../../infra/database/rows.ts';
import { variantsBy } from '../../reading/words.ts';
import { builder, enumOf, type InputBuilder, required } from '../builder.ts';
import { CustomerFilter } from '../filters.ts';
import { listOf } from '../list.ts';
import { mutation } from '../mutation.ts';
import { Customer } from '../nouns.ts';
import { changedMetadata, MetadataEntry, MetadataInput, metadataOf, newMetadata, noted } from '../values/metadata.ts';
import { AddressInput, AddressType } from '../values/people.ts';

const IndividualType = enumOf('IndividualType', "A person's role in a company.", individualTypes);

const BeneficialOwner = builder.objectRef<Owner>('BeneficialOwner').implement({
  description: 'A person who owns or controls a company.',
  fields: (t) => ({
    fullName: t.exposeString('fullName', { description: "The person's full name." }),
    individualType: t.json('individualType', IndividualType, { description: "The person's role in the company." }),
    emailAddress: t.optional('emailAddress', 'String', { description: 'Email address, if known.' }),
    phoneNumber: t.optional('phoneNumber', 'String', { description: 'Phone number in E.164 format, if known.' }),
    taxId: t.optional('taxId', 'String', { description: 'Tax number, if known.' }),
    birthDate: t.optional('birthDate', 'Date', { description: 'Date of birth, if known.' }),
    nationality: t.optional('nationality', 'String', { description: 'Nationality (ISO 3166-1 alpha-2), if known.' }),
    address: t.json('address', AddressType, { nullable: true, description: 'Postal address, if known.' }),
    percentageOwnership: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Share of the company as a percentage from 0 to 100, if known.',
      resolve: ({ percentageOwnership: share }) => share?.toLocaleString('en', { maximumFractionDigits: 15 }),
    }),
    title: t.optional('title', 'String', { description: 'Title in the company, if known.' }),
  }),
});

const IndividualDetails = builder.prismaObject('Customer', {
  variant: 'IndividualDetails',
  description: 'The details of an individual customer.',
  fields: (t) => ({
    fullName: t.optional('name', 'String', { description: 'Full name, if known.' }),
    birthDate: t.optional('birthDate', 'Date', { description: 'Date of birth, if known.' }),
    nationality: t.optional('nationality', 'String', { description: 'Nationality (ISO 3166-1 alpha-2), if known.' }),
    address: t.json('address', AddressType, { nullable: true, description: 'Postal address, if known.' }),
  }),
});

const BusinessDetails = builder.prismaObject('Customer', {
  variant: 'BusinessDetails',
  description: 'The details of a business customer.',
  fields: (t) => ({
    legalName: t.required('name', 'String', { description: "The company's legal name." }),
    ...t.columns({ registrationNumber: 'Company registration number, if known.', taxId: 'Tax number, if known.' }),
    address: t.json('address', AddressType, { nullable: true, description: 'Postal address, if known.' }),
    beneficialOwners: t.json('beneficialOwners', [BeneficialOwner], {
      description: 'The people who own or control the company.',
    }),
  }),
});

const CustomerDetails = builder.unionType('CustomerDetails', {
  description: "A customer's details, either a person's or a company's.",
  types: [IndividualDetails, BusinessDetails],
  ...variantsBy<CustomerRow>('customerType', { INDIVIDUAL: 'IndividualDetails', BUSINESS: 'BusinessDetails' }),
});

builder.prismaObjectFields(Customer, (t) => ({
  ...t.columns({
    platformCustomerId: "The platform's own id for the customer.",
    customerType: 'Whether the customer is a person or a company.',
    umaAddress: "The customer's UMA address: $name@domain.",
    kycStatus:
      "The status of the customer's identity check. Only APPROVED and MANUALLY_APPROVED let the customer move money.",
    isDeleted:
      'Whether the customer has been deleted. A deleted customer can still be read, but can no longer move money.',
    frozenAt:
      "When the service's operator froze the customer; null if it is not frozen. Payments to and from a frozen customer are refused with CUSTOMER_FROZEN.",
    version: 'Increases with each change to the customer. Use it to discard older copies.',
    createdAt: 'When the customer was created.',
    updatedAt: 'When the customer last changed.',
    name: "The customer's full or legal name, if known.",
  }),
  metadata: t.entries('metadata', MetadataEntry, ['key', 'value'], noted),
  details: t.sameRow(CustomerDetails, { description: "The customer's details, which depend on its type." }),
}));

export const customers = listOf(Customer, {
  visible: visibleCustomers,
  filter: CustomerFilter,
  where: whereCustomers,
  isOrdered: true,
  words: ['A customer', 'customers'],
});

builder.queryFields((t) => ({
  customer: t.byId(Customer, ['Customer'], { word: 'customer' }),
  customers: t.page(customers, { description: "The platform's customers." }),
}));

const IndividualDetailsInput = builder.inputType('IndividualDetailsInput', {
  description: 'The details of a person. All fields are optional.',
  fields: (t) => ({
    fullName: t.string({ description: "The person's full name." }),
    birthDate: t.field({ type: 'Date', description: "The person's date of birth." }),
    nationality: t.string({ description: "The person's nationality, as an ISO 3166-1 alpha-2 code." }),
    address: t.field({ type: AddressInput, description: "The person's postal address." }),
  }),
});

const BeneficialOwnerInput = builder.inputType('BeneficialOwnerInput', {
  description: 'A person who owns or controls a company.',
  fields: (t) => ({
    fullName: t.string({ required: true, description: "The person's full name." }),
    individualType: t.field(required(IndividualType, "The person's role in the company.")),
    emailAddress: t.string({ description: "The person's email address." }),
    phoneNumber: t.string({ description: "The person's phone number in E.164 format, such as +14155550123." }),
    taxId: t.string({ description: "The person's tax number." }),
    birthDate: t.field({ type: 'Date', description: "The person's date of birth." }),
    nationality: t.string({ description: "The person's nationality, as an ISO 3166-1 alpha-2 code." }),
    address: t.field({ type: AddressInput, description: "The person's postal address." }),
    percentageOwnership: t.field({
      type: 'Decimal',
      description: "The person's share of the company, as a percentage from 0 to 100 with at most 13 decimals.",
    }),
    title: t.string({ description: "The person's title in the company." }),
  }),
});

const companyFields = (t: InputBuilder) => ({
  registrationNumber: t.string({ description: "The company's registration number." }),
  taxId: t.string({ description: "The company's tax number." }),
  address: t.field({ type: AddressInput, description: "The company's postal address." }),
  beneficialOwners: t.field({
    type: [BeneficialOwnerInput],
    description: 'The people who own or control the company.',
  }),
});

const BusinessDetailsInput = builder.inputType('BusinessDetailsInput', {
  description: 'The details of a company.',
  fields: (t) => ({
    legalName: t.string({ required: true, description: "The company's legal name." }),
    ...companyFields(t),
  }),
});

const BusinessChangesInput = builder.inputType('BusinessChangesInput', {
  description: 'The company details to change. Omitted fields stay as they are.',
  fields: (t) => ({ legalName: t.string({ description: "The company's legal name." }), ...companyFields(t) }),
});

const CustomerDetailsInput = builder.inputType('CustomerDetailsInput', {
  description: "A customer's details. Set only the field that matches the customer's type.",
  isOneOf: true,
  fields: (t) => ({
    individual: t.field({ type: IndividualDetailsInput, description: 'The customer is a person.' }),
    business: t.field({ type: BusinessDetailsInput, description: 'The customer is a company.' }),
  }),
});

const CustomerChangesInput = builder.inputType('CustomerChangesInput', {
  description: "Changes to a customer's details. Set only the field that matches the customer's type.",
  isOneOf: true,
  fields: (t) => ({
    individual: t.field({ type: IndividualDetailsInput, description: 'A person.' }),
    business: t.field({ type: BusinessChangesInput, description: 'A company.' }),
  }),
});

type DetailsInput = typeof CustomerChangesInput.$inferInput;

/** Converts the input to the domain's form. A @oneOf input has exactly one field. */
function detailsOf(input: DetailsInput): Details {
  if (input.individual) return { customerType: 'INDIVIDUAL', ...input.individual };
  const { beneficialOwners, ...business } = input.business;
  const owners = beneficialOwners?.map(({ percentageOwnership: share, ...owner }) => ({
    ...owner,
    // The specification requires a JSON number. A share that would lose decimals is refused (information.ts).
    percentageOwnership: typeof share === 'string' ? Number(/\.\d{14}/.test(share) ? Number.NaN : share) : share,
  }));
  return {
    customerType: 'BUSINESS',
    ...business,
    ...(beneficialOwners !== undefined && { beneficialOwners: owners ?? null }),
  };
}

mutation('createCustomer', {
  description: "Creates a customer, with an internal account in each of the platform's currencies.",
  input: (t) => ({
    platformCustomerId: t.string({ required: true, description: "The platform's own id for the customer." }),
    umaAddress: t.string({
      description: "The customer's UMA address, $name@domain, in the platform's domain. Generated if omitted.",
    }),
    details: t.field(
      required(CustomerDetailsInput, "The customer's details. Set only the field that matches the customer's type."),
    ),
    metadata: t.field({ type: [MetadataInput], description: newMetadata }),
  }),
  success: { row: { as: 'customer', type: Customer, description: 'The new customer.' } },
  namesNothing: true,
  resolve: ({ details, metadata, ...given }, { payments, viewer }, key) => {
    const input = { ...given, details: detailsOf(details), metadata: metadataOf(metadata) };
    return createCustomer(payments, viewer, input, key);
  },
});

mutation('updateCustomer', {
  description:
    'Changes a customer. Omitted fields stay as they are, and the type cannot be changed. In the sandbox, the identity check is repeated when the name changes.',
  input: (t) => ({
    customerId: t.id({ required: true, description: 'The customer to change (`Customer:…`).' }),
    umaAddress: t.string({ description: "The customer's new UMA address, $name@domain, in the platform's domain." }),
    details: t.field({
      type: CustomerChangesInput,
      description:
        "The details to change. Set only the field that matches the customer's type. Setting a detail to null removes it.",
    }),
    metadata: t.field({ type: [MetadataInput], description: changedMetadata }),
  }),
  success: { row: { as: 'customer', type: Customer, description: 'The changed customer.' } },
  resolve: ({ details, metadata, ...input }, { payments, viewer }, key) => {
    const changes = { ...input, details: details && detailsOf(details), metadata: metadataOf(metadata) };
    return updateCustomer(payments, viewer, changes, key);
  },
});

mutation('deleteCustomer', {
  description:
    'Deletes a customer. This is refused with CUSTOMER_IN_USE if the customer still holds money or has payments in progress. A deleted customer stays readable but can no longer move money. Its UMA address becomes available again, and its client tokens are revoked. Deleting it again is refused with CUSTOMER_DELETED.',
  input: (t) => ({ customerId: t.id({ required: true, description: 'The customer to delete (`Customer:…`).' }) }),
  success: { row: { as: 'customer', type: Customer, description: 'The deleted customer.' } },
  refusals: ['CustomerInUseError'],
  resolve: (input, { payments, viewer }, key) => deleteCustomer(payments, viewer, input, key),
});

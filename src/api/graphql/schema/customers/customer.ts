import { visibleCustomers } from '../../../../domain/access/visible.ts';
import { whereCustomers } from '../../../../domain/commands/filters.ts';
import type { BeneficialOwner as Owner } from '../../../../domain/customers/customers.ts';
import type { Customer as CustomerRow } from '../../../../infra/database/rows.ts';
import { builder, enumOf } from '../builder.ts';
import { CustomerType, KycStatus } from '../enums.ts';
import { CustomerFilter } from '../filters.ts';
import { listOf } from '../list.ts';
import { Customer } from '../nouns.ts';
import { MetadataEntry, noted } from '../values/metadata.ts';
import { AddressType } from '../values/people.ts';
import { variantsBy } from '../words.ts';

export const IndividualType = enumOf('IndividualType', 'The role of a person in a company.', {
  DIRECTOR: 'A director of the company.',
  CONTROL_PERSON: 'A person who controls the company.',
  BUSINESS_POINT_OF_CONTACT: 'The contact person of the company.',
  TRUSTEE: 'A trustee.',
  SETTLOR: 'A settlor.',
  GENERAL_PARTNER: 'A general partner.',
});

const BeneficialOwner = builder.objectRef<Owner>('BeneficialOwner').implement({
  description: 'A person who owns or controls a company.',
  fields: (t) => ({
    fullName: t.exposeString('fullName', { description: "The person's full name." }),
    individualType: t.json('individualType', IndividualType, { description: "The person's role in the company." }),
    emailAddress: t.exposeString('emailAddress', { nullable: true, description: 'Email address, if known.' }),
    phoneNumber: t.exposeString('phoneNumber', {
      nullable: true,
      description: 'Phone number in E.164 format, if known.',
    }),
    taxId: t.exposeString('taxId', { nullable: true, description: 'Tax number, if known.' }),
    birthDate: t.expose('birthDate', { type: 'Date', nullable: true, description: 'Date of birth, if known.' }),
    nationality: t.exposeString('nationality', {
      nullable: true,
      description: 'Nationality (ISO 3166-1 alpha-2), if known.',
    }),
    address: t.expose('address', { type: AddressType, nullable: true, description: 'Postal address, if known.' }),
    percentageOwnership: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Share of the company in percent, 0 to 100, if known.',
      resolve: ({ percentageOwnership: share }) => share?.toLocaleString('en', { maximumFractionDigits: 15 }),
    }),
    title: t.exposeString('title', { nullable: true, description: 'Title in the company, if known.' }),
  }),
});

const IndividualDetails = builder.prismaObject('Customer', {
  variant: 'IndividualDetails',
  description: 'The details of a customer that is a person.',
  fields: (t) => ({
    fullName: t.exposeString('name', { nullable: true, description: 'Full name, if known.' }),
    birthDate: t.expose('birthDate', { type: 'Date', nullable: true, description: 'Date of birth, if known.' }),
    nationality: t.exposeString('nationality', {
      nullable: true,
      description: 'Nationality (ISO 3166-1 alpha-2), if known.',
    }),
    address: t.json('address', AddressType, { nullable: true, description: 'Postal address, if known.' }),
  }),
});

const BusinessDetails = builder.prismaObject('Customer', {
  variant: 'BusinessDetails',
  description: 'The details of a customer that is a company.',
  fields: (t) => ({
    legalName: t.required('name', 'String', { description: "The company's legal name." }),
    registrationNumber: t.exposeString('registrationNumber', {
      nullable: true,
      description: 'Number in the company register, if known.',
    }),
    taxId: t.exposeString('taxId', { nullable: true, description: 'Tax number, if known.' }),
    address: t.json('address', AddressType, { nullable: true, description: 'Postal address, if known.' }),
    beneficialOwners: t.json('beneficialOwners', [BeneficialOwner], {
      description: 'The persons who own or control the company.',
    }),
  }),
});

const CustomerDetails = builder.unionType('CustomerDetails', {
  description: 'The details of a customer: a person or a company.',
  types: [IndividualDetails, BusinessDetails],
  ...variantsBy<CustomerRow>('customerType', { INDIVIDUAL: 'IndividualDetails', BUSINESS: 'BusinessDetails' }),
});

builder.prismaObjectFields(Customer, (t) => ({
  platformCustomerId: t.exposeString('platformCustomerId', { description: "The platform's own id of the customer." }),
  customerType: t.expose('customerType', {
    type: CustomerType,
    description: 'Whether the customer is a person or a company.',
  }),
  umaAddress: t.exposeString('umaAddress', { description: "The customer's UMA address: $name@domain." }),
  kycStatus: t.expose('kycStatus', {
    type: KycStatus,
    description:
      "The status of the customer's identity check. Only APPROVED and MANUALLY_APPROVED let the customer move money.",
  }),
  isDeleted: t.exposeBoolean('isDeleted', {
    description: 'Whether the customer was deleted. A deleted customer stays readable, but can no longer move money.',
  }),
  frozenAt: t.expose('frozenAt', {
    type: 'DateTime',
    nullable: true,
    description:
      'When the operator of the service froze the customer; null if it is not frozen. Payments from and to a frozen customer are refused with CUSTOMER_FROZEN.',
  }),
  version: t.exposeInt('version', {
    description: 'Increases with each change of the customer: use it to discard older copies.',
  }),
  createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the customer was created.' }),
  updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the customer last changed.' }),
  name: t.exposeString('name', { nullable: true, description: 'The full or legal name of the customer, if known.' }),
  metadata: t.entries('metadata', MetadataEntry, ['key', 'value'], noted),
  details: t.sameRow(CustomerDetails, { description: 'The details of the customer, which depend on its type.' }),
}));

export const customers = listOf(Customer, {
  name: 'Customer',
  visible: visibleCustomers,
  filter: CustomerFilter,
  where: whereCustomers,
  isOrdered: true,
  page: 'A page of customers.',
  edge: 'A customer in a page.',
});

builder.queryFields((t) => ({
  customer: t.byId(Customer, ['Customer'], {
    id: 'The id of the customer: Customer:…',
    description: 'The customer with this id; null if it does not exist or the caller may not see it.',
  }),
  customers: t.page(customers, { description: 'The customers of the platform.' }),
}));

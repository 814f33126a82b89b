import { visibleCustomers } from '../../../../domain/access/visible.ts';
import { whereCustomers } from '../../../../domain/commands/filters.ts';
import type { BeneficialOwner as Owner } from '../../../../domain/customers/customers.ts';
import type { Customer as CustomerRow } from '../../../../infra/database/rows.ts';
import { builder } from '../builder.ts';
import { CustomerType, KycStatus } from '../enums.ts';
import { CustomerFilter } from '../filters.ts';
import { listOf } from '../list.ts';
import { Customer } from '../nouns.ts';
import { MetadataEntry, noted } from '../values/metadata.ts';
import { AddressType } from '../values/people.ts';
import { variantsBy } from '../words.ts';

export const IndividualType = builder.enumType('IndividualType', {
  description: "A person's role in a company.",
  values: {
    DIRECTOR: { description: 'Director.' },
    CONTROL_PERSON: { description: 'Person in control.' },
    BUSINESS_POINT_OF_CONTACT: { description: 'Contact person.' },
    TRUSTEE: { description: 'Trustee.' },
    SETTLOR: { description: 'Settlor.' },
    GENERAL_PARTNER: { description: 'General partner.' },
  },
});

const BeneficialOwner = builder.objectRef<Owner>('BeneficialOwner').implement({
  description: 'A person who owns or controls a company.',
  fields: (t) => ({
    fullName: t.exposeString('fullName', { description: 'Full name.' }),
    individualType: t.json('individualType', IndividualType, { description: 'Role in the company.' }),
    emailAddress: t.exposeString('emailAddress', { nullable: true, description: 'Email address.' }),
    phoneNumber: t.exposeString('phoneNumber', { nullable: true, description: 'Phone number, E.164.' }),
    taxId: t.exposeString('taxId', { nullable: true, description: 'Tax number.' }),
    birthDate: t.expose('birthDate', { type: 'Date', nullable: true, description: 'Day of birth.' }),
    nationality: t.exposeString('nationality', { nullable: true, description: 'ISO 3166-1 alpha-2.' }),
    address: t.expose('address', { type: AddressType, nullable: true, description: 'Postal address.' }),
    percentageOwnership: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Share of the company, 0 to 100: "33.5".',
      resolve: ({ percentageOwnership: share }) => share?.toLocaleString('en', { maximumFractionDigits: 15 }),
    }),
    title: t.exposeString('title', { nullable: true, description: 'Title.' }),
  }),
});

const IndividualDetails = builder.prismaObject('Customer', {
  variant: 'IndividualDetails',
  description: 'What is known of a person.',
  fields: (t) => ({
    fullName: t.exposeString('name', { nullable: true, description: 'Full name.' }),
    birthDate: t.expose('birthDate', { type: 'Date', nullable: true, description: 'Day of birth.' }),
    nationality: t.exposeString('nationality', { nullable: true, description: 'ISO 3166-1 alpha-2.' }),
    address: t.json('address', AddressType, { nullable: true, description: 'Postal address.' }),
  }),
});

const BusinessDetails = builder.prismaObject('Customer', {
  variant: 'BusinessDetails',
  description: 'What is known of a company.',
  fields: (t) => ({
    legalName: t.required('name', 'String', { description: 'Legal name.' }),
    registrationNumber: t.exposeString('registrationNumber', {
      nullable: true,
      description: 'Number in the company register.',
    }),
    taxId: t.exposeString('taxId', { nullable: true, description: 'Tax number.' }),
    address: t.json('address', AddressType, { nullable: true, description: 'Postal address.' }),
    beneficialOwners: t.json('beneficialOwners', [BeneficialOwner], { description: 'Who owns or controls it.' }),
  }),
});

const CustomerDetails = builder.unionType('CustomerDetails', {
  description: 'What is known of a customer, by its type.',
  types: [IndividualDetails, BusinessDetails],
  ...variantsBy<CustomerRow>('customerType', { INDIVIDUAL: 'IndividualDetails', BUSINESS: 'BusinessDetails' }),
});

builder.prismaObjectFields(Customer, (t) => ({
  platformCustomerId: t.exposeString('platformCustomerId', { description: "The platform's own id." }),
  customerType: t.expose('customerType', { type: CustomerType, description: 'Individual or business.' }),
  umaAddress: t.exposeString('umaAddress', { description: 'Its UMA address: $name@domain.' }),
  kycStatus: t.expose('kycStatus', { type: KycStatus, description: 'Where its identity check stands.' }),
  isDeleted: t.exposeBoolean('isDeleted', {
    description: 'A deleted customer keeps its history and moves no money.',
  }),
  frozenAt: t.expose('frozenAt', {
    type: 'DateTime',
    nullable: true,
    description:
      'Since when the operator of the service has frozen it: nobody pays from it or to it. Null when it is not frozen.',
  }),
  version: t.exposeInt('version', { description: 'Rises with each change.' }),
  createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
  updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  name: t.exposeString('name', { nullable: true, description: 'Full or legal name.' }),
  metadata: t.entries('metadata', MetadataEntry, ['key', 'value'], noted),
  details: t.sameRow(CustomerDetails, { description: 'What is known of it.' }),
}));

export const customers = listOf(Customer, {
  name: 'Customer',
  visible: visibleCustomers,
  filter: CustomerFilter,
  where: whereCustomers,
  isOrdered: true,
  page: 'A page of customers.',
  edge: 'A customer in a page.',
  inPayloads: [Customer],
});

builder.queryFields((t) => ({
  customer: t.byId(Customer, ['Customer'], { id: 'Customer:…', description: 'A customer by its id, or null.' }),
  customers: t.page(customers, { description: "The platform's customers." }),
}));

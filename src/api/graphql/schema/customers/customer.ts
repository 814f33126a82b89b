import { publicId } from '../../../../core/ids.ts';
import { visibleCustomers } from '../../../../domain/access/visible.ts';
import { whereCustomers } from '../../../../domain/commands/filters.ts';
import type { Address } from '../../../../domain/commands/people.ts';
import type { BeneficialOwner as Owner } from '../../../../domain/customers/customers.ts';
import type { Customer as CustomerRow } from '../../../../infra/database/rows.ts';
import { trustedJson } from '../../../../infra/database/trusted-json.ts';
import { planned } from '../../reading/planned.ts';
import { jsonList, jsonObject, leaf, orderedPageOf, reads, sameRow, typeReads } from '../../reading/reads.ts';
import { builder } from '../builder.ts';
import { CustomerType, KycStatus } from '../enums.ts';
import { CustomerFilter } from '../filters.ts';
import { connection, orderedListArgs } from '../list.ts';
import { Customer } from '../nouns.ts';
import { MetadataEntry, metadataDescription, metadataEntries, metadataRead } from '../values/metadata.ts';
import { AddressType } from '../values/people.ts';

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
    individualType: t.field({
      type: IndividualType,
      description: 'Role in the company.',
      ...reads(leaf.member('individualType')),
      // Its type is text in the domain; both APIs accept only these values.
      resolve: (owner) => owner.individualType as never,
    }),
    emailAddress: t.exposeString('emailAddress', { nullable: true, description: 'Email address.' }),
    phoneNumber: t.exposeString('phoneNumber', { nullable: true, description: 'Phone number, E.164.' }),
    taxId: t.exposeString('taxId', { nullable: true, description: 'Tax number.' }),
    birthDate: t.expose('birthDate', { type: 'Date', nullable: true, description: 'Day of birth.' }),
    nationality: t.exposeString('nationality', { nullable: true, description: 'ISO 3166-1 alpha-2.' }),
    address: t.expose('address', { type: AddressType, nullable: true, description: 'Postal address.' }),
    percentageOwnership: t.exposeFloat('percentageOwnership', {
      nullable: true,
      description: 'Share of the company, 0 to 100.',
    }),
    title: t.exposeString('title', { nullable: true, description: 'Title.' }),
  }),
});

/** The columns of a customer's details. */
type DetailsColumns = Pick<
  CustomerRow,
  | 'customerType'
  | 'name'
  | 'birthDate'
  | 'nationality'
  | 'registrationNumber'
  | 'taxId'
  | 'address'
  | 'beneficialOwners'
>;

const IndividualDetails = builder.objectRef<DetailsColumns>('IndividualDetails').implement({
  description: 'What is known of a person.',
  ...typeReads({ model: 'Customer' }),
  fields: (t) => ({
    fullName: t.exposeString('name', { nullable: true, description: 'Full name.' }),
    birthDate: t.field({
      type: 'Date',
      nullable: true,
      description: 'Day of birth.',
      ...reads(leaf.date('birth_date')),
      resolve: (customer) => customer.birthDate?.toISOString().slice(0, 10),
    }),
    nationality: t.exposeString('nationality', { nullable: true, description: 'ISO 3166-1 alpha-2.' }),
    address: t.field({
      type: AddressType,
      nullable: true,
      description: 'Postal address.',
      ...reads(jsonObject('address')),
      resolve: addressOf,
    }),
  }),
});

const BusinessDetails = builder.objectRef<DetailsColumns>('BusinessDetails').implement({
  description: 'What is known of a company.',
  ...typeReads({ model: 'Customer' }),
  fields: (t) => ({
    legalName: t.string({
      description: 'Legal name.',
      ...reads(leaf.text('name')),
      resolve: ({ name }) => {
        // createCustomer requires it, and no change empties it.
        if (name === null) throw new Error('a company has no name');
        return name;
      },
    }),
    registrationNumber: t.exposeString('registrationNumber', {
      nullable: true,
      description: 'Number in the company register.',
    }),
    taxId: t.exposeString('taxId', { nullable: true, description: 'Tax number.' }),
    address: t.field({
      type: AddressType,
      nullable: true,
      description: 'Postal address.',
      ...reads(jsonObject('address')),
      resolve: addressOf,
    }),
    beneficialOwners: t.field({
      type: [BeneficialOwner],
      description: 'Who owns or controls it.',
      ...reads(jsonList(({ row }) => `coalesce(nullif(${row}.beneficial_owners, 'null'), '[]')`)),
      // createCustomer wrote it in this form.
      resolve: (customer) => trustedJson<Owner[]>(customer.beneficialOwners),
    }),
  }),
});

/** Returns the address column, which createCustomer wrote in this form. */
function addressOf(customer: DetailsColumns): Address | null {
  return trustedJson<Address | null>(customer.address);
}

const CustomerDetails = builder.unionType('CustomerDetails', {
  description: 'What is known of a customer, by its type.',
  types: [IndividualDetails, BusinessDetails],
  ...typeReads({
    variants: ({ row }) => [
      { type: 'IndividualDetails', when: `${row}.customer_type = 'INDIVIDUAL'` },
      { type: 'BusinessDetails', when: 'true' },
    ],
  }),
  resolveType: (customer) => (customer.customerType === 'INDIVIDUAL' ? 'IndividualDetails' : 'BusinessDetails'),
});

builder.prismaObjectFields(Customer, (t) => ({
  id: t.id({
    description: 'Its public id.',
    ...reads(leaf.id('Customer')),
    resolve: (customer) => publicId('Customer', customer.id),
  }),
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
  metadata: t.field({
    type: [MetadataEntry],
    description: metadataDescription,
    ...reads(metadataRead),
    resolve: metadataEntries,
  }),
  details: t.field({
    type: CustomerDetails,
    description: 'What is known of it.',
    ...reads(sameRow),
    // A copy, since Pothos has marked a row that was read as a node as a Customer, which is no member of the union.
    resolve: (customer) => ({ ...customer }),
  }),
}));

export const CustomerConnection = connection(
  Customer,
  'Customer',
  { page: 'A page of customers.', edge: 'A customer in a page.' },
  [Customer],
);
export const customersRead = orderedPageOf('Customer', visibleCustomers, whereCustomers);
builder.queryFields((t) => ({
  customer: t.field({
    type: Customer,
    nullable: true,
    description: 'A customer by its id, or null.',
    ...planned({ kind: 'node', types: ['Customer'] }),
    args: { id: t.arg.id({ required: true, description: 'Customer:…' }) },
  }),
  customers: t.field({
    type: CustomerConnection,
    description: "The platform's customers.",
    ...planned(customersRead),
    args: orderedListArgs(t.arg, CustomerFilter),
  }),
}));

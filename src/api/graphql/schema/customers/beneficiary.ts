import type { Beneficiary } from '../../../../domain/accounts/beneficiary.ts';
import { builder } from '../builder.ts';
import { AddressInput, AddressType } from '../values/people.ts';
import { variantsBy } from '../words.ts';

export const BeneficiaryVerifiedData = builder.prismaObject('Account', {
  variant: 'BeneficiaryVerifiedData',
  description: 'Details about the owner of an account, as reported by the payment rail.',
  fields: (t) => ({
    fullName: t.exposeString('beneficiaryVerifiedName', {
      nullable: true,
      description: "The name of the owner in the bank's records; null if it was not reported.",
    }),
  }),
});

type Individual = Extract<Beneficiary, { beneficiaryType: 'INDIVIDUAL' }>;
type Business = Extract<Beneficiary, { beneficiaryType: 'BUSINESS' }>;

const IndividualBeneficiary = builder.objectRef<Individual>('IndividualBeneficiary').implement({
  description: 'A person who owns an external account.',
  fields: (t) => ({
    fullName: t.exposeString('fullName', { description: 'The full name of the owner.' }),
    birthDate: t.expose('birthDate', { type: 'Date', nullable: true, description: 'Date of birth, if known.' }),
    nationality: t.exposeString('nationality', {
      nullable: true,
      description: 'Nationality (ISO 3166-1 alpha-2), if known.',
    }),
    address: t.expose('address', { type: AddressType, nullable: true, description: 'Postal address, if known.' }),
  }),
});

const BusinessBeneficiary = builder.objectRef<Business>('BusinessBeneficiary').implement({
  description: 'A company that owns an external account.',
  fields: (t) => ({
    legalName: t.exposeString('legalName', { description: 'The legal name of the company.' }),
    registrationNumber: t.exposeString('registrationNumber', {
      nullable: true,
      description: 'Number in the company register, if known.',
    }),
    taxId: t.exposeString('taxId', { nullable: true, description: 'Tax number, if known.' }),
    address: t.expose('address', { type: AddressType, nullable: true, description: 'Postal address, if known.' }),
  }),
});

export const BeneficiaryType = builder.unionType('Beneficiary', {
  description: 'The owner of a bank account.',
  types: [IndividualBeneficiary, BusinessBeneficiary],
  ...variantsBy<Beneficiary>('beneficiaryType', {
    INDIVIDUAL: 'IndividualBeneficiary',
    BUSINESS: 'BusinessBeneficiary',
  }),
});

const IndividualBeneficiaryInput = builder.inputType('IndividualBeneficiaryInput', {
  description: 'A person who owns an external account.',
  fields: (t) => ({
    fullName: t.string({ required: true, description: 'The full name of the owner.' }),
    birthDate: t.field({ type: 'Date', description: 'Date of birth.' }),
    nationality: t.string({ description: 'Nationality of the owner (ISO 3166-1 alpha-2).' }),
    address: t.field({ type: AddressInput, description: 'Postal address.' }),
  }),
});

const BusinessBeneficiaryInput = builder.inputType('BusinessBeneficiaryInput', {
  description: 'A company that owns an external account.',
  fields: (t) => ({
    legalName: t.string({ required: true, description: 'The legal name of the company.' }),
    registrationNumber: t.string({ description: 'Number in the company register.' }),
    taxId: t.string({ description: 'Tax number.' }),
    address: t.field({ type: AddressInput, description: 'Postal address.' }),
  }),
});

export const BeneficiaryInput = builder.inputType('BeneficiaryInput', {
  description: 'The owner of a bank account, given by exactly one field.',
  isOneOf: true,
  fields: (t) => ({
    individual: t.field({ type: IndividualBeneficiaryInput, description: 'The owner is a person.' }),
    business: t.field({ type: BusinessBeneficiaryInput, description: 'The owner is a company.' }),
  }),
});

/** Converts the input to the domain's form. A @oneOf input has exactly one field. */
export function readBeneficiary({ individual, business }: typeof BeneficiaryInput.$inferInput): Beneficiary {
  if (individual) return { beneficiaryType: 'INDIVIDUAL', ...individual };
  if (business) return { beneficiaryType: 'BUSINESS', ...business };
  throw new Error('a @oneOf input has one field');
}

import type { Beneficiary } from '../../../../domain/accounts/beneficiary.ts';
import { builder } from '../builder.ts';
import { AddressInput, AddressType } from '../values/people.ts';
import { variantsBy } from '../words.ts';

/** The owner of an external account. */

export const BeneficiaryVerifiedData = builder.prismaObject('Account', {
  variant: 'BeneficiaryVerifiedData',
  description: 'What the payment rail says of the owner.',
  fields: (t) => ({
    fullName: t.exposeString('beneficiaryVerifiedName', {
      nullable: true,
      description: "The owner's name at the bank.",
    }),
  }),
});

type Individual = Extract<Beneficiary, { beneficiaryType: 'INDIVIDUAL' }>;
type Business = Extract<Beneficiary, { beneficiaryType: 'BUSINESS' }>;

const IndividualBeneficiary = builder.objectRef<Individual>('IndividualBeneficiary').implement({
  description: 'A person who owns an account.',
  fields: (t) => ({
    fullName: t.exposeString('fullName', { description: 'Full name.' }),
    birthDate: t.expose('birthDate', { type: 'Date', nullable: true, description: 'Day of birth.' }),
    nationality: t.exposeString('nationality', { nullable: true, description: 'ISO 3166-1 alpha-2.' }),
    address: t.expose('address', { type: AddressType, nullable: true, description: 'Postal address.' }),
  }),
});

const BusinessBeneficiary = builder.objectRef<Business>('BusinessBeneficiary').implement({
  description: 'A company that owns an account.',
  fields: (t) => ({
    legalName: t.exposeString('legalName', { description: 'Legal name.' }),
    registrationNumber: t.exposeString('registrationNumber', {
      nullable: true,
      description: 'Number in the company register.',
    }),
    taxId: t.exposeString('taxId', { nullable: true, description: 'Tax number.' }),
    address: t.expose('address', { type: AddressType, nullable: true, description: 'Postal address.' }),
  }),
});

export const BeneficiaryType = builder.unionType('Beneficiary', {
  description: 'Who owns a bank account.',
  types: [IndividualBeneficiary, BusinessBeneficiary],
  ...variantsBy<Beneficiary>('beneficiaryType', {
    INDIVIDUAL: 'IndividualBeneficiary',
    BUSINESS: 'BusinessBeneficiary',
  }),
});

const IndividualBeneficiaryInput = builder.inputType('IndividualBeneficiaryInput', {
  description: 'A person who owns an account.',
  fields: (t) => ({
    fullName: t.string({ required: true, description: 'Full name.' }),
    birthDate: t.field({ type: 'Date', description: 'Day of birth.' }),
    nationality: t.string({ description: 'ISO 3166-1 alpha-2.' }),
    address: t.field({ type: AddressInput, description: 'Postal address.' }),
  }),
});

const BusinessBeneficiaryInput = builder.inputType('BusinessBeneficiaryInput', {
  description: 'A company that owns an account.',
  fields: (t) => ({
    legalName: t.string({ required: true, description: 'Legal name.' }),
    registrationNumber: t.string({ description: 'Number in the company register.' }),
    taxId: t.string({ description: 'Tax number.' }),
    address: t.field({ type: AddressInput, description: 'Postal address.' }),
  }),
});

export const BeneficiaryInput = builder.inputType('BeneficiaryInput', {
  description: 'Who owns a bank account: exactly one field.',
  isOneOf: true,
  fields: (t) => ({
    individual: t.field({ type: IndividualBeneficiaryInput, description: 'A person.' }),
    business: t.field({ type: BusinessBeneficiaryInput, description: 'A company.' }),
  }),
});

/** Returns the domain's form of the input. A @oneOf input has exactly one field. */
export function readBeneficiary({ individual, business }: typeof BeneficiaryInput.$inferInput): Beneficiary {
  if (individual) return { beneficiaryType: 'INDIVIDUAL', ...individual };
  if (business) return { beneficiaryType: 'BUSINESS', ...business };
  throw new Error('a @oneOf input has one field');
}

import { z } from '@hono/zod-openapi';
import { longest } from '../../../core/texts.ts';
import { KycStatus } from '../../../infra/database/generated/client/client.ts';
import { individualTypes } from '../../records/customer-record.ts';
import {
  AddressSchema,
  changed,
  changedMetadata,
  countryCode,
  day,
  id,
  listed,
  listOf,
  metadata,
  newMetadata,
  ownKey,
  text,
  time,
} from './fields.ts';

// Defines the schemas of customers, discriminated by `customerType` (specification 2.8, decision 47).

const umaAddress = z
  .string()
  .openapi({ description: 'UMA address, $name@domain, in the domain of the platform.', example: '$grace@example.com' });
const platformCustomerId = ownKey().describe("The platform's own id of the customer.");

const individualFields = {
  fullName: text(longest.name).optional().describe('Full name.'),
  birthDate: day('Date of birth.').optional(),
  nationality: countryCode('Nationality, as an ISO 3166-1 alpha-2 code.').optional(),
  address: AddressSchema.optional(),
};

const BeneficialOwnerSchema = z
  .strictObject({
    fullName: text(longest.name).describe('Full name.'),
    individualType: z.enum(individualTypes).describe('Role in the company.'),
    emailAddress: text(longest.email).optional().describe('Email address.'),
    phoneNumber: z
      .string()
      .regex(/^\+[1-9]\d{1,14}$/, 'must be in E.164 form, such as +14155550123')
      .optional()
      .openapi({ description: 'Phone number in E.164 format.', example: '+14155550123' }),
    taxId: text(longest.number).optional().describe('Tax number.'),
    birthDate: day('Date of birth.').optional(),
    nationality: countryCode('Nationality, as an ISO 3166-1 alpha-2 code.').optional(),
    address: AddressSchema.optional(),
    percentageOwnership: z
      .number('must be a number of at most 15 digits')
      .min(0)
      .max(100)
      .optional()
      .describe('Share of the company, in percent.'),
    title: text(longest.word).optional().describe('Title in the company.'),
  })
  .openapi('BeneficialOwner', { description: 'A person who owns or controls a company.' });

const businessInfo = z
  .strictObject({
    legalName: text(longest.name).describe('Legal name.'),
    registrationNumber: text(longest.number).optional().describe('Number in the company register.'),
    taxId: text(longest.number).optional().describe('Tax number.'),
  })
  .openapi('BusinessInfo', { description: 'The details of a company.' });

const created = { platformCustomerId, umaAddress: umaAddress.optional(), metadata: newMetadata };

export const CreateCustomerBody = z
  .discriminatedUnion('customerType', [
    z
      .strictObject({
        customerType: z.literal('INDIVIDUAL').describe('The type of the customer: a person.'),
        ...created,
        ...individualFields,
      })
      .openapi('CreateIndividualCustomer'),
    z
      .strictObject({
        customerType: z.literal('BUSINESS').describe('The type of the customer: a company.'),
        ...created,
        businessInfo,
        address: AddressSchema.optional(),
        beneficialOwners: listOf(BeneficialOwnerSchema)
          .optional()
          .describe('The persons who own or control the company.'),
      })
      .openapi('CreateBusinessCustomer'),
  ])
  .openapi('CreateCustomer');

/** The body that changes a customer: omitted fields stay unchanged, and null clears a field (decisions 6 and 47). */
export const UpdateCustomerBody = z
  .discriminatedUnion('customerType', [
    z
      .strictObject({
        customerType: z.literal('INDIVIDUAL').describe('The type of the customer, which cannot change: a person.'),
        umaAddress: umaAddress.nullish(),
        metadata: changedMetadata,
        fullName: individualFields.fullName.nullable(),
        birthDate: individualFields.birthDate.nullable(),
        nationality: individualFields.nationality.nullable(),
        address: changed(AddressSchema).describe('Postal address.'),
      })
      .openapi('UpdateIndividualCustomer'),
    z
      .strictObject({
        customerType: z.literal('BUSINESS').describe('The type of the customer, which cannot change: a company.'),
        umaAddress: umaAddress.nullish(),
        metadata: changedMetadata,
        businessInfo: z
          .strictObject({
            legalName: businessInfo.shape.legalName.nullish(),
            registrationNumber: businessInfo.shape.registrationNumber.nullable(),
            taxId: businessInfo.shape.taxId.nullable(),
          })
          .openapi('UpdateBusinessInfo')
          .nullish(),
        address: changed(AddressSchema).describe('Postal address.'),
        beneficialOwners: changed(listOf(BeneficialOwnerSchema)).describe(
          'The persons who own or control the company. This replaces the list.',
        ),
      })
      .openapi('UpdateBusinessCustomer'),
  ])
  .openapi('UpdateCustomer');

const common = {
  id: id('Customer', 'The id of the customer.'),
  platformCustomerId,
  umaAddress,
  kycStatus: z
    .enum(KycStatus)
    .describe(
      "The status of the customer's identity check. Only with APPROVED or MANUALLY_APPROVED may the customer move money.",
    ),
  isDeleted: z
    .boolean()
    .describe(
      'Whether the customer was deleted. A deleted customer keeps its history, but can no longer make or receive payments.',
    ),
  frozenAt: time('When the operator of the service froze the customer; absent if it is not frozen.').optional(),
  metadata,
  createdAt: time('When the customer was created.'),
  updatedAt: time('When the customer last changed.'),
};

export const CustomerSchema = z
  .discriminatedUnion('customerType', [
    z
      .object({
        customerType: z.literal('INDIVIDUAL').describe('The type of the customer: a person.'),
        ...common,
        ...individualFields,
      })
      .openapi('IndividualCustomer'),
    z
      .object({
        customerType: z.literal('BUSINESS').describe('The type of the customer: a company.'),
        ...common,
        businessInfo,
        address: AddressSchema.optional(),
        beneficialOwners: listed(BeneficialOwnerSchema).describe('The persons who own or control the company.'),
      })
      .openapi('BusinessCustomer'),
  ])
  .openapi('Customer', { description: 'A person or company for whom the platform moves money.' });

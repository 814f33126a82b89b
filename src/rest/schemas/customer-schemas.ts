import { z } from '@hono/zod-openapi';
import { KycStatus } from '../../database/generated/client/client.ts';
import { individualTypes } from '../../records/customer-record.ts';
import { listOf } from './list-of.ts';
import { changedMetadata, metadata, newMetadata } from './metadata.ts';
import { day, id, time } from './money.ts';
import { AddressSchema, countryCode } from './people.ts';

// The schemas of customers, discriminated by `customerType` (specification 2.8, decision 47).

const umaAddress = z
  .string()
  .openapi({ description: 'UMA address, $name@domain, in the domain of the platform.', example: '$grace@example.com' });
const platformCustomerId = z.string().openapi({ description: "The platform's own id." });

/** The optional fields of a person. */
export const individualFields = {
  fullName: z.string().optional().openapi({ description: 'Full name.' }),
  birthDate: day('Day of birth.').optional(),
  nationality: countryCode('ISO 3166-1 alpha-2.').optional(),
  address: AddressSchema.optional(),
};

const BeneficialOwnerSchema = z
  .strictObject({
    fullName: z.string().openapi({ description: 'Full name.' }),
    individualType: z.enum(individualTypes).openapi({ description: 'Role in the company.' }),
    emailAddress: z.string().optional().openapi({ description: 'Email address.' }),
    phoneNumber: z
      .string()
      .regex(/^\+[1-9]\d{1,14}$/, 'must be in E.164 form, such as +14155550123')
      .optional()
      .openapi({ description: 'Phone number, E.164.', example: '+14155550123' }),
    taxId: z.string().optional().openapi({ description: 'Tax number.' }),
    birthDate: day('Day of birth.').optional(),
    nationality: countryCode('ISO 3166-1 alpha-2.').optional(),
    address: AddressSchema.optional(),
    percentageOwnership: z
      .number('must be a number of at most 15 digits')
      .min(0)
      .max(100)
      .optional()
      .openapi({ description: 'Share of the company, in percent.' }),
    title: z.string().optional().openapi({ description: 'Title in the company.' }),
  })
  .openapi('BeneficialOwner', { description: 'A person who owns or controls a company.' });

const businessInfo = z
  .strictObject({
    legalName: z.string().openapi({ description: 'Legal name.' }),
    registrationNumber: z.string().optional().openapi({ description: 'Number in the company register.' }),
    taxId: z.string().optional().openapi({ description: 'Tax number.' }),
  })
  .openapi('BusinessInfo', { description: 'The data of a company.' });

const created = { platformCustomerId, umaAddress: umaAddress.optional(), metadata: newMetadata };

/** The body that creates a customer. */
export const CreateCustomerBody = z
  .discriminatedUnion('customerType', [
    z
      .strictObject({
        customerType: z.literal('INDIVIDUAL').openapi({ description: 'A person.' }),
        ...created,
        ...individualFields,
      })
      .openapi('CreateIndividualCustomer'),
    z
      .strictObject({
        customerType: z.literal('BUSINESS').openapi({ description: 'A company.' }),
        ...created,
        businessInfo,
        address: AddressSchema.optional(),
        beneficialOwners: listOf(BeneficialOwnerSchema)
          .optional()
          .openapi({ description: 'The people who own or control it.' }),
      })
      .openapi('CreateBusinessCustomer'),
  ])
  .openapi('CreateCustomer');

/** The body that changes a customer: fields that are left out stay unchanged (decision 47). */
export const UpdateCustomerBody = z
  .discriminatedUnion('customerType', [
    z
      .strictObject({
        customerType: z.literal('INDIVIDUAL').openapi({ description: 'A person; the type cannot change.' }),
        umaAddress: umaAddress.optional(),
        metadata: changedMetadata,
        ...individualFields,
      })
      .openapi('UpdateIndividualCustomer'),
    z
      .strictObject({
        customerType: z.literal('BUSINESS').openapi({ description: 'A company; the type cannot change.' }),
        umaAddress: umaAddress.optional(),
        metadata: changedMetadata,
        businessInfo: businessInfo.partial().optional().openapi('UpdateBusinessInfo'),
        address: AddressSchema.optional(),
        beneficialOwners: listOf(BeneficialOwnerSchema)
          .optional()
          .openapi({ description: 'The people who own or control it: replaces the list.' }),
      })
      .openapi('UpdateBusinessCustomer'),
  ])
  .openapi('UpdateCustomer');

const common = {
  id: id('Customer', 'Its id.'),
  platformCustomerId,
  umaAddress,
  kycStatus: z.enum(KycStatus).openapi({ description: 'The state of its identity check.' }),
  isDeleted: z.boolean().openapi({
    description: 'Whether it is deleted. A deleted customer keeps its history, and makes and receives no payments.',
  }),
  frozenAt: time('Since when the operator of the service has frozen it; left out when it is not frozen.').optional(),
  metadata,
  createdAt: time('When it was created.'),
  updatedAt: time('When it last changed.'),
};

/** A customer in a response. */
export const CustomerSchema = z
  .discriminatedUnion('customerType', [
    z
      .object({
        customerType: z.literal('INDIVIDUAL').openapi({ description: 'A person.' }),
        ...common,
        ...individualFields,
      })
      .openapi('IndividualCustomer'),
    z
      .object({
        customerType: z.literal('BUSINESS').openapi({ description: 'A company.' }),
        ...common,
        businessInfo,
        address: AddressSchema.optional(),
        beneficialOwners: z.array(BeneficialOwnerSchema).openapi({ description: 'The people who own or control it.' }),
      })
      .openapi('BusinessCustomer'),
  ])
  .openapi('Customer', { description: 'A person or company for whom the platform moves money (specification 2.8).' });

import { z } from '@hono/zod-openapi';
import { type PathTable, renamed } from '../../../core/refusal.ts';
import { longest } from '../../../core/texts.ts';
import { visibleCustomers } from '../../../domain/access/visible.ts';
import type { Payments } from '../../../domain/commands/command.ts';
import { whereCustomers } from '../../../domain/commands/filters.ts';
import {
  type CreateCustomer,
  type CustomerDetails,
  createCustomer,
  deleteCustomer,
  individualTypes,
  type UpdateCustomer,
  updateCustomer,
} from '../../../domain/customers/customers.ts';
import { CustomerType, KycStatus } from '../../../infra/database/generated/client/client.ts';
import { readRow } from '../../../infra/database/read-rows.ts';
import { customerRecord as record } from '../../records/customer-record.ts';
import type { Endpoints } from '../endpoint.ts';
import { addPagedList, anyOf, createdParameters, flag, orderParameters, rowList, updatedParameters } from '../lists.ts';
import {
  AddressSchema,
  boolean,
  changed,
  changedMetadata,
  companyFields,
  id,
  listOf,
  metadata,
  newMetadata,
  oneOf,
  ownKey,
  personFields,
  requestObject,
  responseObject,
  string,
  text,
  time,
  variants,
} from '../schemas/fields.ts';

// Defines the customer schemas, discriminated by `customerType`.

const umaAddress = string("UMA address, $name@domain, in the platform's domain.", '$grace@example.com');
const platformCustomerId = ownKey().describe("The platform's own id for the customer.");

const individualFields = { fullName: text(longest.name).optional().describe('Full name.'), ...personFields };

const BeneficialOwnerSchema = requestObject('BeneficialOwner', {
  fullName: text(longest.name).describe('Full name.'),
  individualType: z.enum(names(individualTypes)).describe('Role in the company.'),
  emailAddress: text(longest.email).optional().describe('Email address.'),
  phoneNumber: z
    .string()
    .regex(/^\+[1-9]\d{1,14}$/, 'must be in E.164 format, such as +14155550123')
    .optional()
    .openapi({ description: 'Phone number in E.164 format.', example: '+14155550123' }),
  taxId: text(longest.number).optional().describe('Tax number.'),
  ...personFields,
  percentageOwnership: z
    .number('must be a number')
    .min(0, 'must be at least 0')
    .max(100, 'must be at most 100')
    .optional()
    .describe('Share of the company, in percent, with at most 13 decimals.'),
  title: text(longest.word).optional().describe('Title in the company.'),
}).describe('A person who owns or controls a company.');

const businessInfo = requestObject('BusinessInfo', companyFields).describe('The details of a company.');

const created = { platformCustomerId, umaAddress: umaAddress.optional(), metadata: newMetadata };

const CreateCustomerBody = variants('CreateCustomer', 'customerType', [
  requestObject('CreateIndividualCustomer', {
    customerType: z.literal('INDIVIDUAL').describe('The customer type: a person.'),
    ...created,
    ...individualFields,
  }),
  requestObject('CreateBusinessCustomer', {
    customerType: z.literal('BUSINESS').describe('The customer type: a company.'),
    ...created,
    businessInfo,
    address: AddressSchema.optional(),
    beneficialOwners: listOf(BeneficialOwnerSchema).optional().describe('The people who own or control the company.'),
  }),
]);

/** The body that changes a customer. Omitted fields stay unchanged, and null clears a field. */
const UpdateCustomerBody = variants('UpdateCustomer', 'customerType', [
  requestObject('UpdateIndividualCustomer', {
    customerType: z.literal('INDIVIDUAL').describe('The customer type: a person. It cannot change.'),
    umaAddress: umaAddress.nullish(),
    metadata: changedMetadata,
    fullName: individualFields.fullName.nullable(),
    birthDate: individualFields.birthDate.nullable(),
    nationality: individualFields.nationality.nullable(),
    address: changed(AddressSchema).describe('Postal address.'),
  }),
  requestObject('UpdateBusinessCustomer', {
    customerType: z.literal('BUSINESS').describe('The customer type: a company. It cannot change.'),
    umaAddress: umaAddress.nullish(),
    metadata: changedMetadata,
    businessInfo: requestObject('UpdateBusinessInfo', {
      legalName: companyFields.legalName.nullish(),
      registrationNumber: companyFields.registrationNumber.nullable(),
      taxId: companyFields.taxId.nullable(),
    }).nullish(),
    address: changed(AddressSchema).describe('Postal address.'),
    beneficialOwners: changed(listOf(BeneficialOwnerSchema)).describe(
      'The people who own or control the company. The list replaces the current one.',
    ),
  }),
]);

const common = {
  id: id('Customer', 'The id of the customer.'),
  platformCustomerId,
  umaAddress,
  kycStatus: oneOf(
    KycStatus,
    "The status of the customer's identity check. Only APPROVED and MANUALLY_APPROVED let the customer move money.",
  ),
  isDeleted: boolean(
    'Whether the customer was deleted. A deleted customer keeps its history, but can no longer make or receive payments.',
  ),
  frozenAt: time("When the service's operator froze the customer; absent if it is not frozen.").optional(),
  metadata,
  createdAt: time('When the customer was created.'),
  updatedAt: time('When the customer last changed.'),
};

export const CustomerSchema = variants('Customer', 'customerType', [
  responseObject('IndividualCustomer', {
    customerType: z.literal('INDIVIDUAL').describe('The customer type: a person.'),
    ...common,
    ...individualFields,
  }),
  responseObject('BusinessCustomer', {
    customerType: z.literal('BUSINESS').describe('The customer type: a company.'),
    ...common,
    businessInfo,
    address: AddressSchema.optional(),
    beneficialOwners: listOf(BeneficialOwnerSchema).describe('The people who own or control the company.'),
  }),
]).describe('A person or company for whom the platform moves money.');

function names<Fields extends object>(fields: Fields) {
  return Object.keys(fields) as (keyof Fields & string)[];
}

const paths: PathTable<CreateCustomer & UpdateCustomer> = [
  [['details'], ['customerType']],
  ...([...names(personFields), 'fullName', 'beneficialOwners'] as const).map((name) =>
    renamed(['details', name], [name]),
  ),
  ...names(companyFields).map((name) => renamed(['details', name], ['businessInfo', name])),
];

const params = z.object({ customerId: id('Customer', 'The id of the customer.') });

function detailsOf(body: z.infer<typeof CreateCustomerBody> | z.infer<typeof UpdateCustomerBody>): CustomerDetails {
  if (body.customerType === 'INDIVIDUAL') {
    const { customerType, fullName, birthDate, nationality, address } = body;
    return { customerType, fullName, birthDate, nationality, address };
  }
  const { customerType, businessInfo, address, beneficialOwners } = body;
  return { customerType, ...businessInfo, address, beneficialOwners };
}

/** Adds the customer endpoints. */
export function customerEndpoints(endpoints: Endpoints, payments: Payments): void {
  endpoints.command('createCustomer', {
    summary: 'Create a customer',
    description: "Creates a customer, with an internal account in each of the platform's currencies.",
    at: 'post /customers',
    body: CreateCustomerBody,
    answer: [201, CustomerSchema, 'The new customer.'],
    errors: [],
    paths,
    run: (body, { viewer, key }) => {
      const { platformCustomerId, umaAddress, metadata } = body;
      const input = { platformCustomerId, umaAddress, metadata, details: detailsOf(body) };
      return createCustomer(payments, viewer, input, key);
    },
    record,
  });

  addPagedList(endpoints, 'listCustomers', {
    summary: 'List customers',
    description: 'The customers that match all given filters, paginated.',
    at: '/customers',
    filters: {
      platformCustomerId: string('Only the customer with this platformCustomerId.').optional(),
      customerType: oneOf(CustomerType, 'Only people or only companies.').optional(),
      ...createdParameters,
      ...updatedParameters,
      umaAddress: string('Only the customer with this UMA address (case-insensitive).').optional(),
      kycStatus: anyOf(KycStatus, 'Only customers with any of these statuses.'),
      name: string('Only customers whose name begins with this text (case-insensitive).').optional(),
      isIncludingDeleted: flag('Whether to include deleted customers.'),
      ...orderParameters,
    },
    item: CustomerSchema,
    name: 'CustomerPage',
    list: rowList(payments.database, 'Customer', { where: whereCustomers, record }),
  });

  endpoints.readOne('getCustomer', {
    summary: 'Get a customer',
    description: 'The customer with this id, even if it was deleted.',
    at: '/customers/{customerId}',
    params,
    answer: [CustomerSchema, 'The customer.'],
    type: 'Customer',
    find: (viewer, id) => readRow(payments.database, 'Customer', { AND: [visibleCustomers(viewer), { id }] }),
    missing: ['USER_NOT_FOUND', 'no such customer'],
    record,
  });

  endpoints.command('updateCustomer', {
    summary: 'Change a customer',
    description: 'Omitted fields stay unchanged. In the sandbox, changing the name also sets the KYC status.',
    at: 'patch /customers/{customerId}',
    params,
    body: UpdateCustomerBody,
    answer: [200, CustomerSchema, 'The changed customer.'],
    errors: [404, 410],
    paths,
    run: (given, { viewer, key }) => {
      const { customerId, umaAddress, metadata, expectedVersion } = given;
      const input = { customerId, umaAddress, metadata, expectedVersion, details: detailsOf(given) };
      return updateCustomer(payments, viewer, input, key);
    },
    record,
  });

  endpoints.command('deleteCustomer', {
    summary: 'Delete a customer',
    description:
      'A customer that still holds money or has payments in progress cannot be deleted. The error CUSTOMER_IN_USE says why: its `details` contain `balances` (`accountId`, `amount`, `currency`), `paymentsUnderWay` and `transactionIds` (the 20 oldest payments in progress). The history of a deleted customer is kept. The customer can no longer make or receive payments, its UMA address becomes available again, and the client tokens of its apps are revoked.',
    at: 'delete /customers/{customerId}',
    params,
    answer: [200, CustomerSchema, 'The deleted customer.'],
    errors: [404, 410],
    run: (input, { viewer, key }) => deleteCustomer(payments, viewer, input, key),
    record,
  });
}

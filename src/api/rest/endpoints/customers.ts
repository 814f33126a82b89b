import { z } from '@hono/zod-openapi';
import { visibleCustomers } from '../../../domain/access/visible.ts';
import type { Payments } from '../../../domain/commands/command.ts';
import { whereCustomers } from '../../../domain/commands/filters.ts';
import { deleteCustomer, updateCustomer } from '../../../domain/customers/customer-changes.ts';
import { type CustomerDetails, createCustomer } from '../../../domain/customers/customers.ts';
import { CustomerType, KycStatus } from '../../../infra/database/generated/client/client.ts';
import { readRow } from '../../../infra/database/read-rows.ts';
import { customerRecord as record } from '../../records/customer-record.ts';
import type { RestApp } from '../app.ts';
import { Endpoints } from '../endpoint.ts';
import { customerPaths as paths } from '../input-paths.ts';
import { addPagedList, anyOf, createdParameters, flag, orderParameters, rowList, updatedParameters } from '../lists.ts';
import { CreateCustomerBody, CustomerSchema, UpdateCustomerBody } from '../schemas/customer-schemas.ts';
import { id } from '../schemas/fields.ts';

const params = z.object({ customerId: id('Customer', 'The id of the customer.') });

function detailsOf(body: z.infer<typeof CreateCustomerBody> | z.infer<typeof UpdateCustomerBody>): CustomerDetails {
  if (body.customerType === 'INDIVIDUAL') {
    const { customerType, fullName, birthDate, nationality, address } = body;
    return { customerType, fullName, birthDate, nationality, address };
  }
  const { customerType, businessInfo, address, beneficialOwners } = body;
  return { customerType, ...businessInfo, address, beneficialOwners };
}

/** Adds the endpoints of customers (specification 4.11, decision 47). */
export function customerEndpoints(app: RestApp, payments: Payments): void {
  const { database } = payments;
  const endpoints = new Endpoints(app, 'Customers');

  endpoints.command('createCustomer', {
    summary: 'Create a customer',
    description: 'Creates a customer, with an internal account in each currency of the platform.',
    at: 'post /customers',
    body: CreateCustomerBody,
    answer: [201, CustomerSchema, 'The new customer.'],
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
    description: 'The customers that match all given filters, in pages.',
    at: '/customers',
    filters: {
      platformCustomerId: z.string().optional().describe('Only the customer with this platformCustomerId.'),
      customerType: z.enum(CustomerType).optional().describe('Only persons, or only companies.'),
      ...createdParameters,
      ...updatedParameters,
      umaAddress: z.string().optional().describe('Only the customer with this UMA address, case-insensitively.'),
      kycStatus: anyOf(KycStatus, 'Only customers with any of these statuses.'),
      name: z.string().optional().describe('Only customers whose name begins with this text, case-insensitively.'),
      isIncludingDeleted: flag('Whether to include deleted customers.'),
      ...orderParameters,
    },
    item: CustomerSchema,
    name: 'CustomerPage',
    list: rowList(database, 'Customer', { where: whereCustomers, record }),
  });

  endpoints.readOne('getCustomer', {
    summary: 'Get a customer',
    description: 'The customer with this id, even if it was deleted.',
    at: '/customers/{customerId}',
    params,
    answer: [CustomerSchema, 'The customer.'],
    type: 'Customer',
    find: (viewer, id) => readRow(database, 'Customer', { AND: [visibleCustomers(viewer), { id }] }),
    missing: ['USER_NOT_FOUND', 'no such customer'],
    record,
  });

  endpoints.command('updateCustomer', {
    summary: 'Change a customer',
    description: 'Fields that are left out stay unchanged. In the sandbox, a new name also sets the KYC status.',
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
      "A customer that still holds money or has payments in progress is refused with CUSTOMER_IN_USE: `details` contains `balances` (`accountId`, `amount`, `currency`), `paymentsUnderWay` and the oldest 20 `transactionIds`. The customer's history is kept. It can no longer make or receive payments, its UMA address becomes available, and its apps' client tokens are revoked.",
    at: 'delete /customers/{customerId}',
    params,
    answer: [200, CustomerSchema, 'The deleted customer.'],
    errors: [404, 410],
    run: (input, { viewer, key }) => deleteCustomer(payments, viewer, input, key),
    record,
  });
}

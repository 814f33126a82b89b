import { createRoute, z } from '@hono/zod-openapi';
import { uuidOf } from '../../../core/ids.ts';
import { Refusal } from '../../../core/refusal.ts';
import { visibleCustomers } from '../../../domain/access/visible.ts';
import type { Payments } from '../../../domain/commands/command.ts';
import { whereCustomers } from '../../../domain/commands/filters.ts';
import { deleteCustomer, updateCustomer } from '../../../domain/customers/customer-changes.ts';
import { type CustomerDetails, createCustomer } from '../../../domain/customers/customers.ts';
import { CustomerType, KycStatus } from '../../../infra/database/generated/client/client.ts';
import { readRow } from '../../../infra/database/read-rows.ts';
import { customerRecord } from '../../records/customer-record.ts';
import type { RestApp } from '../app.ts';
import {
  body,
  command,
  commandEndpoint,
  commandErrors,
  commandResponse,
  noQuery,
  readErrors,
  taggedResponse,
  viewEndpoint,
} from '../endpoint.ts';
import { setTag } from '../entity-tags.ts';
import { customerPaths, samePaths } from '../input-paths.ts';
import {
  anyOf,
  createdParameters,
  flag,
  orderParameters,
  pagedEndpoint,
  pageHandler,
  rowList,
  updatedParameters,
} from '../lists.ts';
import { CreateCustomerBody, CustomerSchema, UpdateCustomerBody } from '../schemas/customer-schemas.ts';
import { id } from '../schemas/fields.ts';

const tags = ['Customers'];

const create = createRoute({
  ...commandEndpoint('createCustomer', {
    tags,
    summary: 'Create a customer',
    description: 'Creates a customer, with an internal account in each currency of the platform.',
  }),
  method: 'post',
  path: '/customers',
  request: { query: noQuery, body: body(CreateCustomerBody) },
  responses: { 201: commandResponse(CustomerSchema, 'The new customer.'), ...commandErrors() },
});

const list = pagedEndpoint({
  access: viewEndpoint({
    operationId: 'listCustomers',
    tags,
    summary: 'List customers',
    description: 'The customers that match all given filters, in pages.',
  }),
  path: '/customers',
  filters: {
    platformCustomerId: z.string().optional().describe("Only the customer with this id of the platform's own."),
    customerType: z.enum(CustomerType).optional().describe('Only persons, or only companies.'),
    ...createdParameters,
    ...updatedParameters,
    umaAddress: z.string().optional().describe('Only the customer with this UMA address, case-insensitively.'),
    kycStatus: anyOf(KycStatus, 'Only customers with any of these statuses.'),
    name: z.string().optional().describe('Only customers whose full or legal name begins with this, in any case.'),
    isIncludingDeleted: flag('Whether to include deleted customers.'),
    ...orderParameters,
  },
  item: CustomerSchema,
  name: 'CustomerPage',
});

const customerPath = z.object({ customerId: id('Customer', 'The id of the customer.') });

const get = createRoute({
  ...viewEndpoint({
    operationId: 'getCustomer',
    tags,
    summary: 'Get a customer',
    description: 'The customer with this id, even if it was deleted.',
  }),
  method: 'get',
  path: '/customers/{customerId}',
  request: { params: customerPath, query: noQuery },
  responses: { 200: taggedResponse(CustomerSchema, 'The customer.'), ...readErrors(404) },
});

const update = createRoute({
  ...commandEndpoint('updateCustomer', {
    tags,
    summary: 'Change a customer',
    description: 'Fields that are left out stay unchanged. In the sandbox a new name also sets the KYC status.',
  }),
  method: 'patch',
  path: '/customers/{customerId}',
  request: { params: customerPath, query: noQuery, body: body(UpdateCustomerBody) },
  responses: { 200: commandResponse(CustomerSchema, 'The customer as it is now.'), ...commandErrors(404, 410, 412) },
});

const remove = createRoute({
  ...commandEndpoint('deleteCustomer', {
    tags,
    summary: 'Delete a customer',
    description:
      "A customer that still holds money or has payments in progress is refused with CUSTOMER_IN_USE: `details` has `balances` (`accountId`, `amount`, `currency`), `paymentsUnderWay` and the oldest 20 `transactionIds`. The customer's history is kept. It can no longer make or receive payments, its UMA address becomes available, and its apps' client tokens are revoked.",
  }),
  method: 'delete',
  path: '/customers/{customerId}',
  request: { params: customerPath, query: noQuery },
  responses: { 200: commandResponse(CustomerSchema, 'The customer, deleted.'), ...commandErrors(404, 410, 412) },
});

type DetailsBody = z.infer<typeof CreateCustomerBody> | z.infer<typeof UpdateCustomerBody>;

function detailsOf(body: DetailsBody): CustomerDetails {
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

  app.openapi(create, async (context) => {
    const body = context.req.valid('json');
    const { platformCustomerId, umaAddress, metadata } = body;
    const input = { platformCustomerId, umaAddress, metadata, details: detailsOf(body) };
    const row = await command(context, customerPaths, (key, viewer) => createCustomer(payments, viewer, input, key));
    return context.json(customerRecord(row), 201);
  });

  const customers = rowList(database, 'Customer', { where: whereCustomers, record: customerRecord });
  app.openapi(list, pageHandler(customers));

  app.openapi(get, async (context) => {
    const uuid = uuidOf(context.req.valid('param').customerId, 'Customer');
    const row = uuid
      ? await readRow(database, 'Customer', { AND: [visibleCustomers(context.get('viewer')), { id: uuid }] })
      : null;
    if (!row) throw new Refusal('USER_NOT_FOUND', 'no such customer', { path: ['customerId'] });
    setTag(context, row.version);
    return context.json(customerRecord(row), 200);
  });

  app.openapi(update, async (context) => {
    const { customerId } = context.req.valid('param');
    const body = context.req.valid('json');
    const { umaAddress, metadata } = body;
    const input = { customerId, umaAddress, metadata, details: detailsOf(body) };
    const row = await command(context, customerPaths, (key, viewer, expecting) =>
      updateCustomer(payments, viewer, { ...input, ...expecting }, key),
    );
    return context.json(customerRecord(row), 200);
  });

  app.openapi(remove, async (context) => {
    const { customerId } = context.req.valid('param');
    const row = await command(context, samePaths, (key, viewer, expecting) =>
      deleteCustomer(payments, viewer, { customerId, ...expecting }, key),
    );
    return context.json(customerRecord(row), 200);
  });
}

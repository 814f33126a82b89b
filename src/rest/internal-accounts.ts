import { createRoute, z } from '@hono/zod-openapi';
import type { Payments } from '../payments/command.ts';
import { whereAccounts } from '../payments/filters.ts';
import { internalAccountRecord } from '../payments/records/account-record.ts';
import type { RestApp } from './app.ts';
import { answers, readErrors, reading } from './endpoint.ts';
import { pageOf, pageParameters, readList } from './lists.ts';
import { AmountSchema, id, time } from './money.ts';
import { PaymentInstructionSchema } from './payment-schemas.ts';

const tags = ['Internal accounts'];
const currency = z.string().optional().openapi({ description: 'Currency code.', example: 'USD' });

/** An internal account in an answer. */
export const InternalAccountSchema = z
  .object({
    id: id('InternalAccount', 'Its id.'),
    customerId: id('Customer', "Its owner; not there when it is the platform's own.").optional(),
    balance: AmountSchema.openapi({ description: 'What can be spent.' }),
    totalBalance: AmountSchema.openapi({ description: 'What can be spent and what is held.' }),
    fundingPaymentInstructions: z
      .array(PaymentInstructionSchema)
      .openapi({ description: 'How to bring money in from outside; any one of them.' }),
    createdAt: time('When it was made.'),
    updatedAt: time('When it last changed.'),
  })
  .openapi('InternalAccount', { description: 'A balance held here, in one currency (specification 2.11).' });

const customers = createRoute({
  ...reading({ operationId: 'listCustomerInternalAccounts', tags, summary: "List customers' internal accounts" }),
  method: 'get',
  path: '/customers/internal-accounts',
  request: {
    query: z.strictObject({
      currency,
      customerId: id('Customer', 'The owner.').optional(),
      ...pageParameters,
    }),
  },
  responses: {
    200: answers(pageOf(InternalAccountSchema, 'InternalAccountPage'), 'A page of accounts.'),
    ...readErrors(),
  },
});

const platform = createRoute({
  ...reading({ operationId: 'listPlatformInternalAccounts', tags, summary: "List the platform's internal accounts" }),
  method: 'get',
  path: '/platform/internal-accounts',
  request: { query: z.strictObject({ currency }) },
  responses: {
    200: answers(
      z
        .object({ data: z.array(InternalAccountSchema).openapi({ description: 'All of them.' }) })
        .openapi('InternalAccountList'),
      'All of them.',
    ),
    ...readErrors(),
  },
});

/** Adds the endpoints of internal accounts (specification 4.13, domain-facts 7.1). */
export function internalAccountEndpoints(app: RestApp, payments: Payments): void {
  const { prisma } = payments.database;

  app.openapi(customers, async (context) => {
    const viewer = context.get('viewer');
    const query = context.req.valid('query');
    const page = await readList({
      list: 'Account',
      viewer,
      query,
      where: whereAccounts(viewer.platformId, { ...query, kind: 'INTERNAL', platformOwned: false }),
      rows: (asked) => prisma.account.findMany(asked),
      count: (where) => prisma.account.count({ where }),
      record: internalAccountRecord,
    });
    return context.json(page, 200);
  });

  app.openapi(platform, async (context) => {
    const { platformId } = context.get('viewer');
    const rows = await prisma.account.findMany({
      where: whereAccounts(platformId, { ...context.req.valid('query'), kind: 'INTERNAL', platformOwned: true }),
      orderBy: { id: 'desc' },
    });
    return context.json({ data: rows.map(internalAccountRecord) }, 200);
  });
}

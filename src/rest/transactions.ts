import { createRoute, z } from '@hono/zod-openapi';
import { TransactionStatus, TransactionType } from '../database/generated/client/client.ts';
import type { Payments } from '../payments/command.ts';
import { whereTransactions } from '../payments/filters.ts';
import { uuidOf } from '../payments/ids.ts';
import { paymentEnds } from '../payments/records/payment-ends.ts';
import { transactionRecord } from '../payments/records/transaction-record.ts';
import { Refusal } from '../payments/refusal.ts';
import type { RestApp } from './app.ts';
import { answers, noQuery, readErrors, reading } from './endpoint.ts';
import { anyOf, moment, pageOf, pageParameters, readList } from './lists.ts';
import { id } from './money.ts';
import { TransactionSchema } from './payment-schemas.ts';

const tags = ['Transactions'];

const list = createRoute({
  ...reading({
    operationId: 'listTransactions',
    tags,
    summary: 'List transactions',
    description: 'All filters given apply.',
  }),
  method: 'get',
  path: '/transactions',
  request: {
    query: z.strictObject({
      customerId: id('Customer', 'The customer whose transaction it is.').optional(),
      platformCustomerId: z.string().optional().openapi({ description: "The platform's own id of that customer." }),
      senderAccountIdentifier: z
        .string()
        .optional()
        .openapi({ description: 'The source: an account id or a UMA address.' }),
      receiverAccountIdentifier: z
        .string()
        .optional()
        .openapi({ description: 'The destination: an account id or a UMA address.' }),
      status: anyOf(Object.values(TransactionStatus) as [TransactionStatus, ...TransactionStatus[]], 'Any of these.'),
      type: z.enum(TransactionType).optional().openapi({ description: 'Which way the money goes.' }),
      reference: z.string().optional().openapi({ description: 'The reconciliation reference.' }),
      startDate: moment('Created then or later.'),
      endDate: moment('Created then or earlier.'),
      ...pageParameters,
      sortOrder: z.enum(['asc', 'desc']).default('desc').openapi({ description: 'Newest first unless asc.' }),
    }),
  },
  responses: {
    200: answers(pageOf(TransactionSchema, 'TransactionPage'), 'A page of transactions.'),
    ...readErrors(),
  },
});

const get = createRoute({
  ...reading({ operationId: 'getTransaction', tags, summary: 'Get a transaction' }),
  method: 'get',
  path: '/transactions/{transactionId}',
  request: { params: z.object({ transactionId: id('Transaction', 'The transaction.') }), query: noQuery },
  responses: { 200: answers(TransactionSchema, 'The transaction.'), ...readErrors(404) },
});

/** Adds the endpoints of transactions (specification 4.4, 4.5). */
export function transactionEndpoints(app: RestApp, payments: Payments): void {
  const { prisma } = payments.database;

  app.openapi(list, async (context) => {
    const viewer = context.get('viewer');
    const query = context.req.valid('query');
    const page = await readList({
      list: 'Transaction',
      viewer,
      query,
      where: whereTransactions(viewer.platformId, query),
      rows: (asked) => prisma.transaction.findMany({ ...asked, include: paymentEnds }),
      count: (where) => prisma.transaction.count({ where }),
      record: (row) => transactionRecord(row, row),
    });
    return context.json(page, 200);
  });

  app.openapi(get, async (context) => {
    const uuid = uuidOf(context.req.valid('param').transactionId, 'Transaction');
    const { platformId } = context.get('viewer');
    const transaction = uuid
      ? await prisma.transaction.findUnique({
          where: { platformId_id: { platformId, id: uuid } },
          include: paymentEnds,
        })
      : null;
    if (!transaction) throw new Refusal('TRANSACTION_NOT_FOUND', 'no such transaction', { field: 'transactionId' });
    return context.json(transactionRecord(transaction, transaction), 200);
  });
}

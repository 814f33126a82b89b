import { createRoute, z } from '@hono/zod-openapi';
import { uuidOf } from '../../../core/ids.ts';
import { Refusal } from '../../../core/refusal.ts';
import { longest } from '../../../core/texts.ts';
import type { Viewer } from '../../../domain/access/viewer.ts';
import { visibleTransactions } from '../../../domain/access/visible.ts';
import { approveTransaction, rejectTransaction } from '../../../domain/approvals/approvals.ts';
import type { Payments } from '../../../domain/commands/command.ts';
import { type TransactionFilter, whereTransactions } from '../../../domain/commands/filters.ts';
import { FailureReason, TransactionStatus, TransactionType } from '../../../infra/database/generated/client/client.ts';
import { readRow } from '../../../infra/database/read-rows.ts';
import type { Transaction } from '../../../infra/database/rows.ts';
import { type PaymentParties, paymentParties, readPaymentParties } from '../../records/payment-parties.ts';
import { transactionRecord } from '../../records/transaction-record.ts';
import type { RestApp } from '../app.ts';
import {
  command,
  commandEndpointWithOptionalBody,
  commandErrors,
  commandResponse,
  noQuery,
  optionalBody,
  readErrors,
  taggedResponse,
  viewEndpoint,
} from '../endpoint.ts';
import { setTag } from '../entity-tags.ts';
import { samePaths } from '../input-paths.ts';
import {
  amountParameter,
  anyOf,
  choice,
  moment,
  orderParameters,
  pagedEndpoint,
  pageHandler,
  rowList,
  updatedParameters,
} from '../lists.ts';
import { facts, id, text } from '../schemas/fields.ts';
import { TransactionSchema } from '../schemas/payment-schemas.ts';

const tags = ['Transactions'];

const list = pagedEndpoint({
  access: viewEndpoint({
    operationId: 'listTransactions',
    tags,
    summary: 'List transactions',
    description: 'The payments that match all given filters, in pages.',
  }),
  path: '/transactions',
  filters: {
    customerId: id('Customer', 'Only payments of this customer.').optional(),
    platformCustomerId: z.string().optional().describe('Only payments of the customer with this id of your own.'),
    senderAccountIdentifier: z.string().optional().describe('Only payments from this account id or UMA address.'),
    receiverAccountIdentifier: z.string().optional().describe('Only payments to this account id or UMA address.'),
    status: anyOf(TransactionStatus, 'Only payments with any of these values.'),
    type: anyOf(TransactionType, 'Only payments in any of these directions.'),
    failureReason: anyOf(FailureReason, 'Only payments with any of these values.'),
    reference: z.string().optional().describe('Only payments with exactly this reconciliation reference.'),
    accountId: z.string().optional().describe('Only payments from or to this account.'),
    currency: z.string().optional().describe('Only payments that are sent or received in the currency with this code.'),
    minAmount: amountParameter('The smallest amount sent or received, in `currency`, which is then required.'),
    maxAmount: amountParameter('The largest amount sent or received, in `currency`, which is then required.'),
    executed: choice(
      '`true` excludes the payments of quotes that were not executed or funded; `false` returns only those.',
    ),
    startDate: moment('Created at this time or later.'),
    endDate: moment('Created at this time or earlier.'),
    ...updatedParameters,
    ...orderParameters,
  },
  item: TransactionSchema,
  name: 'TransactionPage',
});

/** The filters of the list under their REST names. */
type ListParameters = Omit<TransactionFilter, 'amount' | 'createdAfter' | 'createdBefore'> & {
  readonly startDate?: Date | undefined;
  readonly endDate?: Date | undefined;
  readonly minAmount?: bigint | undefined;
  readonly maxAmount?: bigint | undefined;
};

/** Converts the list's parameters to the domain's filter. Throws INVALID_INPUT for amounts without a currency. */
function filterOf({ startDate, endDate, minAmount: min, maxAmount: max, ...rest }: ListParameters): TransactionFilter {
  const filter = { ...rest, createdAfter: startDate, createdBefore: endDate };
  if (min === undefined && max === undefined) return filter;
  const { currency } = rest;
  if (currency == null)
    throw new Refusal('INVALID_INPUT', 'a range of amounts needs a currency', { path: ['currency'] });
  return { ...filter, currency: undefined, amount: { currency, min, max } };
}

const transactionPath = z.object({ transactionId: id('Transaction', 'The id of the transaction.') });

const get = createRoute({
  ...viewEndpoint({
    operationId: 'getTransaction',
    tags,
    summary: 'Get a transaction',
    description: 'The payment with this id, with its current status.',
  }),
  method: 'get',
  path: '/transactions/{transactionId}',
  request: { params: transactionPath, query: noQuery },
  responses: { 200: taggedResponse(TransactionSchema, 'The transaction.'), ...readErrors(404) },
});

const approve = createRoute({
  ...commandEndpointWithOptionalBody('approveTransaction', {
    tags,
    summary: 'Approve a payment',
    description:
      'Approves a payment before its approval deadline. One that a policy holds back (CREATED) needs APPROVE, and another token than the one that asked for it. An incoming payment (PENDING) needs TRANSACT: if mandatory information about the receiver is neither in the request nor in the customer record, the payment ends FAILED with MISSING_MANDATORY_PAYEE_DATA.',
  }),
  method: 'post',
  path: '/transactions/{transactionId}/approve',
  request: {
    params: transactionPath,
    query: noQuery,
    body: optionalBody(
      z
        .strictObject({
          receiverCustomerInfo: facts()
            .optional()
            .describe('The information about the receiver that the sending side requests, by name.'),
        })
        .openapi('ApproveTransaction'),
    ),
  },
  responses: {
    200: commandResponse(TransactionSchema, 'The payment, which has now begun.'),
    ...commandErrors(404, 412),
  },
});

const reject = createRoute({
  ...commandEndpointWithOptionalBody('rejectTransaction', {
    tags,
    summary: 'Reject a payment',
    description:
      'Possible until the approval deadline. The payment ends REJECTED, and money that was taken goes back. One that a policy holds back needs APPROVE, an incoming one TRANSACT.',
  }),
  method: 'post',
  path: '/transactions/{transactionId}/reject',
  request: {
    params: transactionPath,
    query: noQuery,
    body: optionalBody(
      z
        .strictObject({
          reason: text(longest.memo).optional().describe('Why it is rejected, for the timeline.'),
        })
        .openapi('RejectTransaction'),
    ),
  },
  responses: { 200: commandResponse(TransactionSchema, 'The payment, REJECTED.'), ...commandErrors(404, 412) },
});

/** Adds the endpoints of transactions (specification 4.4, 4.5; decision 33). */
export function transactionEndpoints(app: RestApp, payments: Payments): void {
  const { database } = payments;
  const record = async (row: Transaction) => transactionRecord(row, await readPaymentParties(database.pool, row));

  const transactions = rowList(database, 'Transaction', {
    where: (viewer: Viewer, query: ListParameters) => whereTransactions(viewer, filterOf(query)),
    extra: paymentParties,
    record: (row: Transaction & PaymentParties) => transactionRecord(row, row),
  });
  app.openapi(list, pageHandler(transactions));

  app.openapi(get, async (context) => {
    const uuid = uuidOf(context.req.valid('param').transactionId, 'Transaction');
    const where = { AND: [visibleTransactions(context.get('viewer')), { id: uuid }] };
    const transaction = uuid ? await readRow(database, 'Transaction', where, paymentParties) : null;
    if (!transaction) throw new Refusal('TRANSACTION_NOT_FOUND', 'no such transaction', { path: ['transactionId'] });
    setTag(context, transaction.version);
    return context.json(transactionRecord(transaction, transaction), 200);
  });

  app.openapi(approve, async (context) => {
    const { transactionId } = context.req.valid('param');
    const receiverInfo = context.req.valid('json').receiverCustomerInfo;
    const receiverCustomerInfo = receiverInfo && Object.entries(receiverInfo).map(([name, value]) => ({ name, value }));
    const row = await command(context, samePaths, (key, viewer, expecting) =>
      approveTransaction(payments, viewer, { transactionId, receiverCustomerInfo, ...expecting }, key),
    );
    return context.json(await record(row), 200);
  });

  app.openapi(reject, async (context) => {
    const { transactionId } = context.req.valid('param');
    const { reason } = context.req.valid('json');
    const row = await command(context, samePaths, (key, viewer, expecting) =>
      rejectTransaction(payments, viewer, { transactionId, reason, ...expecting }, key),
    );
    return context.json(await record(row), 200);
  });
}

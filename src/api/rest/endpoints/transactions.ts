import { z } from '@hono/zod-openapi';
import { invalid, type PathTable } from '../../../core/refusal.ts';
import { longest } from '../../../core/texts.ts';
import type { Viewer } from '../../../domain/access/caller.ts';
import { visibleTransactions } from '../../../domain/access/visible.ts';
import { approveTransaction, rejectTransaction } from '../../../domain/approvals/approvals.ts';
import type { Payments } from '../../../domain/commands/command.ts';
import { type TransactionFilter, whereTransactions } from '../../../domain/commands/filters.ts';
import { type Transfer, transferIn, transferInternal, transferOut } from '../../../domain/transfers/transfers.ts';
import { FailureReason, TransactionStatus, TransactionType } from '../../../infra/database/generated/client/client.ts';
import { readRow } from '../../../infra/database/read-rows.ts';
import type { Transaction } from '../../../infra/database/rows.ts';
import {
  type PaymentParties,
  paymentParties,
  readPaymentParties,
  transactionRecord,
} from '../../records/payment-records.ts';
import type { Endpoints } from '../endpoint.ts';
import {
  addPagedList,
  amountParameter,
  anyOf,
  choice,
  moment,
  orderParameters,
  rowList,
  updatedParameters,
} from '../lists.ts';
import { amountInput, factList, facts, id, newMetadata, requestObject, string, text } from '../schemas/fields.ts';
import { TransactionSchema } from '../schemas/payment-schemas.ts';
import { checkNamedAccount } from './accounts.ts';

const filters = {
  customerId: string('Only payments of this customer.').optional(),
  platformCustomerId: string('Only payments of the customer with this platformCustomerId.').optional(),
  senderAccountIdentifier: string('Only payments from this account id or UMA address.').optional(),
  receiverAccountIdentifier: string('Only payments to this account id or UMA address.').optional(),
  status: anyOf(TransactionStatus, 'Only payments with any of these statuses.'),
  type: anyOf(TransactionType, 'Only payments in any of these directions.'),
  failureReason: anyOf(FailureReason, 'Only payments that failed for any of these reasons.'),
  reference: string('Only payments with exactly this reconciliation reference.').optional(),
  accountId: string('Only payments from or to this account.').optional(),
  currency: string('Only payments that are sent or received in the currency with this code.').optional(),
  minAmount: amountParameter('The minimum amount, sent or received, in `currency`, which is then required.'),
  maxAmount: amountParameter('The maximum amount, sent or received, in `currency`, which is then required.'),
  executed: choice(
    '`true` excludes the payments of quotes that were not executed or funded; `false` returns only those.',
  ),
  startDate: moment('Created at this time or later.'),
  endDate: moment('Created at this time or earlier.'),
  ...updatedParameters,
  ...orderParameters,
};

type ListParameters = z.output<z.ZodObject<typeof filters>>;

/** Converts the list's parameters to the domain's filter. Throws INVALID_INPUT for amounts without a currency. */
function filterOf({ startDate, endDate, minAmount: min, maxAmount: max, ...rest }: ListParameters): TransactionFilter {
  const filter = { ...rest, createdAfter: startDate, createdBefore: endDate };
  if (min === undefined && max === undefined) return filter;
  const { currency } = rest;
  if (currency == null) throw invalid('a range of amounts needs a currency', ['currency']);
  return { ...filter, currency: undefined, amount: { currency, min, max } };
}

const params = z.object({ transactionId: id('Transaction', 'The id of the transaction.') });

/** Adds the transaction endpoints. */
export function transactionEndpoints(endpoints: Endpoints, payments: Payments): void {
  const { database } = payments;
  const record = async (row: Transaction) => transactionRecord(row, await readPaymentParties(database.pool, row));
  const recordOf = (row: Transaction & PaymentParties) => transactionRecord(row, row);

  addPagedList(endpoints, 'listTransactions', {
    summary: 'List transactions',
    description: 'The payments that match all given filters, paginated.',
    at: '/transactions',
    filters,
    item: TransactionSchema,
    name: 'TransactionPage',
    list: rowList(database, 'Transaction', {
      where: (viewer, query: ListParameters) => whereTransactions(viewer, filterOf(query)),
      extra: paymentParties,
      record: recordOf,
    }),
  });

  endpoints.readOne('getTransaction', {
    summary: 'Get a transaction',
    description: 'The payment with this id, with its current status.',
    at: '/transactions/{transactionId}',
    params,
    answer: [TransactionSchema, 'The transaction.'],
    type: 'Transaction',
    find: (viewer, id) =>
      readRow(database, 'Transaction', { AND: [visibleTransactions(viewer), { id }] }, paymentParties),
    missing: ['TRANSACTION_NOT_FOUND', 'no such transaction'],
    record: recordOf,
  });

  endpoints.command('approveTransaction', {
    summary: 'Approve a payment',
    description:
      'Approves a payment before its approval deadline. A payment that a policy holds back (CREATED) must be approved by a token that has the APPROVE permission and did not request the payment. Approving an incoming payment (PENDING) requires TRANSACT. If mandatory information about the receiver is neither in the request nor in the customer record, the payment fails with MISSING_MANDATORY_PAYEE_DATA.',
    at: 'post /transactions/{transactionId}/approve',
    params,
    body: requestObject('ApproveTransaction', {
      receiverCustomerInfo: facts()
        .optional()
        .describe('The receiver information that the sending side requests, keyed by field name.'),
    }),
    isBodyOptional: true,
    answer: [200, TransactionSchema, 'The payment after the approval.'],
    run: ({ receiverCustomerInfo: info, ...given }, { viewer, key }) =>
      approveTransaction(payments, viewer, { ...given, receiverCustomerInfo: info && factList(info) }, key),
    record,
  });

  endpoints.command('rejectTransaction', {
    summary: 'Reject a payment',
    description:
      'Rejects a payment before its approval deadline. It becomes REJECTED, and any money already taken is returned. Rejecting a payment that a policy holds back requires APPROVE; rejecting an incoming payment requires TRANSACT.',
    at: 'post /transactions/{transactionId}/reject',
    params,
    body: requestObject('RejectTransaction', {
      reason: text(longest.memo).optional().describe("The reason for the rejection, shown in the payment's timeline."),
    }),
    isBodyOptional: true,
    answer: [200, TransactionSchema, 'The payment, which is now REJECTED.'],
    run: (input, { viewer, key }) => rejectTransaction(payments, viewer, input, key),
    record,
  });
}

const isAccount = z.literal('ACCOUNT').optional().describe('The party type: always ACCOUNT.');

/** Defines a party to a transfer. Clients may add its type and currency, for example if they copy a response. */
function party<Type extends z.ZodRawShape>(type: Type, [idType, description]: Party) {
  return z
    .strictObject({
      ...type,
      accountId: id(idType, description),
      currency: string("The account's currency; optional, and checked if given.").optional(),
    })
    .openapi({ description });
}

type Party = readonly ['InternalAccount' | 'ExternalAccount', description: string];

const transferBody = <Amount extends z.ZodType>(name: string, source: Party, destination: Party, amount: Amount) =>
  z
    .strictObject({
      source: party({ sourceType: isAccount }, source),
      destination: party({ destinationType: isAccount }, destination),
      amount,
      description: text(longest.memo).optional().describe('A note for the payment, at most 500 characters.'),
      metadata: newMetadata,
    })
    .openapi(name);

const amount = amountInput("The amount, in the currency's smallest unit.");
const payer: Party = ['InternalAccount', 'The internal account that pays.'];
const receiver: Party = ['InternalAccount', 'The internal account that receives.'];
const otherOwner: Party = ['InternalAccount', 'The receiving internal account, which must belong to another owner.'];

const outside: Party = ['ExternalAccount', 'The external account that receives.'];
const TransferOutBody = transferBody('TransferOut', payer, outside, amount);

const TransferInBody = transferBody(
  'TransferIn',
  ['ExternalAccount', 'The external account to pull from.'],
  receiver,
  amountInput(
    "The amount, in the currency's smallest unit. If omitted, the provider determines the amount; the sandbox pulls 10000.",
  ).optional(),
);

const TransferInternalBody = transferBody('TransferInternal', payer, otherOwner, amount);

const paths: PathTable<Transfer> = [
  [['sourceAccountId'], ['source', 'accountId']],
  [['destinationAccountId'], ['destination', 'accountId']],
];

/** Adds the transfer endpoints. */
export function transferEndpoints(endpoints: Endpoints, payments: Payments): void {
  const { database } = payments;
  const shared = {
    paths,
    record: async (row: Transaction) => transactionRecord(row, await readPaymentParties(database.pool, row)),
  } as const;

  /** Returns the input for a transfer after checking the currencies that the request gives for its accounts. */
  const inputOf = async <Given extends Parties>(viewer: Viewer, { source, destination, ...rest }: Given) => {
    await checkNamedAccount(database, viewer, { currency: ['source', 'currency'] }, source);
    await checkNamedAccount(database, viewer, { currency: ['destination', 'currency'] }, destination);
    return { sourceAccountId: source.accountId, destinationAccountId: destination.accountId, ...rest };
  };

  endpoints.command('transferOut', {
    summary: 'Transfer to an external account, in one currency',
    description:
      'Debits an internal account immediately. The payment is PENDING until the money has arrived in the external account, or has been returned after a failure.',
    at: 'post /transfer-out',
    body: TransferOutBody,
    answer: [201, TransactionSchema, 'The payment: PENDING, or CREATED if it needs approval.'],
    run: async (given, { viewer, key }) => transferOut(payments, viewer, await inputOf(viewer, given), key),
    ...shared,
  });

  endpoints.command('transferIn', {
    summary: 'Transfer from an external account, in one currency',
    description: 'Pulls money from an external account. The internal account is credited when the money has arrived.',
    at: 'post /transfer-in',
    body: TransferInBody,
    answer: [201, TransactionSchema, 'The payment: PENDING, or CREATED if it needs approval.'],
    run: async (given, { viewer, key }) => transferIn(payments, viewer, await inputOf(viewer, given), key),
    ...shared,
  });

  endpoints.command('transferInternal', {
    summary: 'Transfer between internal accounts, in one currency',
    description:
      "Between a customer and the platform, or between customers. The platform's own account can receive money even from a customer who is not allowed to move money or was deleted. The receiver gets a separate INCOMING transaction.",
    at: 'post /transfer-internal',
    body: TransferInternalBody,
    answer: [201, TransactionSchema, "The source's OUTGOING payment: COMPLETED, or CREATED if it needs approval."],
    run: async (given, { viewer, key }) => transferInternal(payments, viewer, await inputOf(viewer, given), key),
    ...shared,
  });
}

type Parties = Pick<z.infer<typeof TransferInBody>, 'source' | 'destination'>;

import { stored } from '../database/stored.ts';
import { publicId } from '../payments/ids.ts';
import { transferIn, transferOut } from '../payments/transfers.ts';
import { builder } from './builder.ts';
import { Customer } from './customer.ts';
import { FailureReason, TransactionStatus, TransactionType } from './enums.ts';
import { TransactionFilter, whereTransactions } from './filters.ts';
import { InformationField, informationOf } from './information.ts';
import { pageArgs, rootPage, sortArg } from './list.ts';
import {
  type Money,
  MoneyType,
  maybeMoney,
  money,
  moneyOf,
  moneyRead,
  type RateDetails,
  RateDetailsType,
} from './money.ts';
import { mutation } from './mutation.ts';
import { loadNode } from './node.ts';
import {
  accountColumns,
  customerColumns,
  customerRead,
  destinationAccountPath,
  destinationOf,
  destinationRead,
  PaymentDestination,
  PaymentSource,
  rowWith,
  sourceAccountPath,
  sourceCustomerPath,
  sourceOf,
  sourceRead,
} from './parties.ts';
import { jsonObject, leaf, type Read, reads, toOne, typeReads } from './reading/reads.ts';
import { SandboxScenarioInput } from './scenario.ts';
import { maySeeCustomer, visibleTransactions } from './visible.ts';

const terminal: ReadonlySet<string> = new Set(['COMPLETED', 'REJECTED', 'FAILED', 'REFUNDED', 'EXPIRED']);

interface Refund {
  readonly reference: string;
  readonly amount: Money;
  readonly initiatedAt: Date;
  readonly settledAt: Date | null;
}

const RefundType = builder.objectRef<Refund>('Refund').implement({
  description: 'Money that came back.',
  fields: (t) => ({
    reference: t.exposeString('reference', {
      description: 'To find it again.',
      ...reads(leaf.text('refund_reference')),
    }),
    amount: t.expose('amount', {
      type: MoneyType,
      description: 'How much came back to the source.',
      ...reads(
        moneyOf(
          ({ row }) => `${row}.refund_amount`,
          ({ row }) => `coalesce(${row}.sent_currency, ${row}.received_currency)`,
        ),
      ),
    }),
    initiatedAt: t.expose('initiatedAt', {
      type: 'DateTime',
      description: 'When it was started.',
      ...reads(leaf.instant('refund_initiated_at')),
    }),
    settledAt: t.expose('settledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it had arrived.',
      ...reads(leaf.instant('refund_settled_at')),
    }),
  }),
});

export const Transaction = builder.prismaObject('Transaction', {
  description: 'A payment, out or in (specification 2.6).',
  interfaces: [builder.nodeInterfaceRef()],
  ...typeReads({ model: 'Transaction', visible: visibleTransactions }),
  select: { platformId: true, id: true },
  findUnique: (transaction) => ({ platformId_id: { platformId: transaction.platformId, id: transaction.id } }),
  fields: (t) => ({
    id: t.id({
      description: 'Its public id.',
      ...reads(leaf.id('Transaction')),
      resolve: (transaction) => publicId('Transaction', transaction.id),
    }),
    status: t.expose('status', { type: TransactionStatus, description: 'Where it stands.' }),
    type: t.expose('type', { type: TransactionType, description: 'Which way the money goes.' }),
    version: t.exposeInt('version', {
      description: 'Rises with each change: a cache can ignore what is older than what it has.',
    }),
    terminal: t.boolean({
      description: 'Whether it has come to its end. (Only a bank return changes a COMPLETED one, to REFUNDED.)',
      ...reads(leaf.of(({ row }) => [`is_terminal(${row}.status)::text`])),
      select: { status: true },
      resolve: (transaction) => terminal.has(transaction.status),
    }),
    sentAmount: t.field({
      type: MoneyType,
      nullable: true,
      description: 'What the source was debited; null where the sending side is not known.',
      ...reads(moneyRead('sent_amount', 'sent_currency')),
      select: { sentAmount: true, sentCurrency: true },
      resolve: (transaction) => maybeMoney(transaction.sentAmount, transaction.sentCurrency),
    }),
    receivedAmount: t.field({
      type: MoneyType,
      nullable: true,
      description: "What arrives, in the recipient's currency.",
      ...reads(moneyRead('received_amount', 'received_currency')),
      select: { receivedAmount: true, receivedCurrency: true },
      resolve: (transaction) => maybeMoney(transaction.receivedAmount, transaction.receivedCurrency),
    }),
    source: t.field({
      type: PaymentSource,
      nullable: true,
      description: 'Where the money comes from.',
      ...reads(
        sourceRead(
          (row) => `coalesce(${row}.sent_currency, ${row}.received_currency)`,
          (row) => `${row}.source_uma_address`,
        ),
      ),
      select: (_args, _context, nested) => ({
        sourceKind: true,
        sourceUmaAddress: true,
        sentCurrency: true,
        receivedCurrency: true,
        sourceAccount: rowWith(accountColumns, nested(true, sourceAccountPath)),
        customer: rowWith(customerColumns, nested(true, sourceCustomerPath)),
      }),
      resolve: (transaction) =>
        sourceOf(transaction, transaction.sourceUmaAddress, transaction.sentCurrency ?? transaction.receivedCurrency),
    }),
    destination: t.field({
      type: PaymentDestination,
      description: 'Where the money goes.',
      ...reads(destinationRead('received_currency')),
      select: (_args, _context, nested) => ({
        destinationUmaAddress: true,
        receivedCurrency: true,
        destinationAccount: rowWith(accountColumns, nested(true, destinationAccountPath)),
      }),
      resolve: (transaction) => destinationOf(transaction, transaction.receivedCurrency),
    }),
    customer: t.field({
      type: Customer,
      nullable: true,
      description: "The customer whose payment it is; null when it is the platform's own.",
      ...reads(customerRead),
      select: (_args, _context, nested) => ({ customer: nested(true) }),
      resolve: (payment, _args, { viewer }) =>
        payment.customer && maySeeCustomer(viewer, payment.customer) ? payment.customer : null,
    }),
    quote: t.relation('quote', {
      nullable: true,
      description: 'The quote behind it, if any.',
      ...reads(toOne('Quote', 'quote_id')),
    }),
    exchangeRate: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Sending currency units per receiving currency unit, fee-exclusive.',
      ...reads(leaf.decimal('exchange_rate')),
      select: { exchangeRate: true },
      resolve: (transaction) => transaction.exchangeRate?.toFixed(),
    }),
    fees: t.field({
      type: MoneyType,
      nullable: true,
      description: 'All fees, in the sending currency.',
      ...reads(moneyRead('fees', 'sent_currency')),
      select: { fees: true, sentCurrency: true },
      resolve: (transaction) => maybeMoney(transaction.fees, transaction.sentCurrency),
    }),
    rateDetails: t.field({
      type: RateDetailsType,
      nullable: true,
      description: 'What the price is made of.',
      ...reads(jsonObject('rate_details')),
      select: { rateDetails: true },
      resolve: (transaction) => stored<RateDetails | null>(transaction.rateDetails),
    }),
    failureReason: t.expose('failureReason', {
      type: FailureReason,
      nullable: true,
      description: 'Why it failed; always set on a FAILED one, and QUOTE_EXPIRED on one that has EXPIRED.',
    }),
    refund: t.field({
      type: RefundType,
      nullable: true,
      description: 'Where the money went when it did not arrive or came back.',
      ...reads({ kind: 'value', env: (env) => env, unless: ({ row }) => [`${row}.refund_reference is null`] }),
      select: {
        refundReference: true,
        refundAmount: true,
        refundInitiatedAt: true,
        refundSettledAt: true,
        sentCurrency: true,
        receivedCurrency: true,
      },
      resolve: ({
        refundReference,
        refundAmount,
        refundInitiatedAt,
        refundSettledAt,
        sentCurrency,
        receivedCurrency,
      }) =>
        refundReference === null || refundAmount === null || refundInitiatedAt === null
          ? null
          : {
              reference: refundReference,
              amount: money(refundAmount, sentCurrency ?? receivedCurrency),
              initiatedAt: refundInitiatedAt,
              settledAt: refundSettledAt,
            },
    }),
    reconciliationReference: t.string({
      nullable: true,
      description: 'What both sides write on the payment to find it again; null while it is CREATED.',
      ...reads(leaf.of(({ row }) => [`case when ${row}.status <> 'CREATED' then to_json(${row}.reference)::text end`])),
      select: { status: true, reference: true },
      resolve: (transaction) => (transaction.status === 'CREATED' ? null : transaction.reference),
    }),
    counterpartyInformation: t.field({
      type: [InformationField],
      description: 'What is known of the other side, for payments to or from UMA addresses.',
      ...reads(informationOf('counterparty_information')),
      select: { counterpartyInformation: true },
      resolve: (transaction) =>
        Object.entries(stored<Record<string, string>>(transaction.counterpartyInformation)).map(([name, value]) => ({
          name,
          value,
        })),
    }),
    description: t.exposeString('description', { nullable: true, description: 'Memo.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
    settledAt: t.expose('settledAt', { type: 'DateTime', nullable: true, description: 'When it was settled.' }),
    expectedSettlementAt: t.expose('expectedSettlementAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it is expected to settle.',
    }),
  }),
});

export const TransactionConnection = builder.connectionObject(
  {
    type: Transaction,
    name: 'TransactionConnection',
    description: 'A page of transactions.',
    fields: (t) => ({
      totalCount: t.int({ description: 'All that match, on whatever page.', resolve: (page) => page.totalCount }),
    }),
  },
  { name: 'TransactionEdge', description: 'A transaction in a page.' },
);

/** A page of transactions, as a filter wants them. */
export const transactionsRead = {
  kind: 'page',
  list: 'Transaction',
  model: 'Transaction',
  where: (viewer, args) => whereTransactions(viewer, args.filter as Parameters<typeof whereTransactions>[1]),
} as const satisfies Read;

builder.queryFields((t) => ({
  transaction: t.field({
    type: Transaction,
    nullable: true,
    description: 'A transaction by its id, or null.',
    ...reads({ kind: 'node', types: ['Transaction'] }),
    args: { id: t.arg.id({ required: true, description: 'Transaction:…' }) },
    resolve: (_root, args, context, info) => loadNode(args.id, context, info, ['Transaction']),
  }),
  transactions: t.field({
    type: TransactionConnection,
    description: 'Transactions of the platform and its customers.',
    ...reads(transactionsRead),
    args: {
      ...pageArgs(t.arg),
      filter: t.arg({ type: TransactionFilter, description: 'Which ones.' }),
      ...sortArg(t.arg),
    },
    resolve: (_root, args, context, info) => {
      const { transaction } = context.payments.database.reads;
      return rootPage('Transaction', { args, context, info }, whereTransactions(context.viewer, args.filter), {
        rows: (query) => transaction.findMany(query),
        count: (query) => transaction.count(query),
      });
    },
  }),
}));

mutation('transferOut', {
  description:
    'Sends money in one currency from an internal to an external account (specification 4.12). No rate is involved.',
  input: (t) => ({
    sourceAccountId: t.id({ required: true, description: 'InternalAccount:…' }),
    destinationAccountId: t.id({ required: true, description: 'ExternalAccount:…' }),
    amount: t.field({
      type: 'BigInt',
      required: true,
      description: "In the currency's smallest unit: 1 to 9000000000000000.",
    }),
    description: t.string({ description: 'Memo.' }),
    sandboxScenario: t.field({ type: SandboxScenarioInput, description: 'Sandbox only: what shall happen to it.' }),
  }),
  success: { transaction: { type: Transaction, description: 'The payment, PENDING.' } },
  refusals: ['NotFoundError', 'InsufficientFundsError'],
  resolve: async ({ idempotencyKey, ...input }, { payments, viewer }) => {
    const done = await transferOut(payments, viewer, input, idempotencyKey);
    return { transaction: done.row, replayed: done.replayed };
  },
});

mutation('transferIn', {
  description: 'Pulls money in one currency from an external to an internal account (specification 4.6).',
  input: (t) => ({
    sourceAccountId: t.id({ required: true, description: 'ExternalAccount:…' }),
    destinationAccountId: t.id({ required: true, description: 'InternalAccount:…' }),
    amount: t.field({
      type: 'BigInt',
      description:
        "In the currency's smallest unit, no more than the destination may hold; without one the rail decides (the sandbox: 10000).",
    }),
    description: t.string({ description: 'Memo.' }),
    sandboxScenario: t.field({ type: SandboxScenarioInput, description: 'Sandbox only: what shall happen to it.' }),
  }),
  success: { transaction: { type: Transaction, description: 'The payment, PENDING.' } },
  refusals: ['NotFoundError'],
  resolve: async ({ idempotencyKey, ...input }, { payments, viewer }) => {
    const done = await transferIn(payments, viewer, input, idempotencyKey);
    return { transaction: done.row, replayed: done.replayed };
  },
});

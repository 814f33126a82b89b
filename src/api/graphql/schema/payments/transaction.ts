import { publicId } from '../../../../core/ids.ts';
import { terminalTransactionStatuses } from '../../../../core/statuses.ts';
import { visibleTransactions } from '../../../../domain/access/visible.ts';
import { whereTransactions } from '../../../../domain/commands/filters.ts';
import { trustedJson } from '../../../../infra/database/trusted-json.ts';
import { planned } from '../../reading/planned.ts';
import { leaf, orderedPageOf, reads, toOne } from '../../reading/reads.ts';
import { builder } from '../builder.ts';
import { FailureReason, TransactionStatus, TransactionType } from '../enums.ts';
import { TransactionFilter } from '../filters.ts';
import { connection, orderedListArgs } from '../list.ts';
import { Customer, Quote, Transaction } from '../nouns.ts';
import { InformationField, informationOf } from '../values/information.ts';
import { MetadataEntry, metadataDescription, metadataEntries, metadataRead } from '../values/metadata.ts';
import { type Money, MoneyType, money, moneyOrNull, moneyRead, moneyReadOf } from '../values/money.ts';
import { type RateDetails, RateDetailsType, rateDetailsRead } from '../values/rate-details.ts';
import {
  customerRead,
  destinationRead,
  ofTransaction,
  PaymentDestination,
  PaymentSource,
  sourceRead,
} from './parties.ts';

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
        moneyReadOf(
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

/** Its identity, its status and its dates. */
builder.prismaObjectFields(Transaction, (t) => ({
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
    resolve: (transaction) => terminalTransactionStatuses.has(transaction.status),
  }),
  failureReason: t.expose('failureReason', {
    type: FailureReason,
    nullable: true,
    description: 'Why it failed; always set on a FAILED one, and QUOTE_EXPIRED on one that has EXPIRED.',
  }),
  createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
  updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  settledAt: t.expose('settledAt', { type: 'DateTime', nullable: true, description: 'When it was settled.' }),
  expectedSettlementAt: t.expose('expectedSettlementAt', {
    type: 'DateTime',
    nullable: true,
    description: 'When it is expected to settle.',
  }),
}));

/** Its amounts, its price and its refund. */
builder.prismaObjectFields(Transaction, (t) => ({
  sentAmount: t.field({
    type: MoneyType,
    nullable: true,
    description: 'What the source was debited; null where the sending side is not known.',
    ...reads(moneyRead('sent_amount', 'sent_currency')),
    resolve: (transaction) => moneyOrNull(transaction.sentAmount, transaction.sentCurrency),
  }),
  receivedAmount: t.field({
    type: MoneyType,
    nullable: true,
    description: "What arrives, in the recipient's currency.",
    ...reads(moneyRead('received_amount', 'received_currency')),
    resolve: (transaction) => moneyOrNull(transaction.receivedAmount, transaction.receivedCurrency),
  }),
  exchangeRate: t.field({
    type: 'Decimal',
    nullable: true,
    description: 'Sending currency units per receiving currency unit, fee-exclusive.',
    ...reads(leaf.decimal('exchange_rate')),
    resolve: (transaction) => transaction.exchangeRate?.toFixed(),
  }),
  fees: t.field({
    type: MoneyType,
    nullable: true,
    description: 'All fees, in the sending currency.',
    ...reads(moneyRead('fees', 'sent_currency')),
    resolve: (transaction) => moneyOrNull(transaction.fees, transaction.sentCurrency),
  }),
  rateDetails: t.field({
    type: RateDetailsType,
    nullable: true,
    description: 'What the price is made of.',
    ...reads(rateDetailsRead(({ row }) => `${row}.rate_details`, 'sent_currency', 'received_currency')),
    resolve: ({ rateDetails, sentCurrency, receivedCurrency }) => {
      const details = trustedJson<RateDetails | null>(rateDetails);
      return details && sentCurrency ? { details, sending: sentCurrency, receiving: receivedCurrency } : null;
    },
  }),
  refund: t.field({
    type: RefundType,
    nullable: true,
    description: 'Where the money went when it did not arrive or came back.',
    ...reads({ kind: 'value', env: (env) => env, unless: ({ row }) => [`${row}.refund_reference is null`] }),
    resolve: ({ refundReference, refundAmount, refundInitiatedAt, refundSettledAt, sentCurrency, receivedCurrency }) =>
      refundReference === null || refundAmount === null || refundInitiatedAt === null
        ? null
        : {
            reference: refundReference,
            amount: money(refundAmount, sentCurrency ?? receivedCurrency),
            initiatedAt: refundInitiatedAt,
            settledAt: refundSettledAt,
          },
  }),
}));

/** Its parties, and what identifies it to them. */
builder.prismaObjectFields(Transaction, (t) => ({
  source: t.field({
    type: PaymentSource,
    nullable: true,
    description: 'Where the money comes from.',
    ...planned(
      sourceRead({
        currency: (row) => `coalesce(${row}.sent_currency, ${row}.received_currency)`,
        umaAddress: (row) => `${row}.source_uma_address`,
        stored: ofTransaction,
      }),
    ),
  }),
  destination: t.field({
    type: PaymentDestination,
    description: 'Where the money goes.',
    ...planned(
      destinationRead({
        currency: (row) => `${row}.received_currency`,
        umaAddress: (row) => `${row}.destination_uma_address`,
        stored: ofTransaction,
      }),
    ),
  }),
  customer: t.field({
    type: Customer,
    nullable: true,
    description: "The customer whose payment it is; null when it is the platform's own.",
    ...planned(customerRead),
  }),
  quote: t.field({
    type: Quote,
    nullable: true,
    description: 'The quote behind it, if any.',
    ...planned(toOne('Quote', 'quote_id')),
  }),
  reconciliationReference: t.string({
    nullable: true,
    description: 'What both sides write on the payment to find it again; null while it is CREATED.',
    ...reads(leaf.of(({ row }) => [`case when ${row}.status <> 'CREATED' then to_json(${row}.reference)::text end`])),
    resolve: (transaction) => (transaction.status === 'CREATED' ? null : transaction.reference),
  }),
  counterpartyInformation: t.field({
    type: [InformationField],
    description: 'What is known of the other side, for payments to or from UMA addresses.',
    ...reads(informationOf('counterparty_information')),
    resolve: (transaction) =>
      Object.entries(trustedJson<Record<string, string>>(transaction.counterpartyInformation)).map(([name, value]) => ({
        name,
        value,
      })),
  }),
  description: t.exposeString('description', { nullable: true, description: 'Memo.' }),
  metadata: t.field({
    type: [MetadataEntry],
    description: metadataDescription,
    ...reads(metadataRead),
    resolve: metadataEntries,
  }),
}));

export const TransactionConnection = connection(
  Transaction,
  'Transaction',
  { page: 'A page of transactions.', edge: 'A transaction in a page.' },
  [Transaction],
);

/** Reads a page of the transactions that match a filter. */
export const transactionsRead = orderedPageOf('Transaction', visibleTransactions, whereTransactions);

builder.queryFields((t) => ({
  transaction: t.field({
    type: Transaction,
    nullable: true,
    description: 'A transaction by its id, or null.',
    ...planned({ kind: 'node', types: ['Transaction'] }),
    args: { id: t.arg.id({ required: true, description: 'Transaction:…' }) },
  }),
  transactions: t.field({
    type: TransactionConnection,
    description: 'Transactions of the platform and its customers.',
    ...planned(transactionsRead),
    args: orderedListArgs(t.arg, TransactionFilter),
  }),
}));

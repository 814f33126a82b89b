import { terminalTransactionStatuses } from '../../../../core/statuses.ts';
import { visibleCustomers, visibleTransactions } from '../../../../domain/access/visible.ts';
import { whereTransactions } from '../../../../domain/commands/filters.ts';
import { firstOf } from '../../reading/paths.ts';
import { builder } from '../builder.ts';
import { FailureReason, TransactionStatus, TransactionType } from '../enums.ts';
import { TransactionFilter } from '../filters.ts';
import { listOf } from '../list.ts';
import { Customer, Quote, Transaction } from '../nouns.ts';
import { InformationField } from '../values/information.ts';
import { MetadataEntry, noted } from '../values/metadata.ts';
import { RateDetailsType } from '../values/rate-details.ts';
import { PaymentDestination, PaymentSource } from './parties.ts';

const Refund = builder.prismaObject('Transaction', {
  variant: 'Refund',
  description: 'Money that came back.',
  fields: (t) => ({
    reference: t.required('refundReference', 'String', { description: 'To find it again.' }),
    amount: t.money('refundAmount', firstOf('sentCurrency', 'receivedCurrency'), {
      description: 'How much came back to the source.',
    }),
    initiatedAt: t.required('refundInitiatedAt', 'DateTime', { description: 'When it was started.' }),
    settledAt: t.expose('refundSettledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it had arrived.',
    }),
  }),
});

/** Its status and its dates. */
builder.prismaObjectFields(Transaction, (t) => ({
  status: t.expose('status', { type: TransactionStatus, description: 'Where it stands.' }),
  type: t.expose('type', { type: TransactionType, description: 'Which way the money goes.' }),
  version: t.exposeInt('version', {
    description: 'Rises with each change: a cache can ignore what is older than what it has.',
  }),
  terminal: t.boolean({
    description: 'Whether it has come to its end. (Only a bank return changes a COMPLETED one, to REFUNDED.)',
    select: { status: true },
    resolve: ({ status }) => terminalTransactionStatuses.has(status),
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
  sentAmount: t.money('sentAmount', 'sentCurrency', {
    nullable: true,
    description: 'What the source was debited; null where the sending side is not known.',
  }),
  receivedAmount: t.money('receivedAmount', 'receivedCurrency', {
    nullable: true,
    description: "What arrives, in the recipient's currency.",
  }),
  exchangeRate: t.expose('exchangeRate', {
    type: 'Decimal',
    nullable: true,
    description: 'Sending currency units per receiving currency unit, fee-exclusive.',
  }),
  fees: t.money('fees', 'sentCurrency', { nullable: true, description: 'All fees, in the sending currency.' }),
  rateDetails: t.value(
    RateDetailsType,
    { details: 'rateDetails', sending: 'sentCurrency', receiving: 'receivedCurrency' },
    { nullable: true, description: 'What the price is made of.' },
  ),
  refund: t.sameRow(Refund, {
    nullIf: 'refundReference',
    nullable: true,
    description: 'Where the money went when it did not arrive or came back.',
  }),
}));

/** Its parties, and what identifies it to them. */
builder.prismaObjectFields(Transaction, (t) => ({
  source: t.sameRow(PaymentSource, {
    nullIf: 'sourceKind',
    needsOthers: true,
    nullable: true,
    description: 'Where the money comes from.',
  }),
  destination: t.sameRow(PaymentDestination, { needsOthers: true, description: 'Where the money goes.' }),
  customer: t.seen('customer', Customer, visibleCustomers, {
    description: "The customer whose payment it is; null when it is the platform's own.",
  }),
  quote: t.relation('quote', { type: Quote, nullable: true, description: 'The quote behind it, if any.' }),
  reconciliationReference: t.nullWhile(['status', 'CREATED'], 'reference', {
    description: 'What both sides write on the payment to find it again; null while it is CREATED.',
  }),
  counterpartyInformation: t.entries('counterpartyInformation', InformationField, ['name', 'value'], {
    description: 'What is known of the other side, for payments to or from UMA addresses.',
  }),
  description: t.exposeString('description', { nullable: true, description: 'Memo.' }),
  metadata: t.entries('metadata', MetadataEntry, ['key', 'value'], noted),
}));

export const transactions = listOf(Transaction, {
  name: 'Transaction',
  visible: visibleTransactions,
  filter: TransactionFilter,
  where: whereTransactions,
  isOrdered: true,
  page: 'A page of transactions.',
  edge: 'A transaction in a page.',
  inPayloads: [Transaction],
});

builder.queryFields((t) => ({
  transaction: t.byId(Transaction, ['Transaction'], {
    id: 'Transaction:…',
    description: 'A transaction by its id, or null.',
  }),
  transactions: t.page(transactions, { description: 'Transactions of the platform and its customers.' }),
}));

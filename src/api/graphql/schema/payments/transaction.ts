import { terminalTransactionStatuses } from '../../../../core/statuses.ts';
import { visibleCustomers, visibleTransactions } from '../../../../domain/access/visible.ts';
import { whereTransactions } from '../../../../domain/commands/filters.ts';
import { isFinal } from '../../../../domain/settlement/finality.ts';
import type {
  TransactionStatus as Status,
  TransactionType as Type,
} from '../../../../infra/database/generated/client/client.ts';
import { alsoInDatabase } from '../../reading/computed.ts';
import { firstOf } from '../../reading/paths.ts';
import { totalsOf } from '../../reading/statement-reads.ts';
import { builder } from '../builder.ts';
import { FailureReason, TransactionStatus, TransactionType } from '../enums.ts';
import { TransactionFilter } from '../filters.ts';
import { listOf } from '../list.ts';
import { Customer, Quote, Transaction } from '../nouns.ts';
import { InformationField } from '../values/information.ts';
import { MetadataEntry, noted } from '../values/metadata.ts';
import { owner } from '../values/people.ts';
import { PaymentDestination, PaymentSource } from './parties.ts';
import { RateDetailsType } from './pricing.ts';

const Refund = builder.prismaObject('Transaction', {
  variant: 'Refund',
  description: 'Money of a payment that goes back to its source.',
  fields: (t) => ({
    reference: t.required('refundReference', 'String', {
      description: 'The reference of the refund, by which both sides can identify it.',
    }),
    amount: t.money('refundAmount', firstOf('sentCurrency', 'receivedCurrency'), {
      description: 'The amount that goes back to the source.',
    }),
    initiatedAt: t.required('refundInitiatedAt', 'DateTime', { description: 'When the refund was started.' }),
    settledAt: t.expose('refundSettledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the refund arrived; null until then.',
    }),
  }),
});

builder.prismaObjectFields(Transaction, (t) => ({
  status: t.expose('status', { type: TransactionStatus, description: 'The status of the transaction.' }),
  type: t.expose('type', {
    type: TransactionType,
    description: 'The direction of the payment, as seen by the customer.',
  }),
  version: t.exposeInt('version', {
    description: 'Increases with each change of the transaction: use it to discard older copies.',
  }),
  terminal: t.boolean({
    description:
      'True if the status is COMPLETED, FAILED, REJECTED, REFUNDED or EXPIRED. A COMPLETED payment may still become REFUNDED, if its bank returns it.',
    select: { status: true },
    resolve: ({ status }) => terminalTransactionStatuses.has(status),
  }),
  final: t.boolean({
    description:
      'Whether no further change is possible. A bank may still return a COMPLETED payment, and a refund may still be paid after FAILED or REJECTED.',
    // The rail's order, which decides whether a return is still possible, is another row.
    extensions: { ...alsoInDatabase('is_final').extensions, costs: 'rows', isOnlyPlanned: true },
    select: { platformId: true, id: true, status: true, version: true },
    resolve: (row, _args, { payments }) => isFinal(payments.database, row),
  }),
  failureReason: t.expose('failureReason', {
    type: FailureReason,
    nullable: true,
    description: 'Why the payment failed, if it is FAILED; QUOTE_EXPIRED if it is EXPIRED; otherwise null.',
  }),
  createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the transaction was created.' }),
  updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the transaction last changed.' }),
  settledAt: t.expose('settledAt', {
    type: 'DateTime',
    nullable: true,
    description: 'When the payment was delivered; null until then.',
  }),
  expectedSettlementAt: t.expose('expectedSettlementAt', {
    type: 'DateTime',
    nullable: true,
    description: 'When the payment is expected to be delivered; null if this is unknown.',
  }),
}));

/** Defines a transaction's amounts, price and refund. */
builder.prismaObjectFields(Transaction, (t) => ({
  sentAmount: t.money('sentAmount', 'sentCurrency', {
    nullable: true,
    description:
      'The amount that the source is debited, fees included; null if unknown, for example for payments from UMA addresses.',
  }),
  receivedAmount: t.money('receivedAmount', 'receivedCurrency', {
    nullable: true,
    description: 'The amount that the destination receives, in its currency.',
  }),
  exchangeRate: t.expose('exchangeRate', {
    type: 'Decimal',
    nullable: true,
    description:
      'Units of the sending currency per unit of the receiving currency, in major units and without fees; null if no rate is involved.',
  }),
  fees: t.money('fees', 'sentCurrency', {
    nullable: true,
    description: 'All fees of the payment, in the sending currency; null if there was no quote.',
  }),
  rateDetails: t.value(
    RateDetailsType,
    { details: 'rateDetails', sending: 'sentCurrency', receiving: 'receivedCurrency' },
    { nullable: true, description: 'The parts of the price (multipliers and fees); null if there was no quote.' },
  ),
  refund: t.sameRow(Refund, {
    nullIf: 'refundReference',
    nullable: true,
    description: 'Where the money went if it was not delivered, or was returned after delivery; null otherwise.',
  }),
}));

/** Defines a transaction's parties, and its identifiers for them. */
builder.prismaObjectFields(Transaction, (t) => ({
  source: t.sameRow(PaymentSource, {
    nullIf: 'sourceKind',
    needsOthers: true,
    nullable: true,
    description: 'Where the money comes from; null if this is unknown.',
  }),
  destination: t.sameRow(PaymentDestination, { needsOthers: true, description: 'Where the money goes.' }),
  owner: t.field(owner),
  customer: t.seen('customer', Customer, visibleCustomers, {
    description:
      "The customer whose payment this is. Null if it is the platform's own, or if the viewer may not see the customer: `owner` says which.",
  }),
  quote: t.relation('quote', {
    type: Quote,
    nullable: true,
    description: 'The quote of the payment; null for transfers without one.',
  }),
  reconciliationReference: t.nullWhile(['status', 'CREATED'], 'reference', {
    description: 'The reference by which both sides identify the payment; null while it is CREATED.',
  }),
  counterpartyInformation: t.entries('counterpartyInformation', InformationField, ['name', 'value'], {
    description: 'The known information about the other party, for payments to or from UMA addresses.',
  }),
  description: t.exposeString('description', {
    nullable: true,
    description: 'A note for the payment, given by its sender; null if there is none.',
  }),
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
});

builder.queryFields((t) => ({
  transaction: t.byId(Transaction, ['Transaction'], {
    id: 'The id of the transaction: Transaction:…',
    description: 'The transaction with this id; null if it does not exist or the caller may not see it.',
  }),
  transactions: t.page(transactions, { description: 'The transactions of the platform and of its customers.' }),
}));

/** Defines the totals of payments, by status, direction and currency. */

interface Total {
  readonly status: Status;
  readonly type: Type;
  readonly count: number;
  readonly amount: bigint;
  readonly currency: string;
}

export const TransactionTotal = builder.objectRef<Total>('TransactionTotal').implement({
  description: 'The number and the sum of the payments that share a status, a direction and a currency.',
  fields: (t) => ({
    status: t.expose('status', { type: TransactionStatus, description: 'The status of these payments.' }),
    type: t.expose('type', { type: TransactionType, description: 'The direction of these payments.' }),
    count: t.exposeInt('count', { description: 'The number of these payments.' }),
    amount: t.money('amount', 'currency', {
      description:
        "The sum of these payments on the customer's side: amounts sent by OUTGOING payments, fees included, and amounts received by INCOMING ones.",
    }),
  }),
});

builder.queryField('transactionTotals', (t) =>
  t.fromQuery([TransactionTotal], totalsOf(), {
    description: 'The number and the sum of payments, by status, direction and currency.',
    args: { filter: t.arg({ type: TransactionFilter, description: 'Counts only payments that match this filter.' }) },
  }),
);

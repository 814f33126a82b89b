import { creationTime } from '../../../../core/ids.ts';
import { maySee, visibleAccounts, visibleCustomers, visibleTransactions } from '../../../../domain/access/visible.ts';
import { whereTransactions } from '../../../../domain/commands/filters.ts';
import { feedCursor } from '../../../../domain/events/cursor.ts';
import { isFinal, terminalTransactionStatuses } from '../../../../domain/settlement/finality.ts';
import { alsoInDatabase } from '../../reading/computed.ts';
import { referenceOf } from '../../reading/kinds.ts';
import { firstOf } from '../../reading/paths.ts';
import { totalsOf } from '../../reading/statement-reads.ts';
import { made } from '../../reading/words.ts';
import { builder } from '../builder.ts';
import { JournalKind, LedgerParty, TransactionStatus, TransactionType } from '../enums.ts';
import { TransactionFilter } from '../filters.ts';
import { listOf } from '../list.ts';
import { Customer, InternalAccount, Transaction } from '../nouns.ts';
import { InformationField } from '../values/information.ts';
import { MetadataEntry, noted } from '../values/metadata.ts';
import { owner } from '../values/people.ts';
import { PaymentDestination, PaymentSource } from './parties.ts';
import { RateDetailsType } from './pricing.ts';

const Refund = builder.prismaObject('Transaction', {
  variant: 'Refund',
  description: "Money that goes back to a payment's source.",
  fields: (t) => ({
    reference: t.required('refundReference', 'String', {
      description: 'The reference by which both sides can identify the refund.',
    }),
    amount: t.money('refundAmount', firstOf('sentCurrency', 'receivedCurrency'), {
      description: 'The amount that goes back to the source.',
    }),
    initiatedAt: t.required('refundInitiatedAt', 'DateTime', { description: 'When the refund was started.' }),
    settledAt: t.optional('refundSettledAt', 'DateTime', { description: 'When the refund arrived; null until then.' }),
  }),
});

builder.prismaObjectFields(Transaction, (t) => ({
  ...t.columns({
    status: "The transaction's status.",
    type: 'The direction of the payment, as seen by the customer.',
    version: 'Increases with each change to the transaction. Use it to discard older copies.',
    failureReason: 'Why the payment failed, if it is FAILED; QUOTE_EXPIRED if it is EXPIRED; otherwise null.',
    createdAt: 'When the transaction was created.',
    updatedAt: 'When the transaction last changed.',
    settledAt: 'When the payment was delivered; null until then.',
    expectedSettlementAt: 'When the payment is expected to be delivered; null if this is unknown.',
  }),
  terminal: t.boolean({
    description:
      'True if the status is COMPLETED, FAILED, REJECTED, REFUNDED or EXPIRED. A COMPLETED payment may still become REFUNDED if a bank returns it.',
    select: { status: true },
    resolve: ({ status }) => terminalTransactionStatuses.has(status),
  }),
  final: t.boolean({
    description:
      'Whether the payment can no longer change. A bank may still return a COMPLETED payment, and a FAILED or REJECTED payment may still be refunded.',
    // Whether a return is still possible depends on another row: the order sent to the rail.
    extensions: { ...alsoInDatabase('is_final').extensions, costs: 'rows', isOnlyPlanned: true },
    select: { platformId: true, id: true, status: true, version: true },
    resolve: (row, _args, { payments }) => isFinal(payments.database, row),
  }),
  timeline: t.many('events', TransactionEvent, {
    description: 'Every status that the payment has had, each with its time and reason.',
    only: ['type', ['OUTGOING_PAYMENT', 'INCOMING_PAYMENT']],
    orderBy: ['sequence'],
    // Every version has an event: a caller who sees version 3 of the payment must also see that version's event.
    completeBy: 'version',
  }),
  ledgerEntries: t.many(['journals', 'postings'], LedgerEntry, {
    description: "The payment's double-entry legs, in posting order.",
    orderBy: ['id', 'leg'],
  }),
}));

builder.prismaObjectFields(Transaction, (t) => ({
  sentAmount: t.money('sentAmount', 'sentCurrency', {
    nullable: true,
    description:
      'The amount debited from the source, fees included; null if unknown, for example for payments from UMA addresses.',
  }),
  receivedAmount: t.money('receivedAmount', 'receivedCurrency', {
    nullable: true,
    description: 'The amount that the destination receives, in its currency.',
  }),
  ...t.columns({
    exchangeRate:
      'Units of the sending currency per unit of the receiving currency, in major units and without fees; null if no rate is involved.',
    description: "The sender's note for the payment, or null.",
  }),
  fees: t.money('fees', 'sentCurrency', {
    nullable: true,
    description: "The payment's total fees, in the sending currency; null if there was no quote.",
  }),
  rateDetails: t.value(
    RateDetailsType,
    { details: 'rateDetails', sending: 'sentCurrency', receiving: 'receivedCurrency' },
    { nullable: true, description: 'The parts of the price (multipliers and fees); null if there was no quote.' },
  ),
  refund: t.sameRow(Refund, {
    nullIf: 'refundReference',
    nullable: true,
    description:
      'The refund of a payment that was not delivered or was returned after delivery; null if there was no refund.',
  }),

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
  quote: t.relation('quote', { nullable: true, description: "The payment's quote; null if there was none." }),
  reconciliationReference: t.string({
    nullable: true,
    description: 'The reference by which both sides identify the payment; null while its status is CREATED.',
    ...made(referenceOf),
    resolve: ({ status, reference }) => (status === 'CREATED' ? null : reference),
  }),
  counterpartyInformation: t.entries('counterpartyInformation', InformationField, ['name', 'value'], {
    description: 'What is known about the other party, for payments to or from UMA addresses.',
  }),
  metadata: t.entries('metadata', MetadataEntry, ['key', 'value'], noted),
}));

export const transactions = listOf(Transaction, {
  visible: visibleTransactions,
  filter: TransactionFilter,
  where: whereTransactions,
  isOrdered: true,
  words: ['A transaction', 'transactions'],
});

builder.queryFields((t) => ({
  transaction: t.byId(Transaction, ['Transaction'], { word: 'transaction' }),
  transactions: t.page(transactions, { description: 'The transactions of the platform and its customers.' }),
}));

interface Total {
  readonly status: typeof TransactionStatus.$inferType;
  readonly type: typeof TransactionType.$inferType;
  readonly count: number;
  readonly amount: bigint;
  readonly currency: string;
}

export const TransactionTotal = builder.objectRef<Total>('TransactionTotal').implement({
  description: 'The number and total amount of payments with the same status, direction and currency.',
  fields: (t) => ({
    status: t.expose('status', { type: TransactionStatus, description: 'The status of these payments.' }),
    type: t.expose('type', { type: TransactionType, description: 'The direction of these payments.' }),
    count: t.exposeInt('count', { description: 'The number of these payments.' }),
    amount: t.money('amount', 'currency', {
      description:
        "The total on the customer's side: the amounts sent, including fees, if the payments are OUTGOING; the amounts received if they are INCOMING.",
    }),
  }),
});

builder.queryField('transactionTotals', (t) =>
  t.fromQuery([TransactionTotal], totalsOf(), {
    description: 'The number and total amount of payments, by status, direction and currency.',
    args: { filter: t.arg({ type: TransactionFilter, description: 'Counts only payments that match this filter.' }) },
  }),
);

const TransactionEvent = builder.prismaObject('Event', {
  variant: 'TransactionEvent',
  description: 'A status that a transaction has had.',
  fields: (t) => ({
    cursor: t.string({
      description: "The status change's position in the feed.",
      extensions: { costs: 'rows' },
      select: { platformId: true, sequence: true, epoch: true },
      resolve: (event, _args, { payments }) => feedCursor(payments.cursors, event.platformId, event),
    }),
    status: t.required('status', TransactionStatus, { description: 'The status that the transaction changed to.' }),
    ...t.columns({
      reason: 'The human-readable reason for the change; null if there is nothing to explain.',
      terminal: 'Whether the status was terminal.',
      occurredAt: 'When the status changed.',
    }),
  }),
});

export const LedgerEntry = builder.prismaObject('Posting', {
  variant: 'LedgerEntry',
  description: "One leg of a double-entry posting. A payment's legs sum to zero in each currency.",
  fields: (t) => ({
    id: t.publicId('LedgerEntry', ['journalId', 'leg'], {
      description: "The ledger entry's public id (`LedgerEntry:…`).",
    }),
    amount: t.money('amount', 'currency', {
      description: 'The amount of the entry: positive for money in, negative for money out.',
    }),
    account: t.seen('account', InternalAccount, visibleAccounts, {
      description:
        'The account that the entry changes; null for a system account, or if the caller may not see the account.',
    }),
    system: t.field({
      type: LedgerParty,
      nullable: true,
      description: 'The party to the entry if `account` is null; otherwise null.',
      select: { system: true, account: { select: { customerId: true } } },
      resolve: ({ system, account }, _args, { viewer }) =>
        account ? (maySee('account', viewer, account) ? null : 'OTHER_ACCOUNT') : system,
    }),
    occurredAt: t.field({
      type: 'DateTime',
      description: 'When the entry was posted.',
      extensions: { ...alsoInDatabase('uuid_v7_time').extensions, costs: 'rows' },
      select: { journalId: true },
      resolve: ({ journalId }) => creationTime(journalId),
    }),
    balanceAfter: t.money('balanceAfter', 'currency', {
      nullable: true,
      seen: ['account', visibleAccounts],
      description: "The account's balance after this entry; null if `account` is null.",
    }),
    kind: t.field({
      type: JournalKind,
      description: 'Why the entry was posted.',
      extensions: { costs: 'legs' },
      select: { journal: { select: { kind: true } } },
      // The database stores journal kinds as lower-case text.
      resolve: ({ journal }) => journal.kind.toUpperCase() as typeof JournalKind.$inferType,
    }),
    transaction: t.seen(['journal', 'transaction'], Transaction, visibleTransactions, {
      description:
        'The payment that the entry belongs to; null if it belongs to no payment or the caller may not see that payment.',
    }),
  }),
});

import { creationTime } from '../../../../core/ids.ts';
import { maySee, visibleAccounts, visibleTransactions } from '../../../../domain/access/visible.ts';
import { feedCursor } from '../../../../domain/events/cursor.ts';
import { alsoInDatabase } from '../../reading/computed.ts';
import { builder } from '../builder.ts';
import { JournalKind, LedgerParty, TransactionStatus } from '../enums.ts';
import { InternalAccount, Transaction } from '../nouns.ts';

/** Defines the history of a payment: every status that it went through, and its ledger entries. */

const TransactionEvent = builder.prismaObject('Event', {
  variant: 'TransactionEvent',
  description: 'A status that a transaction went through.',
  fields: (t) => ({
    cursor: t.string({
      description: 'The position of the status change in the feed.',
      extensions: { costs: 'rows' },
      select: { platformId: true, sequence: true, epoch: true },
      resolve: (event, _args, { payments }) => feedCursor(payments.cursors, event.platformId, event),
    }),
    status: t.required('status', TransactionStatus, { description: 'The status that the transaction changed to.' }),
    reason: t.exposeString('reason', {
      nullable: true,
      description: 'The human-readable reason for the change; null if there is nothing to explain.',
    }),
    terminal: t.exposeBoolean('terminal', { description: 'Whether the status was terminal.' }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime', description: 'When the status changed.' }),
  }),
});

export const LedgerEntry = builder.prismaObject('Posting', {
  variant: 'LedgerEntry',
  description: 'One leg of a double-entry posting. The legs of a payment sum to zero in each currency.',
  fields: (t) => ({
    id: t.publicId('LedgerEntry', ['journalId', 'leg'], {
      description: 'The public id of the ledger entry: LedgerEntry:…',
    }),
    amount: t.money('amount', 'currency', {
      description: 'The amount that the entry moves: positive if it comes in, negative if it goes out.',
    }),
    account: t.seen('account', InternalAccount, visibleAccounts, {
      description: 'The account that the entry changes; null for a system account, or one that the caller may not see.',
    }),
    system: t.field({
      type: LedgerParty,
      nullable: true,
      description: 'The party of the entry if it is not an account that the caller may see; null if `account` is set.',
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
      description: 'The balance of the account after this entry; null if `account` is null.',
    }),
    kind: t.field({
      type: JournalKind,
      description: 'Why the entry was posted.',
      extensions: { costs: 'legs' },
      select: { journal: { select: { kind: true } } },
      // The database has these kinds in a table, in lower case.
      resolve: ({ journal }) => journal.kind.toUpperCase() as typeof JournalKind.$inferType,
    }),
    transaction: t.seen(['journal', 'transaction'], Transaction, visibleTransactions, {
      description: 'The payment that the entry belongs to; null if there is none, or the caller may not see it.',
    }),
  }),
});

builder.prismaObjectFields(Transaction, (t) => ({
  timeline: t.many('events', TransactionEvent, {
    description: 'Every status that the payment went through, with the time and the reason.',
    only: ['type', ['OUTGOING_PAYMENT', 'INCOMING_PAYMENT']],
    orderBy: ['sequence'],
    // Each version has an event, so a caller who sees version 3 must be shown its event.
    completeBy: 'version',
  }),
  ledgerEntries: t.many(['journals', 'postings'], LedgerEntry, {
    description: 'The double-entry legs of the payment, in the order of posting.',
    orderBy: ['id', 'leg'],
  }),
}));

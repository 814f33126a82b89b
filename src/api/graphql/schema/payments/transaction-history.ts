import { creationTime } from '../../../../core/ids.ts';
import { maySee, visibleAccounts, visibleTransactions } from '../../../../domain/access/visible.ts';
import { feedCursor } from '../../../../domain/events/cursor.ts';
import { alsoInDatabase } from '../../reading/computed.ts';
import { builder } from '../builder.ts';
import { JournalKind, LedgerParty, TransactionStatus } from '../enums.ts';
import { InternalAccount, Transaction } from '../nouns.ts';

/** The history of a payment: every status that it went through, and its ledger entries. */

const TransactionEvent = builder.prismaObject('Event', {
  variant: 'TransactionEvent',
  description: 'A status that a transaction went through, with its position in the feed.',
  fields: (t) => ({
    cursor: t.string({
      description: 'Its position in the feed.',
      extensions: { costs: 'rows' },
      select: { platformId: true, sequence: true, epoch: true },
      resolve: (event, _args, { payments }) => feedCursor(payments.cursors, event.platformId, event),
    }),
    status: t.required('status', TransactionStatus, { description: 'The status it came to.' }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why.' }),
    terminal: t.exposeBoolean('terminal', { description: 'Whether that was its end.' }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime', description: 'When.' }),
  }),
});

export const LedgerEntry = builder.prismaObject('Posting', {
  variant: 'LedgerEntry',
  description: 'One leg of the double entry behind a payment. The legs of a payment sum to zero in each currency.',
  fields: (t) => ({
    id: t.publicId('LedgerEntry', ['journalId', 'leg'], { description: 'LedgerEntry:…' }),
    amount: t.money('amount', 'currency', { description: 'Positive comes in, negative goes out.' }),
    account: t.seen('account', InternalAccount, visibleAccounts, {
      description: "An account of the caller's; null where it is a system account.",
    }),
    system: t.field({
      type: LedgerParty,
      nullable: true,
      description: 'What is no account of the caller; null where `account` is.',
      select: { system: true, account: { select: { customerId: true } } },
      resolve: ({ system, account }, _args, { viewer }) =>
        account ? (maySee('account', viewer, account) ? null : 'OTHER_ACCOUNT') : system,
    }),
    occurredAt: t.field({
      type: 'DateTime',
      description: 'When it was posted.',
      extensions: { ...alsoInDatabase('uuid_v7_time').extensions, costs: 'rows' },
      select: { journalId: true },
      resolve: ({ journalId }) => creationTime(journalId),
    }),
    balanceAfter: t.money('balanceAfter', 'currency', {
      nullable: true,
      seen: ['account', visibleAccounts],
      description: 'The balance of the account after it; null where `account` is.',
    }),
    kind: t.field({
      type: JournalKind,
      description: 'What it was posted for.',
      extensions: { costs: 'legs' },
      select: { journal: { select: { kind: true } } },
      // The kinds of journals, of which the database has a table.
      resolve: ({ journal }) => journal.kind.toUpperCase() as typeof JournalKind.$inferType,
    }),
    transaction: t.seen(['journal', 'transaction'], Transaction, visibleTransactions, {
      description: 'The payment that it belongs to; null where the caller may not see it, or there is none.',
    }),
  }),
});

builder.prismaObjectFields(Transaction, (t) => ({
  timeline: t.many('events', TransactionEvent, {
    description: 'Every status that it went through, when and why.',
    only: ['type', ['OUTGOING_PAYMENT', 'INCOMING_PAYMENT']],
    orderBy: ['sequence'],
    // Each version has an event, so a caller who sees version 3 must be shown its event.
    completeBy: 'version',
  }),
  ledgerEntries: t.many(['journals', 'postings'], LedgerEntry, {
    description: 'The double-entry legs behind it, in the order of posting.',
    orderBy: ['id', 'leg'],
  }),
}));

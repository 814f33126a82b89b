import DataLoader from 'dataloader';
import type { Event, TransactionStatus as Status } from '../database/generated/client/client.ts';
import { feedCursor } from '../events/cursor.ts';
import { eventsOfTransactions, type SeenTransaction } from '../events/history.ts';
import { InternalAccount } from './account.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';
import { TransactionStatus } from './enums.ts';
import { type Money, MoneyType, money } from './money.ts';
import { accountColumns, type NamedAccount, rowWith } from './parties.ts';
import { Transaction } from './transaction.ts';
import { maySeeAccount } from './visible.ts';

/** What explains a payment: every status it went through, and the money behind it. */

interface TransactionEvent {
  readonly cursor: string;
  readonly status: Status;
  readonly reason: string | null;
  readonly terminal: boolean;
  readonly occurredAt: Date;
}

const TransactionEventType = builder.objectRef<TransactionEvent>('TransactionEvent').implement({
  description: 'A status that a transaction went through, with its place in the feed.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: 'Its place in the feed.' }),
    status: t.expose('status', { type: TransactionStatus, description: 'The status it came to.' }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why.' }),
    terminal: t.exposeBoolean('terminal', { description: 'Whether that was its end.' }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime', description: 'When.' }),
  }),
});

interface LedgerEntry {
  readonly id: string;
  readonly amount: Money;
  readonly account: NamedAccount | null;
  readonly system: string | null;
  readonly occurredAt: Date;
}

const LedgerEntryType = builder.objectRef<LedgerEntry>('LedgerEntry').implement({
  description: 'One leg of the double entry behind a payment. The legs of a payment sum to zero in each currency.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'LedgerEntry:…' }),
    amount: t.expose('amount', { type: MoneyType, description: 'Positive comes in, negative goes out.' }),
    account: t.expose('account', {
      type: InternalAccount,
      nullable: true,
      description: "An account of the caller's; null where it is a system account.",
    }),
    system: t.exposeString('system', {
      nullable: true,
      description:
        'A system account: OUTSIDE (beyond the rails), CLEARING (under way), LIQUIDITY (the other side of a conversion), FEES, SUSPENSE (neither arrived nor come back); or OTHER_ACCOUNT, an account that the caller may not see.',
    }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime', description: 'When it was posted.' }),
  }),
});

/** The loader of an operation. */
const loaders = new WeakMap<Context, DataLoader<SeenTransaction, Event[]>>();

/** Reads the timelines that an operation asks for at once in one statement; keeps none, since a stream's go on. */
function timelines(context: Context): DataLoader<SeenTransaction, Event[]> {
  const known = loaders.get(context);
  if (known) return known;
  const { payments, feed } = context;
  const loader = new DataLoader<SeenTransaction, Event[]>(
    (transactions) => eventsOfTransactions(payments.database, feed, transactions),
    { cache: false },
  );
  loaders.set(context, loader);
  return loader;
}

builder.prismaObjectFields(Transaction, (t) => ({
  timeline: t.field({
    type: [TransactionEventType],
    description: 'Every status that it went through, when and why.',
    select: { version: true },
    resolve: async (transaction, _args, context) => {
      const events = await timelines(context).load(transaction);
      return events.map((event) => ({
        cursor: feedCursor(event.platformId, event.sequence),
        status: event.status as Status,
        reason: event.reason,
        terminal: event.terminal,
        occurredAt: event.occurredAt,
      }));
    },
  }),
  ledgerEntries: t.field({
    type: [LedgerEntryType],
    description: 'The double-entry legs behind it, in the order of posting.',
    select: (_args, _context, nested) => ({
      journals: {
        orderBy: { id: 'asc' },
        select: {
          id: true,
          createdAt: true,
          postings: {
            orderBy: { leg: 'asc' },
            select: {
              leg: true,
              amount: true,
              currency: true,
              system: true,
              account: rowWith(accountColumns, nested(true, ['account'])),
            },
          },
        },
      },
    }),
    resolve: (transaction, _args, { viewer }) =>
      transaction.journals.flatMap((journal) =>
        journal.postings.map((posting) => ({
          id: `LedgerEntry:${journal.id}.${posting.leg}`,
          amount: money(posting.amount, posting.currency),
          ...(posting.account && !maySeeAccount(viewer, posting.account)
            ? { account: null, system: 'OTHER_ACCOUNT' }
            : { account: posting.account, system: posting.system }),
          occurredAt: journal.createdAt,
        })),
      ),
  }),
}));

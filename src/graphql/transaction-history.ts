import DataLoader from 'dataloader';
import type { Event, TransactionStatus as Status } from '../database/generated/client/client.ts';
import { feedCursor } from '../events/cursor.ts';
import { eventsOfTransactions, type SeenTransaction } from '../events/history.ts';
import { InternalAccount } from './account.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';
import { TransactionStatus } from './enums.ts';
import { type Money, MoneyType, money, moneyRead } from './money.ts';
import { accountColumns, type NamedAccount, rowWith } from './parties.ts';
import { conditionsOf } from './reading/conditions.ts';
import { type Env, instant, leaf, reads, sql } from './reading/reads.ts';
import { Transaction } from './transaction.ts';
import { maySeeAccount, visibleAccounts } from './visible.ts';

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
    cursor: t.exposeString('cursor', {
      description: 'Its place in the feed.',
      ...reads(
        leaf.of(({ row }) => [
          `'"' || translate(encode(convert_to('feed:' || right(${row}.platform_id::text, 12) || ':' || ${row}.sequence, 'UTF8'), 'base64'), E'+/=\\n', '-_') || '"'`,
        ]),
      ),
    }),
    status: t.expose('status', {
      type: TransactionStatus,
      description: 'The status it came to.',
      ...reads(leaf.word('status')),
    }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why.', ...reads(leaf.text('reason')) }),
    terminal: t.exposeBoolean('terminal', {
      description: 'Whether that was its end.',
      ...reads(leaf.plain('terminal')),
    }),
    occurredAt: t.expose('occurredAt', {
      type: 'DateTime',
      description: 'When.',
      ...reads(leaf.instant('occurred_at')),
    }),
  }),
});

interface LedgerEntry {
  readonly id: string;
  readonly amount: Money;
  readonly account: NamedAccount | null;
  readonly system: string | null;
  readonly occurredAt: Date;
}

/** The account of a posting, where the caller may see it. */
const ownAccount = ({ row = '' }: Env, alias: string) =>
  sql`${alias}.platform_id = ${row}.platform_id and ${alias}.id = ${row}.account_id and ${(run) => conditionsOf('Account', alias, visibleAccounts(run.viewer), run)}`;

const LedgerEntryType = builder.objectRef<LedgerEntry>('LedgerEntry').implement({
  description: 'One leg of the double entry behind a payment. The legs of a payment sum to zero in each currency.',
  fields: (t) => ({
    id: t.exposeID('id', {
      description: 'LedgerEntry:…',
      ...reads(leaf.of(({ row }) => [`'"LedgerEntry:' || ${row}.journal_id || '.' || ${row}.leg || '"'`])),
    }),
    amount: t.expose('amount', {
      type: MoneyType,
      description: 'Positive comes in, negative goes out.',
      ...reads(moneyRead('amount', 'currency')),
    }),
    account: t.expose('account', {
      type: InternalAccount,
      nullable: true,
      description: "An account of the caller's; null where it is a system account.",
      ...reads({ kind: 'row', model: 'Account', where: ownAccount }),
    }),
    system: t.exposeString('system', {
      nullable: true,
      ...reads(
        leaf.of(
          ({ row = '' }) =>
            sql`case when ${row}.account_id is null then to_json(${row}.system)::text when not exists (select from account a where ${ownAccount({ row }, 'a')}) then '"OTHER_ACCOUNT"' end`,
        ),
      ),
      description:
        'A system account: OUTSIDE (beyond the rails), CLEARING (under way), LIQUIDITY (the other side of a conversion), FEES, SUSPENSE (neither arrived nor come back); or OTHER_ACCOUNT, an account that the caller may not see.',
    }),
    occurredAt: t.expose('occurredAt', {
      type: 'DateTime',
      description: 'When it was posted.',
      ...reads(leaf.of(({ journal }) => [instant(`${journal}.created_at`)])),
    }),
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
    ...reads({
      kind: 'values',
      from: ({ row }, alias) => ({
        from: [
          `event ${alias} where ${alias}.platform_id = ${row}.platform_id and ${alias}.transaction_id = ${row}.id and ${alias}.type in ('OUTGOING_PAYMENT', 'INCOMING_PAYMENT')`,
        ],
        orderBy: `${alias}.sequence`,
        env: { row: alias },
        // Each change made an event, so a caller who sees version 3 is shown three at least.
        complete: `count(*) filter (where ${alias}.version >= ${row}.version) > 0`,
      }),
    }),
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
    ...reads({
      kind: 'values',
      from: ({ row }, alias) => ({
        from: [
          `journal ${alias}j join posting ${alias} on ${alias}.platform_id = ${alias}j.platform_id and ${alias}.journal_id = ${alias}j.id where ${alias}j.platform_id = ${row}.platform_id and ${alias}j.transaction_id = ${row}.id`,
        ],
        orderBy: `${alias}j.id, ${alias}.leg`,
        env: { row: alias, journal: `${alias}j` },
      }),
    }),
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

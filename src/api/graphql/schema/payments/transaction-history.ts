import { visibleAccounts, visibleTransactions } from '../../../../domain/access/visible.ts';
import { planned } from '../../reading/planned.ts';
import { type Env, instant, leaf, type Read, referredRow, type Sql, sql, toOne } from '../../reading/reads.ts';
import { builder } from '../builder.ts';
import { JournalKind, LedgerParty, TransactionStatus } from '../enums.ts';
import { InternalAccount, Transaction } from '../nouns.ts';
import { feedCursorRead } from '../streams/feed-order.ts';
import { MoneyType, moneyRead } from '../values/money.ts';

/** The history of a payment: every status that it went through, and its ledger entries. Only plans read them. */

const TransactionEvent = builder.objectRef<never>('TransactionEvent').implement({
  description: 'A status that a transaction went through, with its position in the feed.',
  fields: (t) => ({
    cursor: t.string({
      description: 'Its position in the feed.',
      ...planned(feedCursorRead),
    }),
    status: t.field({
      type: TransactionStatus,
      description: 'The status it came to.',
      ...planned(leaf.enumValue('status')),
    }),
    reason: t.string({ nullable: true, description: 'Why.', ...planned(leaf.text('reason')) }),
    terminal: t.boolean({ description: 'Whether that was its end.', ...planned(leaf.plain('terminal')) }),
    occurredAt: t.field({ type: 'DateTime', description: 'When.', ...planned(leaf.instant('occurred_at')) }),
  }),
});

/** Writes the FROM clause for the journal of a posting. */
const journalOf = (row = '') => `journal j where j.platform_id = ${row}.platform_id and j.id = ${row}.journal_id`;

/** The reference from a posting to its account, where the caller may see it. */
const ownAccount = ['Account', 'account_id', visibleAccounts] as const;

/** Tells in SQL whether the caller may not see the account of a posting. */
const isHidden = ({ row }: Env): Sql =>
  sql`${row ?? ''}.account_id is null or not exists (select from ${referredRow(...ownAccount)({ row: row ?? '' }, 'a')})`;

export const LedgerEntry = builder.objectRef<never>('LedgerEntry').implement({
  description: 'One leg of the double entry behind a payment. The legs of a payment sum to zero in each currency.',
  fields: (t) => ({
    id: t.id({
      description: 'LedgerEntry:…',
      ...planned(leaf.of(({ row }) => [`'"LedgerEntry:' || ${row}.journal_id || '.' || ${row}.leg || '"'`])),
    }),
    amount: t.field({
      type: MoneyType,
      description: 'Positive comes in, negative goes out.',
      ...planned(moneyRead('amount', 'currency')),
    }),
    account: t.field({
      type: InternalAccount,
      nullable: true,
      description: "An account of the caller's; null where it is a system account.",
      ...planned(toOne(...ownAccount)),
    }),
    system: t.field({
      type: LedgerParty,
      nullable: true,
      description: 'What is no account of the caller; null where `account` is.',
      ...planned(
        leaf.of(
          ({ row = '' }) =>
            sql`case when ${row}.account_id is null then to_json(${row}.system)::text when not exists (select from ${referredRow(...ownAccount)({ row }, 'a')}) then '"OTHER_ACCOUNT"' end`,
        ),
      ),
    }),
    occurredAt: t.field({
      type: 'DateTime',
      description: 'When it was posted.',
      ...planned({ ...leaf.of(({ row }) => [instant(`uuid_v7_time(${row}.journal_id)`)]), costs: 'rows' }),
    }),
    balanceAfter: t.field({
      type: MoneyType,
      nullable: true,
      description: 'The balance of the account after it; null where `account` is.',
      ...planned({
        // The compiler forgets which kind of read it is when it is spread.
        ...moneyRead('balance_after', 'currency'),
        unless: isHidden,
      } as Read),
    }),
    kind: t.field({
      type: JournalKind,
      description: 'What it was posted for.',
      ...planned(leaf.of(({ row }) => [`(select '"' || upper(j.kind) || '"' from ${journalOf(row)})`])),
    }),
    transaction: t.field({
      type: Transaction,
      nullable: true,
      description: 'The payment that it belongs to; null where the caller may not see it, or there is none.',
      ...planned(
        toOne('Transaction', ({ row }) => `(select j.transaction_id from ${journalOf(row)})`, visibleTransactions),
      ),
    }),
  }),
});

builder.objectFields(Transaction, (t) => ({
  timeline: t.field({
    type: [TransactionEvent],
    description: 'Every status that it went through, when and why.',
    ...planned({
      kind: 'values',
      from: ({ row }, alias) => ({
        from: [
          `event ${alias} where ${alias}.platform_id = ${row}.platform_id and ${alias}.transaction_id = ${row}.id and ${alias}.type in ('OUTGOING_PAYMENT', 'INCOMING_PAYMENT')`,
        ],
        orderBy: `${alias}.sequence`,
        env: { row: alias },
        // Each version has an event, so a caller who sees version 3 must be shown its event.
        isComplete: `count(*) filter (where ${alias}.version >= ${row}.version) > 0`,
      }),
    }),
  }),
  ledgerEntries: t.field({
    type: [LedgerEntry],
    description: 'The double-entry legs behind it, in the order of posting.',
    ...planned({
      kind: 'values',
      from: ({ row }, alias) => ({
        from: [
          `journal ${alias}j join posting ${alias} on ${alias}.platform_id = ${alias}j.platform_id and ${alias}.journal_id = ${alias}j.id where ${alias}j.platform_id = ${row}.platform_id and ${alias}j.transaction_id = ${row}.id`,
        ],
        orderBy: `${alias}j.id, ${alias}.leg`,
        env: { row: alias },
      }),
    }),
  }),
}));

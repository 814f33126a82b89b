import { cursorParts } from '../../../../core/paging.ts';
import { balanceAt, type Period, versionBefore } from '../../../../domain/statements/period.ts';
import { oneOfFew } from '../../../../infra/database/list-rows.ts';
import { invalidInput } from '../../failure.ts';
import { planned } from '../../reading/planned.ts';
import {
  type ArgumentsOf,
  byNumber,
  leaf,
  type PageRead,
  type Piece,
  type Read,
  type Run,
  referringBy,
  sql,
} from '../../reading/reads.ts';
import { Shared } from '../../reading/sql.ts';
import { builder } from '../builder.ts';
import { SortOrder } from '../enums.ts';
import { TransactionFilter } from '../filters.ts';
import { connection, orderedListArgs, pageArgs } from '../list.ts';
import { Account, Customer, InternalAccount } from '../nouns.ts';
import { TransactionConnection, transactionsRead } from '../payments/transaction.ts';
import { LedgerEntry } from '../payments/transaction-history.ts';
import { TransactionTotal, totalsOf } from '../payments/transaction-totals.ts';
import { MoneyType, moneyRead, moneyReadOf } from '../values/money.ts';

/** Statements of accounts: payments, ledger entries with running balances, balances and totals of a period. Only plans read them. */

/** Finds the payments from and to an account. */
const onEitherSide = referringBy('source_account_id', 'destination_account_id');

const totalsArgs = { type: TransactionFilter, description: 'Which ones.' } as const;

builder.prismaInterfaceFields(Account, (t) => ({
  transactions: t.field({
    type: TransactionConnection,
    description: 'The payments from and to it.',
    ...planned({ ...transactionsRead, of: onEitherSide }),
    args: orderedListArgs(t.arg, TransactionFilter),
  }),
  transactionTotals: t.field({
    type: [TransactionTotal],
    description:
      'How many payments from and to it there are and how much they are together, by status, direction and currency.',
    ...planned(totalsOf(onEitherSide)),
    args: { filter: t.arg(totalsArgs) },
  }),
}));

builder.objectField(Customer, 'transactionTotals', (t) =>
  t.field({
    type: [TransactionTotal],
    description: 'How many payments it has and how much they are together, by status, direction and currency.',
    ...planned(totalsOf(referringBy('customer_id'))),
    args: { filter: t.arg(totalsArgs) },
  }),
);

/** Writes a moment of the arguments; null where it is not given. */
const moment =
  (args: ArgumentsOf, name: keyof Period) =>
  (run: Run): string =>
    `${run.bind(periodOf(args(run))[name] ?? null)}::timestamptz`;

/** @throws GraphQLError INVALID_INPUT for a period that ends before it begins */
function periodOf(args: Readonly<Record<string, unknown>>): Partial<Period> {
  const { from, to } = args as Partial<Period>;
  if (from && to && to < from) throw invalidInput('the period must not end before it begins', 'to');
  return { ...(from && { from }), ...(to && { to }) };
}

const LedgerEntryConnection = connection(LedgerEntry, 'LedgerEntry', {
  page: 'A page of ledger entries.',
  edge: 'A ledger entry in a page.',
});

/** The entries of an account, in the order in which they changed its balance: each has another version of the account. */
const entriesRead: PageRead = {
  kind: 'page',
  list: 'LedgerEntry',
  model: 'Posting',
  key: () => entryOrder,
  where: () => ({}),
  of: ({ row = '' }, alias, args) => {
    const within =
      (operator: '>' | '<=', name: keyof Period): Piece =>
      (run) =>
        periodOf(args(run))[name] === undefined
          ? ''
          : ` and ${alias}.account_version ${operator} ${versionBefore(row, moment(args, name)(run))}`;
    return [
      sql`${alias}.platform_id = ${row}.platform_id and ${oneOfFew(alias, 'account_id', `${row}.id`)}${within('>', 'from')}${within('<=', 'to')}`,
    ];
  },
};

const entryOrder = byNumber('account_version', {
  of: ({ viewer }, cursor) => {
    const [version = '', ...rest] = cursorParts('LedgerEntry', viewer.platformId, cursor) ?? [];
    return rest.length === 0 && /^\d{1,9}$/.test(version) ? Number(version) : undefined;
  },
});

const StatementSum = builder.objectRef<never>('StatementSum').implement({
  description: 'The entries of a statement in one direction.',
  fields: (t) => ({
    count: t.int({
      description: 'How many there are.',
      ...planned(leaf.plain('count')),
    }),
    amount: t.field({
      type: MoneyType,
      description: 'What they are together, without a sign.',
      ...planned(moneyRead('amount', 'currency')),
    }),
  }),
});

/** Sums the entries of a statement that come in, or go out. */
const sumRead = (sign: '>' | '<'): Read => ({
  kind: 'row',
  costs: 'sums',
  from: ({ row }, alias) =>
    sql`${new Shared([
      `select count(*), coalesce(sum(abs(p.amount)), 0) as amount, ${row}.currency from posting p
        where p.platform_id = ${row}.platform_id and p.account_id = ${row}.id
          and p.account_version > ${row}.opening_version and p.account_version <= ${row}.closing_version and p.amount ${sign} 0`,
    ])} ${alias}`,
});

const AccountStatement = builder.objectRef<never>('AccountStatement').implement({
  description:
    'The balances of an internal account at both ends of a period, and what lies between. The opening balance, the credits and the debits make the closing balance. `ledgerEntries` of the same period has the entries.',
  fields: (t) => ({
    from: t.field({ type: 'DateTime', description: 'Where it begins.', ...planned(leaf.instant('period_from')) }),
    to: t.field({
      type: 'DateTime',
      description: 'Where it ends; this moment does not belong to it.',
      ...planned(leaf.instant('period_to')),
    }),
    openingBalance: t.field({
      type: MoneyType,
      description: 'The balance where it begins.',
      ...planned(balanceRead('opening_version')),
    }),
    closingBalance: t.field({
      type: MoneyType,
      description: 'The balance where it ends; if that is to come, the balance now.',
      ...planned(balanceRead('closing_version')),
    }),
    credits: t.field({ type: StatementSum, description: 'What came in.', ...planned(sumRead('>')) }),
    debits: t.field({ type: StatementSum, description: 'What went out.', ...planned(sumRead('<')) }),
  }),
});

function balanceRead(version: string) {
  return moneyReadOf(
    ({ row = '' }) => balanceAt(row, `${row}.${version}`),
    ({ row }) => `${row}.currency`,
  );
}

const fromDescription = 'Where the period begins; this moment belongs to it.';
const toDescription = 'Where the period ends; this moment does not belong to it, so that periods join.';

builder.prismaObjectFields(InternalAccount, (t) => ({
  ledgerEntries: t.field({
    type: LedgerEntryConnection,
    description: 'Every change of its balance, with the balance after it.',
    ...planned(entriesRead),
    args: {
      ...pageArgs(t.arg),
      from: t.arg({ type: 'DateTime', description: fromDescription }),
      to: t.arg({ type: 'DateTime', description: toDescription }),
      sortOrder: t.arg({ type: SortOrder, defaultValue: 'DESC', description: 'Newest first unless ASC.' }),
    },
  }),
  statement: t.field({
    type: AccountStatement,
    description: 'Its balances at both ends of a period, and the sums of what came in and went out.',
    ...planned({
      kind: 'row',
      from: ({ row = '' }, alias, args) =>
        sql`(select ${row}.platform_id, ${row}.id, ${row}.currency, m.period_from, m.period_to,
            ${versionBefore(row, 'm.period_from')} as opening_version, ${versionBefore(row, 'm.period_to')} as closing_version
          from (select ${moment(args, 'from')} as period_from, ${moment(args, 'to')} as period_to offset 0) m offset 0) ${alias}`,
    }),
    args: {
      from: t.arg({ type: 'DateTime', required: true, description: fromDescription }),
      to: t.arg({ type: 'DateTime', required: true, description: toDescription }),
    },
  }),
}));

import { entriesRead, statementBalance, statementRow, statementSum } from '../../reading/statement-reads.ts';
import { totalsOf } from '../../reading/totals-reads.ts';
import { builder } from '../builder.ts';
import { SortOrder } from '../enums.ts';
import { TransactionFilter } from '../filters.ts';
import { connectionOf, pageArgs } from '../list.ts';
import { Account, Customer, InternalAccount } from '../nouns.ts';
import { transactions } from '../payments/transaction.ts';
import { LedgerEntry } from '../payments/transaction-history.ts';
import { TransactionTotal } from '../payments/transaction-totals.ts';

/** Statements of accounts: payments, ledger entries with running balances, balances and totals of a period. */

/** The relations to the payments from and to an account. */
const onEitherSide = ['transactionsFrom', 'transactionsTo'] as const;

const totalsArgs = { type: TransactionFilter, description: 'Only those that match this filter.' } as const;

builder.prismaInterfaceFields(Account, (t) => ({
  transactions: t.page(transactions, { of: onEitherSide, description: 'The payments from and to it.' }),
  transactionTotals: t.fromQuery([TransactionTotal], totalsOf(...onEitherSide), {
    description:
      'How many payments from and to it there are and how much they are together, by status, direction and currency.',
    args: { filter: t.arg(totalsArgs) },
  }),
}));

builder.prismaObjectField(Customer, 'transactionTotals', (t) =>
  t.fromQuery([TransactionTotal], totalsOf('transactions'), {
    description: 'How many payments it has and how much they are together, by status, direction and currency.',
    args: { filter: t.arg(totalsArgs) },
  }),
);

interface Sum {
  readonly count: number;
  readonly amount: bigint;
  readonly currency: string;
}

const StatementSum = builder.objectRef<Sum>('StatementSum').implement({
  description: 'The entries of a statement in one direction.',
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'How many there are.' }),
    amount: t.money('amount', 'currency', { description: 'What they are together, without a sign.' }),
  }),
});

interface Statement {
  readonly periodFrom: Date;
  readonly periodTo: Date;
}

const AccountStatement = builder.objectRef<Statement>('AccountStatement').implement({
  description:
    'The balances of an internal account at both ends of a period, and what lies between. The opening balance, the credits and the debits make the closing balance. `ledgerEntries` of the same period has the entries.',
  fields: (t) => ({
    from: t.expose('periodFrom', { type: 'DateTime', description: 'Where it begins.' }),
    to: t.expose('periodTo', {
      type: 'DateTime',
      description: 'Where it ends; this moment does not belong to it.',
    }),
    openingBalance: t.fromQuery('Money', statementBalance('openingVersion'), {
      description: 'The balance where it begins.',
    }),
    closingBalance: t.fromQuery('Money', statementBalance('closingVersion'), {
      description: 'The balance where it ends; if that is to come, the balance now.',
    }),
    credits: t.fromQuery(StatementSum, statementSum('>'), { description: 'What came in.' }),
    debits: t.fromQuery(StatementSum, statementSum('<'), { description: 'What went out.' }),
  }),
});

const fromDescription = 'Where the period begins; this moment belongs to it.';
const toDescription = 'Where the period ends; this moment does not belong to it, so that periods join.';

const ledgerEntries = {
  connection: connectionOf(LedgerEntry, {
    name: 'LedgerEntry',
    page: 'A page of ledger entries.',
    edge: 'A ledger entry in a page.',
  }),
  read: entriesRead,
  args: (t) => ({
    ...pageArgs(t),
    from: t({ type: 'DateTime', description: fromDescription }),
    to: t({ type: 'DateTime', description: toDescription }),
    sortOrder: t({ type: SortOrder, defaultValue: 'DESC', description: 'Newest first unless ASC.' }),
  }),
} satisfies Parameters<Parameters<Parameters<typeof builder.queryFields>[0]>[0]['page']>[0];

builder.prismaObjectFields(InternalAccount, (t) => ({
  ledgerEntries: t.page(ledgerEntries, {
    of: ['postings'],
    description: 'Every change of its balance, with the balance after it.',
  }),
  statement: t.fromQuery(AccountStatement, statementRow, {
    description: 'Its balances at both ends of a period, and the sums of what came in and went out.',
    args: {
      from: t.arg({ type: 'DateTime', required: true, description: fromDescription }),
      to: t.arg({ type: 'DateTime', required: true, description: toDescription }),
    },
  }),
}));

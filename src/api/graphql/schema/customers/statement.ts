import { entriesRead, statementBalance, statementRow, statementSum, totalsOf } from '../../reading/statement-reads.ts';
import { builder } from '../builder.ts';
import { SortOrder } from '../enums.ts';
import { TransactionFilter } from '../filters.ts';
import { connectionOf, pageArgs } from '../list.ts';
import { Account, Customer, InternalAccount } from '../nouns.ts';
import { quotes } from '../payments/quote.ts';
import { LedgerEntry, TransactionTotal, transactions } from '../payments/transaction.ts';
import { accounts } from './account.ts';

const onEitherSide = ['transactionsFrom', 'transactionsTo'] as const;

const totalsArgs = { type: TransactionFilter, description: 'Counts only payments that match this filter.' } as const;

builder.prismaInterfaceFields(Account, (t) => ({
  transactions: t.page(transactions, { of: onEitherSide, description: 'The payments to and from the account.' }),
  transactionTotals: t.fromQuery([TransactionTotal], totalsOf(...onEitherSide), {
    description: 'The number and total amount of payments to and from the account, by status, direction and currency.',
    args: { filter: t.arg(totalsArgs) },
  }),
}));

const StatementSum = builder.objectRef<{ count: number; amount: bigint; currency: string }>('StatementSum').implement({
  description: "The totals of a statement's ledger entries in one direction.",
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'The number of entries.' }),
    amount: t.money('amount', 'currency', { description: 'The sum of the entries, never negative.' }),
  }),
});

const AccountStatement = builder.objectRef<{ periodFrom: Date; periodTo: Date }>('AccountStatement').implement({
  description:
    'A statement of an internal account for a period. The opening balance plus credits minus debits equals the closing balance. `ledgerEntries` lists the entries for the same period.',
  fields: (t) => ({
    from: t.expose('periodFrom', { type: 'DateTime', description: 'The start of the period, inclusive.' }),
    to: t.expose('periodTo', { type: 'DateTime', description: 'The end of the period, exclusive.' }),
    openingBalance: t.fromQuery('Money', statementBalance('openingVersion'), {
      description: 'The balance at the start of the period.',
    }),
    closingBalance: t.fromQuery('Money', statementBalance('closingVersion'), {
      description: 'The balance at the end of the period, or the current balance if the period has not ended.',
    }),
    credits: t.fromQuery(StatementSum, statementSum('>'), { description: 'The money that came in during the period.' }),
    debits: t.fromQuery(StatementSum, statementSum('<'), { description: 'The money that went out during the period.' }),
  }),
});

const fromDescription = 'The start of the period, inclusive.';
const toDescription = 'The end of the period, exclusive, so that consecutive periods do not overlap.';

const ledgerEntries = {
  connection: connectionOf(LedgerEntry, { words: ['A ledger entry', 'ledger entries'] }),
  read: entriesRead,
  args: (t) => ({
    ...pageArgs(t),
    from: t({ type: 'DateTime', description: fromDescription }),
    to: t({ type: 'DateTime', description: toDescription }),
    sortOrder: t({
      type: SortOrder,
      defaultValue: 'DESC',
      description: 'Newest first by default, oldest first with ASC.',
    }),
  }),
} satisfies Parameters<Parameters<Parameters<typeof builder.queryFields>[0]>[0]['page']>[0];

builder.prismaObjectFields(InternalAccount, (t) => ({
  ledgerEntries: t.page(ledgerEntries, {
    of: ['postings'],
    description: "All changes to the account's balance, each with the resulting balance.",
  }),
  statement: t.fromQuery(AccountStatement, statementRow, {
    description:
      "The account's statement for a period: its opening and closing balances, and the totals in each direction.",
    args: {
      from: t.arg({ type: 'DateTime', required: true, description: fromDescription }),
      to: t.arg({ type: 'DateTime', required: true, description: toDescription }),
    },
  }),
}));

/** A customer's lists and totals. Each is read by the same SQL statement as the customer itself. */
builder.prismaObjectFields(Customer, (t) => ({
  accounts: t.page(accounts, { of: ['accounts'], description: "The customer's internal and external accounts." }),
  transactions: t.page(transactions, { of: ['transactions'], description: "The customer's payments." }),
  quotes: t.page(quotes, { of: ['quotes'], description: 'The quotes in which the customer is the sender.' }),
  transactionTotals: t.fromQuery([TransactionTotal], totalsOf('transactions'), {
    description: "The number and total amount of the customer's payments, by status, direction and currency.",
    args: { filter: t.arg(totalsArgs) },
  }),
}));

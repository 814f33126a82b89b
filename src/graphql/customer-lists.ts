import { AccountConnection, accountsRead } from './account.ts';
import { builder } from './builder.ts';
import { Customer } from './customer.ts';
import {
  AccountFilter,
  QuoteFilter,
  TransactionFilter,
  whereAccounts,
  whereQuotes,
  whereTransactions,
} from './filters.ts';
import { nestedPage, nestedQuery, pageArgs, sortArg, withKeys } from './list.ts';
import { QuoteConnection, quotesRead } from './quote.ts';
import { type Env, reads, type Sql } from './reading/reads.ts';
import { TransactionConnection, transactionsRead } from './transaction.ts';

/** The rows that belong to a customer. */
const ofCustomer = ({ row }: Env, alias: string): Sql => [
  `${alias}.platform_id = ${row}.platform_id and ${alias}.customer_id = ${row}.id`,
];

/** Where the rows of a connection are below its field. */
const nodes = ['edges', 'node'];

/** How many each customer has, as Prisma counts by a column. */
const byCustomer = (counts: readonly { readonly customerId: string | null; readonly _count: number }[]) =>
  new Map(counts.map(({ customerId, _count }) => [customerId, _count]));

/** A customer's own lists. Each is read in the statement that reads the customer. */
builder.prismaObjectFields(Customer, (t) => ({
  accounts: t.field({
    type: AccountConnection,
    description: 'Its accounts, internal and external.',
    ...reads({ ...accountsRead, of: ofCustomer }),
    args: { ...pageArgs(t.arg), filter: t.arg({ type: AccountFilter, description: 'Which ones.' }), ...sortArg(t.arg) },
    select: (args, context, nested) => ({
      accounts: withKeys(
        nested(nestedQuery('Account', args, context, whereAccounts(context.viewer, args.filter)), nodes),
      ),
    }),
    resolve: (customer, args, context, info) =>
      nestedPage('Account', { args, context, info }, customer.id, customer.accounts, async (customerIds, bound) => {
        const counts = await context.payments.database.prisma.account.groupBy({
          by: 'customerId',
          where: { AND: [whereAccounts(context.viewer, args.filter), { customerId: { in: customerIds } }, bound] },
          _count: true,
        });
        return byCustomer(counts);
      }),
  }),
  transactions: t.field({
    type: TransactionConnection,
    description: 'Its transactions.',
    ...reads({ ...transactionsRead, of: ofCustomer }),
    args: {
      ...pageArgs(t.arg),
      filter: t.arg({ type: TransactionFilter, description: 'Which ones.' }),
      ...sortArg(t.arg),
    },
    select: (args, context, nested) => ({
      transactions: withKeys(
        nested(nestedQuery('Transaction', args, context, whereTransactions(context.viewer, args.filter)), nodes),
      ),
    }),
    resolve: (customer, args, context, info) =>
      nestedPage(
        'Transaction',
        { args, context, info },
        customer.id,
        customer.transactions,
        async (customerIds, bound) => {
          const counts = await context.payments.database.prisma.transaction.groupBy({
            by: 'customerId',
            where: {
              AND: [whereTransactions(context.viewer, args.filter), { customerId: { in: customerIds } }, bound],
            },
            _count: true,
          });
          return byCustomer(counts);
        },
      ),
  }),
  quotes: t.field({
    type: QuoteConnection,
    description: 'Its quotes, as the sender.',
    ...reads({ ...quotesRead, of: ofCustomer }),
    args: { ...pageArgs(t.arg), filter: t.arg({ type: QuoteFilter, description: 'Which ones.' }), ...sortArg(t.arg) },
    select: (args, context, nested) => ({
      quotes: withKeys(nested(nestedQuery('Quote', args, context, whereQuotes(context.viewer, args.filter)), nodes)),
    }),
    resolve: (customer, args, context, info) =>
      nestedPage('Quote', { args, context, info }, customer.id, customer.quotes, async (customerIds, bound) => {
        const counts = await context.payments.database.prisma.quote.groupBy({
          by: 'customerId',
          where: { AND: [whereQuotes(context.viewer, args.filter), { customerId: { in: customerIds } }, bound] },
          _count: true,
        });
        return byCustomer(counts);
      }),
  }),
}));

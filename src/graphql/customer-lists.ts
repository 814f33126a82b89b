import { AccountConnection, accountCursor } from './account.ts';
import { countTogether } from './batch.ts';
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
import { idPage, nestedQuery, pageArgs, sortArg, withKeys } from './list.ts';
import { connectionOf } from './paging.ts';
import { QuoteConnection, quoteCursor } from './quote.ts';
import { TransactionConnection, transactionCursor } from './transaction.ts';

/** Where the rows of a connection are below its field. */
const nodes = ['edges', 'node'];

/** A customer's own lists. Each is read in the statement that reads the customer. */
builder.prismaObjectFields(Customer, (t) => ({
  accounts: t.field({
    type: AccountConnection,
    description: 'Its accounts, internal and external.',
    args: { ...pageArgs(t.arg), filter: t.arg({ type: AccountFilter, description: 'Which ones.' }), ...sortArg(t.arg) },
    select: (args, context, nested) => ({
      accounts: withKeys(
        nested(nestedQuery('Account', args, context, whereAccounts(context.viewer, args.filter)), nodes),
      ),
    }),
    resolve: (customer, args, context, info) => {
      const page = idPage('Account', args, context);
      const count = (bound: object) => (ids: readonly string[]) =>
        context.payments.database.prisma.account.groupBy({
          by: 'customerId',
          where: { AND: [whereAccounts(context.viewer, args.filter), { customerId: { in: [...ids] } }, bound] },
          _count: true,
        });
      return connectionOf(page, customer.accounts, accountCursor, {
        totalCount: () => countTogether(context, info, 'totalCount', customer.id, count({})),
        anyBeyond: async () =>
          (await countTogether(context, info, 'beyond', customer.id, count({ id: page.beyond }))) > 0,
      });
    },
  }),
  transactions: t.field({
    type: TransactionConnection,
    description: 'Its transactions.',
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
    resolve: (customer, args, context, info) => {
      const page = idPage('Transaction', args, context);
      const count = (bound: object) => (ids: readonly string[]) =>
        context.payments.database.prisma.transaction.groupBy({
          by: 'customerId',
          where: { AND: [whereTransactions(context.viewer, args.filter), { customerId: { in: [...ids] } }, bound] },
          _count: true,
        });
      return connectionOf(page, customer.transactions, transactionCursor, {
        totalCount: () => countTogether(context, info, 'totalCount', customer.id, count({})),
        anyBeyond: async () =>
          (await countTogether(context, info, 'beyond', customer.id, count({ id: page.beyond }))) > 0,
      });
    },
  }),
  quotes: t.field({
    type: QuoteConnection,
    description: 'Its quotes, as the sender.',
    args: { ...pageArgs(t.arg), filter: t.arg({ type: QuoteFilter, description: 'Which ones.' }), ...sortArg(t.arg) },
    select: (args, context, nested) => ({
      quotes: withKeys(nested(nestedQuery('Quote', args, context, whereQuotes(context.viewer, args.filter)), nodes)),
    }),
    resolve: (customer, args, context, info) => {
      const page = idPage('Quote', args, context);
      const count = (bound: object) => (ids: readonly string[]) =>
        context.payments.database.prisma.quote.groupBy({
          by: 'customerId',
          where: { AND: [whereQuotes(context.viewer, args.filter), { customerId: { in: [...ids] } }, bound] },
          _count: true,
        });
      return connectionOf(page, customer.quotes, quoteCursor, {
        totalCount: () => countTogether(context, info, 'totalCount', customer.id, count({})),
        anyBeyond: async () =>
          (await countTogether(context, info, 'beyond', customer.id, count({ id: page.beyond }))) > 0,
      });
    },
  }),
}));

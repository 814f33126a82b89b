import { planned } from '../../reading/planned.ts';
import type { Env, Sql } from '../../reading/reads.ts';
import { builder } from '../builder.ts';
import { AccountFilter, QuoteFilter, TransactionFilter } from '../filters.ts';
import { pageArgs, sortArg } from '../list.ts';
import { Customer } from '../nouns.ts';
import { QuoteConnection, quotesRead } from '../payments/quote.ts';
import { TransactionConnection, transactionsRead } from '../payments/transaction.ts';
import { AccountConnection, accountsRead } from './account.ts';

/** The rows that belong to a customer. */
const ofCustomer = ({ row }: Env, alias: string): Sql => [
  `${alias}.platform_id = ${row}.platform_id and ${alias}.customer_id = ${row}.id`,
];

/** A customer's own lists. Each is read in the statement that reads the customer. */
builder.objectFields(Customer, (t) => ({
  accounts: t.field({
    type: AccountConnection,
    description: 'Its accounts, internal and external.',
    ...planned({ ...accountsRead, of: ofCustomer }),
    args: { ...pageArgs(t.arg), filter: t.arg({ type: AccountFilter, description: 'Which ones.' }), ...sortArg(t.arg) },
  }),
  transactions: t.field({
    type: TransactionConnection,
    description: 'Its transactions.',
    ...planned({ ...transactionsRead, of: ofCustomer }),
    args: {
      ...pageArgs(t.arg),
      filter: t.arg({ type: TransactionFilter, description: 'Which ones.' }),
      ...sortArg(t.arg),
    },
  }),
  quotes: t.field({
    type: QuoteConnection,
    description: 'Its quotes, as the sender.',
    ...planned({ ...quotesRead, of: ofCustomer }),
    args: { ...pageArgs(t.arg), filter: t.arg({ type: QuoteFilter, description: 'Which ones.' }), ...sortArg(t.arg) },
  }),
}));

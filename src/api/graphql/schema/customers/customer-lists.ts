import { planned } from '../../reading/planned.ts';
import { referringBy } from '../../reading/reads.ts';
import { builder } from '../builder.ts';
import { AccountFilter, QuoteFilter, TransactionFilter } from '../filters.ts';
import { listArgs, orderedListArgs } from '../list.ts';
import { Customer } from '../nouns.ts';
import { QuoteConnection, quotesRead } from '../payments/quote.ts';
import { TransactionConnection, transactionsRead } from '../payments/transaction.ts';
import { AccountConnection, accountsRead } from './account.ts';

/** Restricts a list to the rows that belong to a customer. */
const ofCustomer = referringBy('customer_id');

/** The lists of one customer. Each is read in the statement that reads the customer. */
builder.objectFields(Customer, (t) => ({
  accounts: t.field({
    type: AccountConnection,
    description: 'Its accounts, internal and external.',
    ...planned({ ...accountsRead, of: ofCustomer }),
    args: listArgs(t.arg, AccountFilter),
  }),
  transactions: t.field({
    type: TransactionConnection,
    description: 'Its transactions.',
    ...planned({ ...transactionsRead, of: ofCustomer }),
    args: orderedListArgs(t.arg, TransactionFilter),
  }),
  quotes: t.field({
    type: QuoteConnection,
    description: 'Its quotes, as the sender.',
    ...planned({ ...quotesRead, of: ofCustomer }),
    args: listArgs(t.arg, QuoteFilter),
  }),
}));

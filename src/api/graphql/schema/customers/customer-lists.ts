import { builder } from '../builder.ts';
import { Customer } from '../nouns.ts';
import { quotes } from '../payments/quote.ts';
import { transactions } from '../payments/transaction.ts';
import { accounts } from './account.ts';

/** The lists of one customer. Each is read in the statement that reads the customer. */
builder.prismaObjectFields(Customer, (t) => ({
  accounts: t.page(accounts, { of: ['accounts'], description: 'Its accounts, internal and external.' }),
  transactions: t.page(transactions, { of: ['transactions'], description: 'Its transactions.' }),
  quotes: t.page(quotes, { of: ['quotes'], description: 'Its quotes, as the sender.' }),
}));

import { builder } from '../builder.ts';
import { Customer } from '../nouns.ts';
import { quotes } from '../payments/quote.ts';
import { transactions } from '../payments/transaction.ts';
import { accounts } from './account.ts';

/** The lists of one customer. Each is read in the statement that reads the customer. */
builder.prismaObjectFields(Customer, (t) => ({
  accounts: t.page(accounts, { of: ['accounts'], description: 'The internal and external accounts of the customer.' }),
  transactions: t.page(transactions, { of: ['transactions'], description: 'The payments of the customer.' }),
  quotes: t.page(quotes, { of: ['quotes'], description: 'The quotes that the customer is the sender of.' }),
}));

import type {
  Account as AccountRow,
  Customer as CustomerRow,
  Quote as QuoteRow,
  Transaction as TransactionRow,
} from '../database/rows.ts';
import { builder } from './builder.ts';

/**
 * The nouns of the schema, by which their fields refer to each other. Each is described in its own file. A value of one is a row
 * as the domain has it (what a command answers, a snapshot of the feed), or what a plan has read (reading/planned.ts).
 */

export const Transaction = builder.objectRef<TransactionRow>('Transaction');
export const Quote = builder.objectRef<QuoteRow>('Quote');
export const Customer = builder.objectRef<CustomerRow>('Customer');
export const Account = builder.interfaceRef<AccountRow>('Account');
export const InternalAccount = builder.objectRef<AccountRow>('InternalAccount');
export const ExternalAccount = builder.objectRef<AccountRow>('ExternalAccount');

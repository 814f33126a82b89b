import { builder } from './builder.ts';
import { AccountKind, CustomerType, QuoteStatus, TransactionStatus, TransactionType } from './enums.ts';

/** The filter inputs of lists. payments/filters.ts turns them into conditions. */

export const QuoteFilter = builder.inputType('QuoteFilter', {
  description: 'Which quotes (specification 4.2). What is given combines with AND.',
  fields: (t) => ({
    customerId: t.id({ description: 'The sending customer.' }),
    sendingAccountId: t.id({ description: 'The source account.' }),
    receivingAccountId: t.id({ description: 'The destination account.' }),
    sendingUmaAddress: t.string({ description: "The sending customer's UMA address." }),
    receivingUmaAddress: t.string({ description: 'The UMA address paid to.' }),
    status: t.field({ type: [QuoteStatus], description: 'Any of these.' }),
    createdAfter: t.field({ type: 'DateTime', description: 'Created then or later.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Created then or earlier.' }),
  }),
});

export const TransactionFilter = builder.inputType('TransactionFilter', {
  description: 'Which transactions (specification 4.4). What is given combines with AND.',
  fields: (t) => ({
    customerId: t.id({ description: 'The customer whose transaction it is.' }),
    platformCustomerId: t.string({ description: "The platform's own id of that customer." }),
    senderAccountIdentifier: t.string({ description: 'The source: an account id or a UMA address.' }),
    receiverAccountIdentifier: t.string({ description: 'The destination: an account id or a UMA address.' }),
    status: t.field({ type: [TransactionStatus], description: 'Any of these.' }),
    type: t.field({ type: TransactionType, description: 'Which way the money goes.' }),
    reference: t.string({ description: 'The reconciliation reference.' }),
    startDate: t.field({ type: 'DateTime', description: 'Created then or later.' }),
    endDate: t.field({ type: 'DateTime', description: 'Created then or earlier.' }),
  }),
});

export const CustomerFilter = builder.inputType('CustomerFilter', {
  description: 'Which customers (specification 4.11). What is given combines with AND.',
  fields: (t) => ({
    platformCustomerId: t.string({ description: "The platform's own id." }),
    customerType: t.field({ type: CustomerType, description: 'Individuals or businesses.' }),
    umaAddress: t.string({ description: 'The UMA address, in any case.' }),
    createdAfter: t.field({ type: 'DateTime', description: 'Created then or later.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Created then or earlier.' }),
    updatedAfter: t.field({ type: 'DateTime', description: 'Last changed then or later.' }),
    updatedBefore: t.field({ type: 'DateTime', description: 'Last changed then or earlier.' }),
    isIncludingDeleted: t.boolean({ defaultValue: false, description: 'Also deleted ones.' }),
  }),
});

export const AccountFilter = builder.inputType('AccountFilter', {
  description: 'Which accounts (specification 4.9, 4.10, 4.13). What is given combines with AND.',
  fields: (t) => ({
    kind: t.field({ type: AccountKind, description: 'Internal or external.' }),
    currency: t.string({ description: 'The currency code.' }),
    customerId: t.id({ description: 'The owner.' }),
    platformOwned: t.boolean({ description: "Only the platform's own, or only its customers'." }),
    isIncludingDeleted: t.boolean({ defaultValue: false, description: 'Also deleted external accounts.' }),
  }),
});

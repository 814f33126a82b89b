import type { FoundBy } from '../reading/costs.ts';
import { builder } from './builder.ts';
import {
  AccountKind,
  BeneficiaryVerificationStatus,
  CustomerType,
  ExternalAccountStatus,
  ExternalAccountType,
  FailureReason,
  KycStatus,
  Permission,
  QuoteStatus,
  TransactionStatus,
  TransactionType,
  WebhookDeliveryStatus,
} from './enums.ts';

/**
 * The filter inputs of lists. payments/filters.ts turns them into conditions. Ranges have one form: `createdAfter` and
 * `createdBefore`, `updatedAfter` and `updatedBefore` for moments, `min` and `max` for amounts, and both ends belong to them.
 */

/** Says how the rows of a list are found by a field of its filter: otherwise they are searched for, which costs more. */
export const foundBy = (how: FoundBy) => ({ extensions: { foundBy: how } }) as const;

const AmountRange = builder.inputType('AmountRange', {
  description: 'A range of amounts in one currency. Both ends belong to it.',
  fields: (t) => ({
    currency: t.field({ type: 'CurrencyCode', required: true, description: 'The currency of both.' }),
    min: t.field({ type: 'BigInt', description: "At least this, in the currency's smallest unit." }),
    max: t.field({ type: 'BigInt', description: "At most this, in the currency's smallest unit." }),
  }),
});

export const QuoteFilter = builder.inputType('QuoteFilter', {
  description: 'Which quotes (specification 4.2). What is given combines with AND.',
  fields: (t) => ({
    customerId: t.id({ description: 'The sending customer.', ...foundBy('index') }),
    sendingAccountId: t.id({ description: 'The source account.', ...foundBy('index') }),
    receivingAccountId: t.id({ description: 'The destination account.', ...foundBy('index') }),
    sendingUmaAddress: t.string({ description: "The sending customer's UMA address." }),
    receivingUmaAddress: t.string({ description: 'The UMA address paid to.', ...foundBy('index') }),
    status: t.field({ type: [QuoteStatus], description: 'Any of these.', ...foundBy('index') }),
    createdAfter: t.field({ type: 'DateTime', description: 'Created then or later.', ...foundBy('created') }),
    createdBefore: t.field({ type: 'DateTime', description: 'Created then or earlier.', ...foundBy('created') }),
  }),
});

export const TransactionFilter = builder.inputType('TransactionFilter', {
  description: 'Which transactions (specification 4.4). What is given combines with AND.',
  fields: (t) => ({
    customerId: t.id({ description: 'The customer whose transaction it is.', ...foundBy('index') }),
    platformCustomerId: t.string({ description: "The platform's own id of that customer." }),
    senderAccountIdentifier: t.string({ description: 'The source: an account id or a UMA address.' }),
    receiverAccountIdentifier: t.string({
      description: 'The destination: an account id or a UMA address.',
    }),
    status: t.field({ type: [TransactionStatus], description: 'Any of these.', ...foundBy('index') }),
    type: t.field({ type: [TransactionType], description: 'Any of these.', ...foundBy('index') }),
    failureReason: t.field({ type: [FailureReason], description: 'Any of these.', ...foundBy('index') }),
    reference: t.string({ description: 'The reconciliation reference.', ...foundBy('one') }),
    accountId: t.id({ description: 'The account on either side, source or destination.', ...foundBy('index') }),
    currency: t.field({ type: 'CurrencyCode', description: 'The currency of what is sent or of what is received.' }),
    amount: t.field({ type: AmountRange, description: 'What is sent or what is received lies in this range.' }),
    executed: t.boolean({
      description:
        'True: without the payments of quotes that nobody has executed or funded (they are PENDING, then EXPIRED). False: only those.',
      ...foundBy('index'),
    }),
    createdAfter: t.field({ type: 'DateTime', description: 'Created then or later.', ...foundBy('created') }),
    createdBefore: t.field({ type: 'DateTime', description: 'Created then or earlier.', ...foundBy('created') }),
    updatedAfter: t.field({ type: 'DateTime', description: 'Last changed then or later.', ...foundBy('updated') }),
    updatedBefore: t.field({ type: 'DateTime', description: 'Last changed then or earlier.', ...foundBy('updated') }),
  }),
});

export const CustomerFilter = builder.inputType('CustomerFilter', {
  description: 'Which customers (specification 4.11). What is given combines with AND.',
  fields: (t) => ({
    platformCustomerId: t.string({ description: "The platform's own id.", ...foundBy('index') }),
    customerType: t.field({ type: CustomerType, description: 'Individuals or businesses.' }),
    kycStatus: t.field({ type: [KycStatus], description: 'Any of these.', ...foundBy('index') }),
    name: t.string({ description: 'How the full or legal name begins, in any case.' }),
    umaAddress: t.string({ description: 'The UMA address, in any case.', ...foundBy('one') }),
    createdAfter: t.field({ type: 'DateTime', description: 'Created then or later.', ...foundBy('created') }),
    createdBefore: t.field({ type: 'DateTime', description: 'Created then or earlier.', ...foundBy('created') }),
    updatedAfter: t.field({ type: 'DateTime', description: 'Last changed then or later.', ...foundBy('updated') }),
    updatedBefore: t.field({ type: 'DateTime', description: 'Last changed then or earlier.', ...foundBy('updated') }),
    isIncludingDeleted: t.boolean({ defaultValue: false, description: 'Also deleted ones.', ...foundBy('any') }),
  }),
});

export const AccountFilter = builder.inputType('AccountFilter', {
  description: 'Which accounts (specification 4.9, 4.10, 4.13). What is given combines with AND.',
  fields: (t) => ({
    kind: t.field({ type: AccountKind, description: 'Internal or external.', ...foundBy('kind') }),
    currency: t.field({ type: 'CurrencyCode', description: 'The currency.', ...foundBy('index') }),
    customerId: t.id({ description: 'The owner.', ...foundBy('index') }),
    platformOwned: t.boolean({ description: "Only the platform's own, or only its customers'.", ...foundBy('index') }),
    isIncludingDeleted: t.boolean({
      defaultValue: false,
      description: 'Also deleted external accounts.',
      ...foundBy('any'),
    }),
    status: t.field({
      type: [ExternalAccountStatus],
      description: 'External accounts with any of these.',
      ...foundBy('index'),
    }),
    accountType: t.field({
      type: [ExternalAccountType],
      description: 'External accounts of any of these kinds.',
      ...foundBy('index'),
    }),
    beneficiaryVerificationStatus: t.field({
      type: [BeneficiaryVerificationStatus],
      description: 'External accounts whose owner was verified with any of these results.',
      ...foundBy('index'),
    }),
  }),
});

export const ApiTokenFilter = builder.inputType('ApiTokenFilter', {
  description: 'Which API tokens. What is given combines with AND.',
  fields: (t) => ({
    name: t.string({ description: 'The exact name.' }),
    permission: t.field({ type: Permission, description: 'Those that have this permission.' }),
    createdById: t.id({ description: 'The API token that made it.' }),
    createdAfter: t.field({ type: 'DateTime', description: 'Created then or later.', ...foundBy('created') }),
    createdBefore: t.field({ type: 'DateTime', description: 'Created then or earlier.', ...foundBy('created') }),
  }),
});

export const ClientTokenFilter = builder.inputType('ClientTokenFilter', {
  description: 'Which client tokens. What is given combines with AND.',
  fields: (t) => ({
    active: t.boolean({ description: 'True: those that have neither expired nor been revoked. False: the others.' }),
    customerId: t.id({
      description: 'The customer that it is bound to, or whose quote or transaction.',
      ...foundBy('index'),
    }),
  }),
});

export const WebhookDeliveryFilter = builder.inputType('WebhookDeliveryFilter', {
  description: 'Which deliveries.',
  fields: (t) => ({
    // An index has those that are not DELIVERED, and nearly all others are.
    status: t.field({ type: [WebhookDeliveryStatus], description: 'Any of these.', ...foundBy('any') }),
  }),
});

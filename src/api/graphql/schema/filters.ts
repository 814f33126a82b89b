import type { FoundBy } from '../reading/reads.ts';
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
  description: 'A range of amounts in one currency, with inclusive bounds.',
  fields: (t) => ({
    currency: t.field({ type: 'CurrencyCode', required: true, description: 'The currency code of the amounts.' }),
    min: t.field({
      type: 'BigInt',
      description:
        'The smallest amount of the range, in the smallest unit of the currency. No lower bound when left out.',
    }),
    max: t.field({
      type: 'BigInt',
      description:
        'The largest amount of the range, in the smallest unit of the currency. No upper bound when left out.',
    }),
  }),
});

export const QuoteFilter = builder.inputType('QuoteFilter', {
  description: 'Conditions on quotes. A quote must match all that are given.',
  fields: (t) => ({
    customerId: t.id({ description: 'Quotes whose sender is this customer: Customer:…', ...foundBy('index') }),
    sendingAccountId: t.id({
      description: 'Quotes that are paid from this account: InternalAccount:… or ExternalAccount:…',
      ...foundBy('index'),
    }),
    receivingAccountId: t.id({
      description: 'Quotes that pay to this account: InternalAccount:… or ExternalAccount:…',
      ...foundBy('index'),
    }),
    sendingUmaAddress: t.string({
      description: 'Quotes whose sender is the customer with this UMA address, case-insensitively.',
    }),
    receivingUmaAddress: t.string({
      description: 'Quotes that pay to this UMA address, case-insensitively.',
      ...foundBy('index'),
    }),
    status: t.field({ type: [QuoteStatus], description: 'Quotes with any of these statuses.', ...foundBy('index') }),
    createdAfter: t.field({
      type: 'DateTime',
      description: 'Quotes created at this time or later.',
      ...foundBy('created'),
    }),
    createdBefore: t.field({
      type: 'DateTime',
      description: 'Quotes created at this time or earlier.',
      ...foundBy('created'),
    }),
  }),
});

export const TransactionFilter = builder.inputType('TransactionFilter', {
  description: 'Conditions on transactions. A transaction must match all that are given.',
  fields: (t) => ({
    customerId: t.id({ description: 'Transactions of this customer: Customer:…', ...foundBy('index') }),
    platformCustomerId: t.string({
      description: "Transactions of the customer with this id of the platform's own (`Customer.platformCustomerId`).",
    }),
    senderAccountIdentifier: t.string({
      description: 'Transactions with this source: an account id or a UMA address.',
    }),
    receiverAccountIdentifier: t.string({
      description: 'Transactions with this destination: an account id or a UMA address.',
    }),
    status: t.field({
      type: [TransactionStatus],
      description: 'Transactions with any of these statuses.',
      ...foundBy('index'),
    }),
    type: t.field({
      type: [TransactionType],
      description: 'Transactions in any of these directions.',
      ...foundBy('index'),
    }),
    failureReason: t.field({
      type: [FailureReason],
      description: 'Transactions that failed for any of these reasons.',
      ...foundBy('index'),
    }),
    reference: t.string({ description: 'Transactions with exactly this reconciliation reference.', ...foundBy('one') }),
    accountId: t.id({
      description: 'Transactions from or to this account: InternalAccount:… or ExternalAccount:…',
      ...foundBy('index'),
    }),
    currency: t.field({
      type: 'CurrencyCode',
      description: 'Transactions that are sent or received in the currency with this code.',
    }),
    amount: t.field({ type: AmountRange, description: 'Transactions whose sent or received amount is in this range.' }),
    executed: t.boolean({
      description:
        'True leaves out the payments of quotes that were never executed or funded (PENDING, later EXPIRED). False returns only those.',
      ...foundBy('index'),
    }),
    createdAfter: t.field({
      type: 'DateTime',
      description: 'Transactions created at this time or later.',
      ...foundBy('created'),
    }),
    createdBefore: t.field({
      type: 'DateTime',
      description: 'Transactions created at this time or earlier.',
      ...foundBy('created'),
    }),
    updatedAfter: t.field({
      type: 'DateTime',
      description: 'Transactions last changed at this time or later.',
      ...foundBy('updated'),
    }),
    updatedBefore: t.field({
      type: 'DateTime',
      description: 'Transactions last changed at this time or earlier.',
      ...foundBy('updated'),
    }),
  }),
});

export const CustomerFilter = builder.inputType('CustomerFilter', {
  description: 'Conditions on customers. A customer must match all that are given.',
  fields: (t) => ({
    platformCustomerId: t.string({
      description: "The customer with exactly this id of the platform's own.",
      ...foundBy('index'),
    }),
    customerType: t.field({
      type: CustomerType,
      description: 'Customers that are persons, or those that are companies.',
    }),
    kycStatus: t.field({
      type: [KycStatus],
      description: 'Customers whose identity check has any of these statuses.',
      ...foundBy('index'),
    }),
    name: t.string({ description: 'Customers whose full or legal name begins with this text, case-insensitively.' }),
    umaAddress: t.string({ description: 'The customer with this UMA address, case-insensitively.', ...foundBy('one') }),
    createdAfter: t.field({
      type: 'DateTime',
      description: 'Customers created at this time or later.',
      ...foundBy('created'),
    }),
    createdBefore: t.field({
      type: 'DateTime',
      description: 'Customers created at this time or earlier.',
      ...foundBy('created'),
    }),
    updatedAfter: t.field({
      type: 'DateTime',
      description: 'Customers last changed at this time or later.',
      ...foundBy('updated'),
    }),
    updatedBefore: t.field({
      type: 'DateTime',
      description: 'Customers last changed at this time or earlier.',
      ...foundBy('updated'),
    }),
    isIncludingDeleted: t.boolean({
      defaultValue: false,
      description: 'Whether deleted customers are returned, too.',
      ...foundBy('any'),
    }),
  }),
});

export const AccountFilter = builder.inputType('AccountFilter', {
  description: 'Conditions on accounts. An account must match all that are given.',
  fields: (t) => ({
    kind: t.field({ type: AccountKind, description: 'Only internal or only external accounts.', ...foundBy('kind') }),
    currency: t.field({
      type: 'CurrencyCode',
      description: 'Accounts in the currency with this code.',
      ...foundBy('index'),
    }),
    customerId: t.id({ description: 'Accounts that belong to this customer: Customer:…', ...foundBy('index') }),
    platformOwned: t.boolean({
      description: "True returns only the platform's own accounts, false only those of its customers.",
      ...foundBy('index'),
    }),
    isIncludingDeleted: t.boolean({
      defaultValue: false,
      description: 'Whether deleted external accounts are returned, too.',
      ...foundBy('any'),
    }),
    status: t.field({
      type: [ExternalAccountStatus],
      description: 'External accounts with any of these statuses.',
      ...foundBy('index'),
    }),
    accountType: t.field({
      type: [ExternalAccountType],
      description: 'External accounts of any of these types.',
      ...foundBy('index'),
    }),
    beneficiaryVerificationStatus: t.field({
      type: [BeneficiaryVerificationStatus],
      description: "External accounts whose owner's verification has any of these statuses.",
      ...foundBy('index'),
    }),
  }),
});

export const ApiTokenFilter = builder.inputType('ApiTokenFilter', {
  description: 'Conditions on API tokens. A token must match all that are given.',
  fields: (t) => ({
    name: t.string({ description: 'API tokens with exactly this name.' }),
    permission: t.field({ type: Permission, description: 'API tokens that have this permission.' }),
    createdById: t.id({ description: 'API tokens that were created by this API token: ApiToken:…' }),
    createdAfter: t.field({
      type: 'DateTime',
      description: 'API tokens created at this time or later.',
      ...foundBy('created'),
    }),
    createdBefore: t.field({
      type: 'DateTime',
      description: 'API tokens created at this time or earlier.',
      ...foundBy('created'),
    }),
  }),
});

export const ClientTokenFilter = builder.inputType('ClientTokenFilter', {
  description: 'Conditions on client tokens. A token must match all that are given.',
  fields: (t) => ({
    active: t.boolean({
      description: 'True returns only tokens that have neither expired nor been revoked, false only the others.',
    }),
    customerId: t.id({
      description: 'Client tokens bound to this customer, or to one of its quotes or transactions.',
      ...foundBy('index'),
    }),
  }),
});

export const WebhookDeliveryFilter = builder.inputType('WebhookDeliveryFilter', {
  description: 'Conditions on webhook deliveries.',
  fields: (t) => ({
    // An index has those that are not DELIVERED, and nearly all others are.
    status: t.field({
      type: [WebhookDeliveryStatus],
      description: 'Webhook deliveries with any of these statuses.',
      ...foundBy('any'),
    }),
  }),
});

import type { EnumRef, InputFieldMap } from '@pothos/core';
import type { GraphQLInputFieldExtensions } from 'graphql';
import { builder, type InputBuilder, required, type Types } from './builder.ts';
import * as enums from './enums.ts';

/**
 * Defines the filter inputs of lists. domain/commands/filters.ts turns them into conditions. Ranges include both ends
 * and follow one naming scheme: `createdAfter`/`createdBefore`, `updatedAfter`/`updatedBefore`, `min`/`max` (amounts).
 */

/** Describes a filter field by which rows can be found without a search. Filtering by any other field costs more. */
export const found = (foundBy: GraphQLInputFieldExtensions['foundBy'], description: string) =>
  ({ description, extensions: { foundBy } }) as const;

/** Describes a filter that takes a list of values. An index finds the rows that have any of these values. */
function anyOf<Type extends EnumRef<Types, unknown>>(
  type: Type,
  description: string,
): { readonly type: [Type] } & ReturnType<typeof found> {
  return { type: [type], ...found('index', description) };
}

/** Adds a filter. `one` and `all` are the nouns for one row and for several, such as "A quote" and "quotes". */
export const filterInput = <Fields extends InputFieldMap>(
  name: string,
  [one, all]: readonly [one: string, all: string],
  fields: (t: InputBuilder) => Fields,
) => builder.inputType(name, { description: `Conditions on ${all}. ${one} must match all given conditions.`, fields });

const createdIn = (t: InputBuilder, rows: string) => ({
  createdAfter: t.field({ type: 'DateTime', ...found('created', `${rows} created at this time or later.`) }),
  createdBefore: t.field({ type: 'DateTime', ...found('created', `${rows} created at this time or earlier.`) }),
});

const updatedIn = (t: InputBuilder, rows: string) => ({
  updatedAfter: t.field({ type: 'DateTime', ...found('updated', `${rows} last changed at this time or later.`) }),
  updatedBefore: t.field({ type: 'DateTime', ...found('updated', `${rows} last changed at this time or earlier.`) }),
});

const AmountRange = builder.inputType('AmountRange', {
  description: 'A range of amounts in one currency, with inclusive bounds.',
  fields: (t) => ({
    currency: t.field(required('CurrencyCode', 'The currency code of the amounts.')),
    min: t.field({
      type: 'BigInt',
      description: "The minimum amount, in the currency's smallest unit. If omitted, there is no lower bound.",
    }),
    max: t.field({
      type: 'BigInt',
      description: "The maximum amount, in the currency's smallest unit. If omitted, there is no upper bound.",
    }),
  }),
});

export const QuoteFilter = filterInput('QuoteFilter', ['A quote', 'quotes'], (t) => ({
  customerId: t.id(found('index', 'Quotes whose sender is this customer (`Customer:…`).')),
  sendingAccountId: t.id(
    found('index', 'Quotes that are paid from this account (`InternalAccount:…` or `ExternalAccount:…`).'),
  ),
  receivingAccountId: t.id(
    found('index', 'Quotes that pay into this account (`InternalAccount:…` or `ExternalAccount:…`).'),
  ),
  sendingUmaAddress: t.string({
    description: 'Quotes whose sender is the customer with this UMA address (case-insensitive).',
  }),
  receivingUmaAddress: t.string(found('index', 'Quotes that pay to this UMA address (case-insensitive).')),
  status: t.field(anyOf(enums.QuoteStatus, 'Quotes with any of these statuses.')),
  ...createdIn(t, 'Quotes'),
}));

export const TransactionFilter = filterInput('TransactionFilter', ['A transaction', 'transactions'], (t) => ({
  customerId: t.id(found('index', 'Transactions of this customer (`Customer:…`).')),
  platformCustomerId: t.string({ description: 'Transactions of the customer with this `platformCustomerId`.' }),
  senderAccountIdentifier: t.string({ description: 'Transactions with this source: an account id or a UMA address.' }),
  receiverAccountIdentifier: t.string({
    description: 'Transactions with this destination: an account id or a UMA address.',
  }),
  status: t.field(anyOf(enums.TransactionStatus, 'Transactions with any of these statuses.')),
  type: t.field(anyOf(enums.TransactionType, 'Transactions in any of these directions.')),
  failureReason: t.field(anyOf(enums.FailureReason, 'Transactions that failed for any of these reasons.')),
  reference: t.string(found('one', 'Transactions with exactly this reconciliation reference.')),
  accountId: t.id(found('index', 'Transactions from or to this account (`InternalAccount:…` or `ExternalAccount:…`).')),
  currency: t.field({
    type: 'CurrencyCode',
    description: 'Transactions whose sent or received amount is in the currency with this code.',
  }),
  amount: t.field({ type: AmountRange, description: 'Transactions whose sent or received amount is in this range.' }),
  executed: t.boolean(
    found(
      'index',
      'If false, only payments whose quote has been neither executed nor funded, which are PENDING or EXPIRED; if true, all other payments.',
    ),
  ),
  ...createdIn(t, 'Transactions'),
  ...updatedIn(t, 'Transactions'),
}));

export const CustomerFilter = filterInput('CustomerFilter', ['A customer', 'customers'], (t) => ({
  platformCustomerId: t.string(found('index', 'The customer with exactly this `platformCustomerId`.')),
  customerType: t.field({ type: enums.CustomerType, description: 'Only people or only companies.' }),
  kycStatus: t.field(anyOf(enums.KycStatus, 'Customers whose identity check has any of these statuses.')),
  name: t.string({ description: 'Customers whose full or legal name begins with this string (case-insensitive).' }),
  umaAddress: t.string(found('one', 'The customer with this UMA address (case-insensitive).')),
  ...createdIn(t, 'Customers'),
  ...updatedIn(t, 'Customers'),
  isIncludingDeleted: t.boolean({ defaultValue: false, ...found('any', 'Whether to include deleted customers.') }),
}));

export const AccountFilter = filterInput('AccountFilter', ['An account', 'accounts'], (t) => ({
  kind: t.field({ type: enums.AccountKind, ...found('kind', 'Only internal or only external accounts.') }),
  currency: t.field({ type: 'CurrencyCode', ...found('index', 'Accounts in the currency with this code.') }),
  customerId: t.id(found('index', 'Accounts that belong to this customer (`Customer:…`).')),
  platformOwned: t.boolean(
    found('index', "If true, only the platform's own accounts; if false, only its customers' accounts."),
  ),
  isIncludingDeleted: t.boolean({
    defaultValue: false,
    ...found('any', 'Whether to include deleted external accounts.'),
  }),
  status: t.field(anyOf(enums.ExternalAccountStatus, 'External accounts with any of these statuses.')),
  accountType: t.field(anyOf(enums.ExternalAccountType, 'External accounts of any of these types.')),
  beneficiaryVerificationStatus: t.field(
    anyOf(
      enums.BeneficiaryVerificationStatus,
      'External accounts with any of these beneficiary verification statuses.',
    ),
  ),
}));

export const ApiTokenFilter = filterInput('ApiTokenFilter', ['A token', 'API tokens'], (t) => ({
  name: t.string({ description: 'API tokens with exactly this name.' }),
  permission: t.field({ type: enums.Permission, description: 'API tokens that have this permission.' }),
  createdById: t.id({ description: 'API tokens that were created by this API token (`ApiToken:…`).' }),
  ...createdIn(t, 'API tokens'),
}));

export const ClientTokenFilter = filterInput('ClientTokenFilter', ['A token', 'client tokens'], (t) => ({
  active: t.boolean({ description: 'If true, only valid tokens; if false, only expired and revoked ones.' }),
  customerId: t.id(found('index', 'Client tokens bound to this customer, or to one of its quotes or transactions.')),
}));

export const WebhookDeliveryFilter = builder.inputType('WebhookDeliveryFilter', {
  description: 'Conditions on webhook deliveries.',
  fields: (t) => ({
    // An index covers the deliveries that are not DELIVERED. Filtering for DELIVERED excludes few rows, because nearly
    // all deliveries have that status.
    status: t.field({
      type: [enums.WebhookDeliveryStatus],
      ...found('any', 'Webhook deliveries with any of these statuses.'),
    }),
  }),
});

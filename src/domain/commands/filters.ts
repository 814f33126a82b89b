import {
  anyOf,
  byId,
  byText,
  type ChangeFilter,
  type CreationFilter,
  created,
  type Given,
  matchesNothing,
  updated,
} from '../../core/conditions.ts';
import { type AccountName, accountNameIn } from '../../core/ids.ts';
import { foldedText } from '../../core/texts.ts';
import type * as model from '../../infra/database/generated/client/client.ts';
import {
  type Scope,
  seesAny,
  visibleAccounts,
  visibleCustomers,
  visibleQuotes,
  visibleTransactions,
} from '../access/visible.ts';
import { normalUmaAddress } from './uma-addresses.ts';

/**
 * List filters, which are the same in every API. Given fields are combined with AND, a list matches any of its values,
 * and date ranges include both ends. A malformed id, or an id that belongs to another platform, matches nothing.
 * A condition on data that the caller may not see also matches nothing, because a match would reveal the data.
 */

/** Filters on text fields. */
type Texts<Field extends string> = { readonly [Name in Field]?: Given<string> };

/** Filters on columns, each with a list of accepted values. */
type Lists<Row, Column extends keyof Row> = { readonly [Name in Column]?: Given<readonly NonNullable<Row[Name]>[]> };

export type QuoteFilter = CreationFilter &
  Lists<model.Quote, 'status'> &
  Texts<'customerId' | 'sendingAccountId' | 'receivingAccountId' | 'sendingUmaAddress' | 'receivingUmaAddress'>;

/** A filter for transactions. The sender's and receiver's identifiers are account ids or UMA addresses. */
export interface TransactionFilter
  extends ChangeFilter,
    Lists<model.Transaction, 'status' | 'type' | 'failureReason'>,
    Texts<'customerId' | 'platformCustomerId' | 'reference' | 'accountId' | 'currency'>,
    Texts<'senderAccountIdentifier' | 'receiverAccountIdentifier'> {
  readonly amount?: Given<AmountRange>;
  /** Whether the payment has begun; false if its quote was never executed or funded. */
  readonly executed?: Given<boolean>;
}

/** An inclusive range for the amount sent or received in a currency, in the currency's smallest unit. */
export interface AmountRange {
  readonly currency: string;
  readonly min?: Given<bigint>;
  readonly max?: Given<bigint>;
}

/** A filter for customers. `name` is a prefix of the full or legal name. */
export interface CustomerFilter
  extends ChangeFilter,
    Lists<model.Customer, 'kycStatus'>,
    Texts<'platformCustomerId' | 'name' | 'umaAddress'> {
  readonly customerType?: Given<model.CustomerType>;
  readonly isIncludingDeleted?: Given<boolean>;
}

export interface AccountFilter
  extends Lists<model.Account, 'status' | 'accountType' | 'beneficiaryVerificationStatus'>,
    Texts<'currency' | 'customerId'> {
  readonly kind?: Given<model.AccountKind>;
  readonly platformOwned?: Given<boolean>;
  readonly isIncludingDeleted?: Given<boolean>;
}

/** Returns the condition for the quotes that the caller may see and that match a filter. */
export function whereQuotes(caller: Scope, filter: Given<QuoteFilter>): model.Prisma.QuoteWhereInput {
  if (!filter) return visibleQuotes(caller);
  return {
    AND: [
      visibleQuotes(caller),
      byId(filter.customerId, (customerId) => ofCustomer(caller, { customerId }), 'Customer'),
      byAccount(filter.sendingAccountId, fromAccount),
      byAccount(filter.receivingAccountId, toAccount),
      byUma(filter.sendingUmaAddress, (umaAddress) => ofCustomer(caller, { customer: { umaAddress } })),
      byUma(filter.receivingUmaAddress, (address) => ({ destinationUmaAddress: address })),
    ],
    ...anyOf('status', filter.status),
    ...created(filter),
  };
}

/** Returns the condition for the transactions that a caller may see and that match a filter. */
export function whereTransactions(caller: Scope, filter: Given<TransactionFilter>): model.Prisma.TransactionWhereInput {
  if (!filter) return visibleTransactions(caller);
  return {
    AND: [
      visibleTransactions(caller),
      byId(filter.customerId, (customerId) => ofCustomer(caller, { customerId }), 'Customer'),
      byIdentifier(filter.senderAccountIdentifier, fromAccount, (umaAddress) => ({
        OR: [{ sourceUmaAddress: umaAddress }, ofCustomer(caller, { type: 'OUTGOING', customer: { umaAddress } })],
      })),
      byIdentifier(filter.receiverAccountIdentifier, toAccount, (umaAddress) => ({
        OR: [{ destinationUmaAddress: umaAddress }, ofCustomer(caller, { type: 'INCOMING', customer: { umaAddress } })],
      })),
      byText(filter.platformCustomerId, (platformCustomerId) =>
        ofCustomer(caller, { customer: { platformCustomerId } }),
      ),
      byText(filter.reference, (reference) => ({ reference })),
      byAccount(filter.accountId, (name) => ({ OR: [fromAccount(name), toAccount(name)] })),
      byText(filter.currency, (currency) => ({ OR: [{ sentCurrency: currency }, { receivedCurrency: currency }] })),
      filter.amount ? ofAmount(filter.amount) : {},
      filter.executed == null ? {} : filter.executed ? begun : notBegun,
    ],
    ...anyOf('status', filter.status),
    ...anyOf('type', filter.type),
    ...anyOf('failureReason', filter.failureReason),
    ...created(filter),
    ...updated(filter),
  };
}

/** Returns the condition for the customers that a caller may see and that match a filter. */
export function whereCustomers(caller: Scope, filter: Given<CustomerFilter>): model.Prisma.CustomerWhereInput {
  return {
    AND: [
      visibleCustomers(caller),
      byText(filter?.platformCustomerId, (platformCustomerId) => ({ platformCustomerId })),
      byUma(filter?.umaAddress, (umaAddress) => ({ umaAddress })),
      byText(filter?.name, (name) => ({ searchName: { startsWith: foldedText(name) } })),
    ],
    ...anyOf('kycStatus', filter?.kycStatus),
    ...(!filter?.isIncludingDeleted && { isDeleted: false }),
    ...(filter?.customerType && { customerType: filter.customerType }),
    ...created(filter ?? {}),
    ...updated(filter ?? {}),
  };
}

/** By default, deleted accounts do not match. */
export function whereAccounts(caller: Scope, filter: Given<AccountFilter>): model.Prisma.AccountWhereInput {
  if (!filter) return { AND: [visibleAccounts(caller), { isDeleted: false }] };
  return {
    AND: [
      visibleAccounts(caller),
      filter.isIncludingDeleted ? {} : { isDeleted: false },
      byId(filter.customerId, (customerId) => ({ customerId }), 'Customer'),
      byText(filter.currency, (currency) => ({ currency })),
      filter.platformOwned == null ? {} : { customerId: filter.platformOwned ? null : { not: null } },
    ],
    ...(filter.kind && { kind: filter.kind }),
    ...anyOf('status', filter.status),
    ...anyOf('accountType', filter.accountType),
    ...anyOf('beneficiaryVerificationStatus', filter.beneficiaryVerificationStatus),
  };
}

/**
 * Matches payments that have begun. A quote's payment is PENDING until the quote is executed or funded. An EXPIRED
 * payment has begun only if its approval timed out. The SQL must match the condition of the partial index
 * transaction_begun.
 */
const begun: model.Prisma.TransactionWhereInput = {
  OR: [
    { quoteId: null },
    { AND: [{ status: { not: 'PENDING' } }, { status: { not: 'EXPIRED' } }] },
    { failureReason: 'PAYMENT_APPROVAL_TIMED_OUT' },
  ],
};
const notBegun: model.Prisma.TransactionWhereInput = {
  quoteId: { not: null },
  OR: [{ status: 'PENDING' }, { status: 'EXPIRED', failureReason: 'QUOTE_EXPIRED' }],
};

function ofAmount({ currency, min, max }: AmountRange): model.Prisma.TransactionWhereInput | object {
  const range = { ...(min != null && { gte: min }), ...(max != null && { lte: max }) };
  return byText(currency, (code) => ({
    OR: [
      { sentCurrency: code, sentAmount: range },
      { receivedCurrency: code, receivedAmount: range },
    ],
  }));
}

/** Matches no row if the caller may not see customers. */
function ofCustomer<Where>(caller: Scope, where: Where): Where | typeof matchesNothing {
  return seesAny('customer', caller) ? where : matchesNothing;
}

/** Matches no row if the id is malformed or names a different kind of account. */
function byAccount(id: Given<string>, where: (name: AccountName) => object): object {
  if (id === null || id === undefined) return {};
  const name = accountNameIn(id);
  return name === undefined ? matchesNothing : where(name);
}

const fromAccount = ({ id, kind }: AccountName) => ({ sourceAccountId: id, sourceAccount: { kind } });
const toAccount = ({ id, kind }: AccountName) => ({ destinationAccountId: id, destinationAccount: { kind } });

function byIdentifier(
  identifier: Given<string>,
  byName: (name: AccountName) => object,
  byAddress: (address: string) => object,
): object {
  return identifier?.includes('$') ? byUma(identifier, byAddress) : byAccount(identifier, byName);
}

/** Returns a condition on a UMA address in its stored form. */
function byUma(given: Given<string>, where: (address: string) => object): object {
  // A provider may report a payer's address in a form that our own addresses cannot have.
  return byText(given, (address) => where(normalUmaAddress(address) ?? address.toLowerCase()));
}

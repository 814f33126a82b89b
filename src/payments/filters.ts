import {
  type Scope,
  seesAny,
  visibleAccounts,
  visibleCustomers,
  visibleQuotes,
  visibleTransactions,
} from '../access/visible.ts';
import { byText, created, type Given, matchesNothing } from '../core/conditions.ts';
import { type AccountName, accountNameIn, type IdType, uuidOf } from '../core/ids.ts';
import type {
  AccountKind,
  CustomerType,
  Prisma,
  QuoteStatus,
  TransactionStatus,
  TransactionType,
} from '../database/generated/client/client.ts';

/**
 * The filters of lists, the same in every API. Given fields combine with AND, a list means any of its values, and both
 * ends of a date range are inclusive. An id that is malformed or of another platform matches nothing. So does a
 * condition on what the caller may not see, because a match would reveal it.
 */

/** A filter of quotes (specification 4.2). */
export interface QuoteFilter {
  readonly customerId?: Given<string>;
  readonly sendingAccountId?: Given<string>;
  readonly receivingAccountId?: Given<string>;
  readonly sendingUmaAddress?: Given<string>;
  readonly receivingUmaAddress?: Given<string>;
  readonly status?: Given<readonly QuoteStatus[]>;
  readonly createdAfter?: Given<Date>;
  readonly createdBefore?: Given<Date>;
}

/** A filter of transactions (specification 4.4). Identifiers are account ids or UMA addresses (decision 15). */
export interface TransactionFilter {
  readonly customerId?: Given<string>;
  readonly platformCustomerId?: Given<string>;
  readonly senderAccountIdentifier?: Given<string>;
  readonly receiverAccountIdentifier?: Given<string>;
  readonly status?: Given<readonly TransactionStatus[]>;
  readonly type?: Given<TransactionType>;
  readonly reference?: Given<string>;
  readonly startDate?: Given<Date>;
  readonly endDate?: Given<Date>;
}

/** A filter of customers (specification 4.11). */
export interface CustomerFilter {
  readonly platformCustomerId?: Given<string>;
  readonly customerType?: Given<CustomerType>;
  readonly umaAddress?: Given<string>;
  readonly createdAfter?: Given<Date>;
  readonly createdBefore?: Given<Date>;
  readonly updatedAfter?: Given<Date>;
  readonly updatedBefore?: Given<Date>;
  readonly isIncludingDeleted?: Given<boolean>;
}

/** A filter of accounts (specification 4.9, 4.10, 4.13). */
export interface AccountFilter {
  readonly kind?: Given<AccountKind>;
  readonly currency?: Given<string>;
  readonly customerId?: Given<string>;
  readonly platformOwned?: Given<boolean>;
  /** Also deleted external accounts, which lists leave out otherwise. */
  readonly isIncludingDeleted?: Given<boolean>;
}

/** Returns the condition for the quotes that the caller may see and that match a filter. */
export function whereQuotes(caller: Scope, filter: Given<QuoteFilter>): Prisma.QuoteWhereInput {
  if (!filter) return visibleQuotes(caller);
  return {
    AND: [
      visibleQuotes(caller),
      byId(filter.customerId, 'Customer', (customerId) => ofCustomer(caller, { customerId })),
      byAccount(filter.sendingAccountId, fromAccount),
      byAccount(filter.receivingAccountId, toAccount),
      byText(filter.sendingUmaAddress, (address) =>
        ofCustomer(caller, { customer: { umaAddress: address.toLowerCase() } }),
      ),
      byText(filter.receivingUmaAddress, (address) => ({ destinationUmaAddress: address.toLowerCase() })),
    ],
    ...(filter.status && { status: { in: [...filter.status] } }),
    ...created(filter.createdAfter, filter.createdBefore),
  };
}

/** Returns the condition for the transactions that the caller may see and that match a filter. */
export function whereTransactions(caller: Scope, filter: Given<TransactionFilter>): Prisma.TransactionWhereInput {
  if (!filter) return visibleTransactions(caller);
  return {
    AND: [
      visibleTransactions(caller),
      byId(filter.customerId, 'Customer', (customerId) => ofCustomer(caller, { customerId })),
      byIdentifier(filter.senderAccountIdentifier, fromAccount, (address) => ({
        OR: [
          { sourceUmaAddress: address },
          ofCustomer(caller, { type: 'OUTGOING' as const, customer: { umaAddress: address } }),
        ],
      })),
      byIdentifier(filter.receiverAccountIdentifier, toAccount, (address) => ({
        OR: [
          { destinationUmaAddress: address },
          ofCustomer(caller, { type: 'INCOMING' as const, customer: { umaAddress: address } }),
        ],
      })),
      byText(filter.platformCustomerId, (platformCustomerId) =>
        ofCustomer(caller, { customer: { platformCustomerId } }),
      ),
      byText(filter.reference, (reference) => ({ reference })),
    ],
    ...(filter.status && { status: { in: [...filter.status] } }),
    ...(filter.type && { type: filter.type }),
    ...created(filter.startDate, filter.endDate),
  };
}

/**
 * Returns the condition for the customers that the caller may see and that match a filter. Deleted customers need
 * `isIncludingDeleted`.
 */
export function whereCustomers(caller: Scope, filter: Given<CustomerFilter>): Prisma.CustomerWhereInput {
  return {
    AND: [
      visibleCustomers(caller),
      byText(filter?.platformCustomerId, (platformCustomerId) => ({ platformCustomerId })),
      byText(filter?.umaAddress, (address) => ({ umaAddress: address.toLowerCase() })),
    ],
    ...(!filter?.isIncludingDeleted && { isDeleted: false }),
    ...(filter?.customerType && { customerType: filter.customerType }),
    ...created(filter?.createdAfter, filter?.createdBefore),
    ...((filter?.updatedAfter || filter?.updatedBefore) && {
      updatedAt: {
        ...(filter.updatedAfter && { gte: filter.updatedAfter }),
        ...(filter.updatedBefore && { lte: filter.updatedBefore }),
      },
    }),
  };
}

/** Returns the condition for the accounts that the caller may see and that match a filter. */
export function whereAccounts(caller: Scope, filter: Given<AccountFilter>): Prisma.AccountWhereInput {
  if (!filter) return { AND: [visibleAccounts(caller), { isDeleted: false }] };
  return {
    AND: [
      visibleAccounts(caller),
      filter.isIncludingDeleted ? {} : { isDeleted: false },
      byId(filter.customerId, 'Customer', (customerId) => ({ customerId })),
      byText(filter.currency, (currency) => ({ currency })),
      filter.platformOwned == null ? {} : { customerId: filter.platformOwned ? null : { not: null } },
    ],
    ...(filter.kind && { kind: filter.kind }),
  };
}

/**
 * Returns a condition on the customer of a payment. No row meets it where the caller may not see the customers of
 * payments.
 */
function ofCustomer<Where>(caller: Scope, where: Where): Where | typeof matchesNothing {
  return seesAny('customer', caller) ? where : matchesNothing;
}

/** Returns a condition on an id. No row meets it where the id is malformed or of another type. */
function byId<Where>(
  id: Given<string>,
  type: IdType,
  where: (uuid: string) => Where,
): Where | typeof matchesNothing | object {
  if (id === null || id === undefined) return {};
  const uuid = uuidOf(id, type);
  return uuid === undefined ? matchesNothing : where(uuid);
}

/** Returns a condition on an account. No row meets it where the id is malformed or not of the account's kind. */
function byAccount<Where>(
  id: Given<string>,
  where: (name: AccountName) => Where,
): Where | typeof matchesNothing | object {
  if (id === null || id === undefined) return {};
  const name = accountNameIn(id);
  return name === undefined ? matchesNothing : where(name);
}

const fromAccount = ({ id, kind }: AccountName) => ({ sourceAccountId: id, sourceAccount: { kind } });
const toAccount = ({ id, kind }: AccountName) => ({ destinationAccountId: id, destinationAccount: { kind } });

function byIdentifier<A, B>(
  identifier: Given<string>,
  byName: (name: AccountName) => A,
  byUma: (address: string) => B,
): A | B | object {
  if (identifier?.startsWith('$')) return byText(identifier, (address) => byUma(address.toLowerCase()));
  return byAccount(identifier, byName);
}

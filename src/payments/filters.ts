import { byText, created, type Given, matchesNothing } from '../core/conditions.ts';
import { uuidOf } from '../core/ids.ts';
import type {
  AccountKind,
  CustomerType,
  Prisma,
  QuoteStatus,
  TransactionStatus,
  TransactionType,
} from '../database/generated/client/client.ts';

/**
 * Filters of lists, the same on every door: what is given combines with AND, a list means any of its values, date-times
 * are inclusive, and an id that is malformed or another platform's matches nothing.
 */

/** Which quotes (specification 4.2). */
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

/** Which transactions (specification 4.4). Identifiers are account ids or UMA addresses (decision 15). */
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

/** Which customers (specification 4.11). */
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

/** Which accounts (specification 4.9, 4.10, 4.13). */
export interface AccountFilter {
  readonly kind?: Given<AccountKind>;
  readonly currency?: Given<string>;
  readonly customerId?: Given<string>;
  readonly platformOwned?: Given<boolean>;
}

/** The rows of a platform's quotes that a filter wants. */
export function whereQuotes(platformId: string, filter: Given<QuoteFilter>): Prisma.QuoteWhereInput {
  if (!filter) return { platformId };
  return {
    platformId,
    AND: [
      byId(filter.customerId, ['Customer'], (customerId) => ({ customerId })),
      byId(filter.sendingAccountId, ['InternalAccount', 'ExternalAccount'], (sourceAccountId) => ({ sourceAccountId })),
      byId(filter.receivingAccountId, ['InternalAccount', 'ExternalAccount'], (destinationAccountId) => ({
        destinationAccountId,
      })),
      byText(filter.sendingUmaAddress, (address) => ({ customer: { umaAddress: address.toLowerCase() } })),
      byText(filter.receivingUmaAddress, (address) => ({ destinationUmaAddress: address.toLowerCase() })),
    ],
    ...(filter.status && { status: { in: [...filter.status] } }),
    ...created(filter.createdAfter, filter.createdBefore),
  };
}

/** The rows of a platform's transactions that a filter wants. */
export function whereTransactions(platformId: string, filter: Given<TransactionFilter>): Prisma.TransactionWhereInput {
  if (!filter) return { platformId };
  return {
    platformId,
    AND: [
      byId(filter.customerId, ['Customer'], (customerId) => ({ customerId })),
      byIdentifier(
        filter.senderAccountIdentifier,
        (sourceAccountId) => ({ sourceAccountId }),
        (address) => ({
          OR: [{ sourceUmaAddress: address }, { type: 'OUTGOING', customer: { umaAddress: address } }],
        }),
      ),
      byIdentifier(
        filter.receiverAccountIdentifier,
        (destinationAccountId) => ({ destinationAccountId }),
        (address) => ({
          OR: [{ destinationUmaAddress: address }, { type: 'INCOMING', customer: { umaAddress: address } }],
        }),
      ),
      byText(filter.platformCustomerId, (platformCustomerId) => ({ customer: { platformCustomerId } })),
      byText(filter.reference, (reference) => ({ reference })),
    ],
    ...(filter.status && { status: { in: [...filter.status] } }),
    ...(filter.type && { type: filter.type }),
    ...created(filter.startDate, filter.endDate),
  };
}

/** The rows of a platform's customers that a filter wants; deleted ones only when asked for. */
export function whereCustomers(platformId: string, filter: Given<CustomerFilter>): Prisma.CustomerWhereInput {
  return {
    platformId,
    AND: [
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

/** The rows of a platform's accounts that a filter wants. */
export function whereAccounts(platformId: string, filter: Given<AccountFilter>): Prisma.AccountWhereInput {
  if (!filter) return { platformId };
  return {
    platformId,
    AND: [
      byId(filter.customerId, ['Customer'], (customerId) => ({ customerId })),
      byText(filter.currency, (currency) => ({ currency })),
      filter.platformOwned == null ? {} : { customerId: filter.platformOwned ? null : { not: null } },
    ],
    ...(filter.kind && { kind: filter.kind }),
  };
}

/** An id that is malformed or of another type names nothing, so nothing matches. */
function byId<Where>(
  id: Given<string>,
  types: Parameters<typeof uuidOf>[1][],
  where: (uuid: string) => Where,
): Where | typeof matchesNothing | object {
  if (id === null || id === undefined) return {};
  const uuid = uuidOf(id, ...types);
  return uuid === undefined ? matchesNothing : where(uuid);
}

function byIdentifier<A, B>(
  identifier: Given<string>,
  byAccount: (uuid: string) => A,
  byUma: (address: string) => B,
): A | B | object {
  if (identifier?.startsWith('$')) return byText(identifier, (address) => byUma(address.toLowerCase()));
  return byId(identifier, ['InternalAccount', 'ExternalAccount'], byAccount);
}

import type { Viewer } from '../access/viewer.ts';
import type { Prisma } from '../database/generated/client/client.ts';
import { isPlainText } from '../payments/checks.ts';
import { firstIdAt, lastIdAt, uuidOf } from '../payments/ids.ts';
import { builder } from './builder.ts';
import { AccountKind, CustomerType, QuoteStatus, TransactionStatus, TransactionType } from './enums.ts';
import { matchesNothing } from './paging.ts';
import { visibleAccounts, visibleCustomers, visibleQuotes, visibleTransactions } from './visible.ts';

/** Filters of lists: what is given combines with AND, a list means any of its values, date-times are inclusive. */

type ShapeOf<Ref> = Ref extends { $inferInput: infer Shape } ? Shape : never;
type Given<T> = T | null | undefined;

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
  }),
});

/** The quotes that the caller may see and a filter wants. */
export function whereQuotes(viewer: Viewer, filter: Given<ShapeOf<typeof QuoteFilter>>): Prisma.QuoteWhereInput {
  if (!filter) return visibleQuotes(viewer);
  return {
    AND: [
      visibleQuotes(viewer),
      byId(filter.customerId, ['Customer'], (customerId) => ({ customerId })),
      byId(filter.sendingAccountId, ['InternalAccount', 'ExternalAccount'], (sourceAccountId) => ({ sourceAccountId })),
      byId(filter.receivingAccountId, ['InternalAccount', 'ExternalAccount'], (destinationAccountId) => ({
        destinationAccountId,
      })),
      byText(filter.sendingUmaAddress, (address) => ({ customer: { umaAddress: address.toLowerCase() } })),
      byText(filter.receivingUmaAddress, (address) => ({ destinationUmaAddress: address.toLowerCase() })),
    ],
    ...(filter.status && { status: { in: filter.status } }),
    ...created(filter.createdAfter, filter.createdBefore),
  };
}

/** The transactions that the caller may see and a filter wants. */
export function whereTransactions(
  viewer: Viewer,
  filter: Given<ShapeOf<typeof TransactionFilter>>,
): Prisma.TransactionWhereInput {
  if (!filter) return visibleTransactions(viewer);
  return {
    AND: [
      visibleTransactions(viewer),
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
    ...(filter.status && { status: { in: filter.status } }),
    ...(filter.type && { type: filter.type }),
    ...created(filter.startDate, filter.endDate),
  };
}

/** The customers that the caller may see and a filter wants; deleted ones only when asked for. */
export function whereCustomers(
  viewer: Viewer,
  filter: Given<ShapeOf<typeof CustomerFilter>>,
): Prisma.CustomerWhereInput {
  return {
    AND: [
      visibleCustomers(viewer),
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

/** The accounts that the caller may see and a filter wants. */
export function whereAccounts(viewer: Viewer, filter: Given<ShapeOf<typeof AccountFilter>>): Prisma.AccountWhereInput {
  if (!filter) return visibleAccounts(viewer);
  return {
    AND: [
      visibleAccounts(viewer),
      byId(filter.customerId, ['Customer'], (customerId) => ({ customerId })),
      byText(filter.currency, (currency) => ({ currency })),
      filter.platformOwned == null ? {} : { customerId: filter.platformOwned ? null : { not: null } },
    ],
    ...(filter.kind && { kind: filter.kind }),
  };
}

/** Creation time is inside the id, so the index that pages also serves the dates. Both bounds are inclusive. */
function created(after: Given<Date>, before: Given<Date>) {
  return after || before
    ? { id: { ...(after && { gte: firstIdAt(after) }), ...(before && { lte: lastIdAt(before) }) } }
    : {};
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

/** Text that cannot be stored is nowhere to be found. */
function byText<Where>(text: Given<string>, where: (text: string) => Where): Where | typeof matchesNothing | object {
  if (text === null || text === undefined) return {};
  return isPlainText(text) ? where(text) : matchesNothing;
}

function byIdentifier<A, B>(
  identifier: Given<string>,
  byAccount: (uuid: string) => A,
  byUma: (address: string) => B,
): A | B | object {
  if (identifier?.startsWith('$')) return byText(identifier, (address) => byUma(address.toLowerCase()));
  return byId(identifier, ['InternalAccount', 'ExternalAccount'], byAccount);
}

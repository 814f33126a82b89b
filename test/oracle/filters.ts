import { uuidOf } from '../../src/core/ids.ts';
import { canonicalText, foldedText, isPlainText } from '../../src/core/texts.ts';
import type { AccountKind, Prisma } from '../../src/infra/database/generated/client/client.ts';
import type { Data } from '../setup/gateway.ts';
import type { PlainViewer } from './viewer.ts';

/**
 * The meaning of lists' filters, from the documents: conditions combine with AND, a list means any of its values, times are
 * inclusive, and an id that is malformed or of another type matches nothing. So does a condition on a customer for a caller who
 * may not see whose a payment is.
 */

const nothing = { id: { in: [] as string[] } };

/** What a filter asks, where it asks anything. */
function given<Value, Where>(value: Value | null | undefined, where: (value: Value) => Where): Where | object {
  return value === null || value === undefined ? {} : where(value);
}

/** Text that the database cannot hold is in no row. */
function text<Where>(value: string | null | undefined, where: (value: string) => Where): Where | object {
  return given(value, (known) => (isPlainText(known) ? where(canonicalText(known)) : nothing));
}

type IdType = Parameters<typeof uuidOf>[1];

function byId<Where>(value: string | null | undefined, types: readonly IdType[], where: (uuid: string) => Where) {
  return given(value, (id) => {
    const uuid = uuidOf(id, ...types);
    return uuid === undefined ? nothing : where(uuid);
  });
}

/** An account by its id, whose type is its kind. */
function byAccount<Where>(value: string | null | undefined, where: (id: string, kind: AccountKind) => Where) {
  return given(value, (id) => {
    const kind = id.startsWith('InternalAccount:') ? 'INTERNAL' : 'EXTERNAL';
    return byId(id, ['InternalAccount', 'ExternalAccount'], (uuid) => where(uuid, kind));
  });
}

const fromAccount = (id: string, kind: AccountKind) => ({
  AND: [{ sourceAccountId: id }, { sourceAccount: { kind } }],
});
const toAccount = (id: string, kind: AccountKind) => ({
  AND: [{ destinationAccountId: id }, { destinationAccount: { kind } }],
});

/** An end of a payment: a UMA address, which begins with $, or else an account's id. */
function byEnd<A, B>(
  value: string | null | undefined,
  ofUma: (address: string) => A,
  ofAccount: (uuid: string, kind: AccountKind) => B,
) {
  if (value?.startsWith('$')) return text(value, (address) => ofUma(address.toLowerCase()));
  return byAccount(value, ofAccount);
}

/** The filter on a payment's customer. */
function ofCustomer<Where>({ bound }: PlainViewer, where: Where): Where | typeof nothing {
  return bound.kind === 'PAYMENT' ? nothing : where;
}

export function quotesWanted(filter: Data, viewer: PlainViewer): Prisma.QuoteWhereInput {
  const { status, createdAfter, createdBefore } = filter ?? {};
  return {
    AND: [
      byId(filter?.customerId, ['Customer'], (customerId) => ofCustomer(viewer, { customerId })),
      byAccount(filter?.sendingAccountId, fromAccount),
      byAccount(filter?.receivingAccountId, toAccount),
      text(filter?.sendingUmaAddress, (address) =>
        ofCustomer(viewer, { customer: { umaAddress: address.toLowerCase() } }),
      ),
      text(filter?.receivingUmaAddress, (address) => ({ destinationUmaAddress: address.toLowerCase() })),
      given(status, (any) => ({ status: { in: any } })),
      given(createdAfter, (gte) => ({ createdAt: { gte } })),
      given(createdBefore, (lte) => ({ createdAt: { lte } })),
    ],
  };
}

export function transactionsWanted(filter: Data, viewer: PlainViewer): Prisma.TransactionWhereInput {
  return {
    AND: [
      byId(filter?.customerId, ['Customer'], (customerId) => ofCustomer(viewer, { customerId })),
      text(filter?.platformCustomerId, (platformCustomerId) =>
        ofCustomer(viewer, { customer: { platformCustomerId } }),
      ),
      byEnd(
        filter?.senderAccountIdentifier,
        // The sender of what goes out is its customer.
        (address) => ({
          OR: [
            { sourceUmaAddress: address },
            { AND: [{ type: 'OUTGOING' }, ofCustomer(viewer, { customer: { umaAddress: address } })] },
          ],
        }),
        fromAccount,
      ),
      byEnd(
        filter?.receiverAccountIdentifier,
        (address) => ({
          OR: [
            { destinationUmaAddress: address },
            { AND: [{ type: 'INCOMING' }, ofCustomer(viewer, { customer: { umaAddress: address } })] },
          ],
        }),
        toAccount,
      ),
      given(filter?.status, (any) => ({ status: { in: any } })),
      given(filter?.type, (any) => ({ type: { in: any } })),
      given(filter?.failureReason, (any) => ({ failureReason: { in: any } })),
      text(filter?.reference, (reference) => ({ reference })),
      byAccount(filter?.accountId, (id, kind) => ({ OR: [fromAccount(id, kind), toAccount(id, kind)] })),
      text(filter?.currency, (code) => ({ OR: [{ sentCurrency: code }, { receivedCurrency: code }] })),
      given(filter?.amount, ({ currency, min, max }: Data) => {
        const range = { gte: min ?? -(2n ** 63n), lte: max ?? 2n ** 63n - 1n };
        const ofSide = (code: string) => [
          { AND: [{ sentCurrency: code }, min == null && max == null ? {} : { sentAmount: range }] },
          { AND: [{ receivedCurrency: code }, min == null && max == null ? {} : { receivedAmount: range }] },
        ];
        return text(currency, (code) => ({ OR: ofSide(code) }));
      }),
      // The payment of a quote waits until the quote is executed, and expires with it.
      given(filter?.executed, (executed) => {
        const waiting = { AND: [{ NOT: { quoteId: null } }, { status: { in: ['PENDING', 'EXPIRED'] } }] } as const;
        return executed ? { NOT: waiting } : waiting;
      }),
      given(filter?.createdAfter, (gte) => ({ createdAt: { gte } })),
      given(filter?.createdBefore, (lte) => ({ createdAt: { lte } })),
      given(filter?.updatedAfter, (gte) => ({ updatedAt: { gte } })),
      given(filter?.updatedBefore, (lte) => ({ updatedAt: { lte } })),
    ],
  };
}

export function customersWanted(filter: Data): Prisma.CustomerWhereInput {
  return {
    AND: [
      filter?.isIncludingDeleted ? {} : { isDeleted: false },
      text(filter?.platformCustomerId, (platformCustomerId) => ({ platformCustomerId })),
      given(filter?.customerType, (customerType) => ({ customerType })),
      given(filter?.kycStatus, (any) => ({ kycStatus: { in: any } })),
      // Prisma takes % and _ as wildcards.
      text(filter?.name, (name) => ({
        searchName: { startsWith: foldedText(name).replace(/[\\%_]/g, '\\$&') },
      })),
      text(filter?.umaAddress, (address) => ({ umaAddress: address.toLowerCase() })),
      given(filter?.createdAfter, (gte) => ({ createdAt: { gte } })),
      given(filter?.createdBefore, (lte) => ({ createdAt: { lte } })),
      given(filter?.updatedAfter, (gte) => ({ updatedAt: { gte } })),
      given(filter?.updatedBefore, (lte) => ({ updatedAt: { lte } })),
    ],
  };
}

export function accountsWanted(filter: Data): Prisma.AccountWhereInput {
  return {
    AND: [
      given(filter?.kind, (kind) => ({ kind })),
      text(filter?.currency, (currency) => ({ currency })),
      byId(filter?.customerId, ['Customer'], (customerId) => ({ customerId })),
      given(filter?.platformOwned, (own) => ({ customerId: own ? null : { not: null } })),
      filter?.isIncludingDeleted ? {} : { isDeleted: false },
      given(filter?.status, (any) => ({ status: { in: any } })),
      given(filter?.accountType, (any) => ({ accountType: { in: any } })),
      given(filter?.beneficiaryVerificationStatus, (any) => ({ beneficiaryVerificationStatus: { in: any } })),
    ],
  };
}

export function tokensWanted(filter: Data): Prisma.ApiTokenWhereInput {
  return {
    AND: [
      text(filter?.name, (name) => ({ name })),
      given(filter?.permission, (permission) => ({ permissions: { has: permission } })),
      byId(filter?.createdById, ['ApiToken'], (createdById) => ({ createdById })),
      given(filter?.createdAfter, (gte) => ({ createdAt: { gte } })),
      given(filter?.createdBefore, (lte) => ({ createdAt: { lte } })),
    ],
  };
}

export function appsWanted(filter: Data): Prisma.ClientTokenWhereInput {
  const ended = { OR: [{ revokedAt: { not: null } }, { expiresAt: { lte: new Date() } }] };
  return {
    AND: [
      byId(filter?.customerId, ['Customer'], (ownerId) => ({ ownerId })),
      given(filter?.active, (active) => (active ? { NOT: ended } : ended)),
    ],
  };
}

export function deliveriesWanted(filter: Data): Prisma.WebhookDeliveryWhereInput {
  return given(filter?.status, (any) => ({ status: { in: any } }));
}

export function eventsWanted(filter: Data, viewer: PlainViewer): Prisma.EventWhereInput {
  return {
    AND: [
      given(filter?.types, (any) => ({ type: { in: any } })),
      byId(filter?.customerId, ['Customer'], (customerId) => ofCustomer(viewer, { customerId })),
      byId(filter?.transactionId, ['Transaction'], (transactionId) => ({ transactionId })),
    ],
  };
}

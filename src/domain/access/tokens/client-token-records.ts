import { byId, type Given } from '../../../core/conditions.ts';
import { publicId } from '../../../core/ids.ts';
import type { ClientToken, Prisma } from '../../../infra/database/generated/client/client.ts';

export interface ClientTokenFilter {
  /** Whether it has neither expired nor been revoked. */
  readonly active?: Given<boolean>;
  /** The public id of the customer that it is bound to, directly or through a quote or transaction. */
  readonly customerId?: Given<string>;
}

/** Postgres interprets this as the time of the statement, so the database's clock decides what has expired. */
const now = 'now';

/** Returns the condition for client tokens that match a filter. */
export function whereClientTokens(filter: ClientTokenFilter): Prisma.ClientTokenWhereInput {
  const { active } = filter;
  return {
    AND: [
      byId(filter.customerId, (ownerId) => ({ ownerId }), 'Customer'),
      active === true ? { revokedAt: null, expiresAt: { gt: now } } : {},
      active === false ? { OR: [{ revokedAt: { not: null } }, { expiresAt: { lte: now } }] } : {},
    ],
  };
}

/** Converts a row to the record of its token, without the token itself. Exactly one of the three ids is set. */
export function clientTokenRecord(row: ClientToken) {
  const { customerId, quoteId, transactionId, createdById, revokedAt } = row;
  return {
    id: publicId('ClientToken', row.id),
    ...(customerId !== null && { customerId: publicId('Customer', customerId) }),
    ...(quoteId !== null && { quoteId: publicId('Quote', quoteId) }),
    ...(transactionId !== null && { transactionId: publicId('Transaction', transactionId) }),
    permissions: row.permissions,
    grants: row.grants,
    trustedDocumentsOnly: row.trustedDocumentsOnly,
    ...(row.documents.length > 0 && { documents: row.documents }),
    ...(createdById !== null && { createdById: publicId('ApiToken', createdById) }),
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
    ...(revokedAt !== null && { revokedAt: revokedAt.toISOString() }),
  };
}

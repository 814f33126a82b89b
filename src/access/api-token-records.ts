import { byText } from '../core/conditions.ts';
import { publicId } from '../core/ids.ts';
import type { ApiToken, Permission, Prisma } from '../database/generated/client/client.ts';
import { hashSecret } from './api-tokens.ts';

/** Which API tokens. What is given combines with AND; date-times are inclusive. */
export interface ApiTokenFilter {
  readonly name?: string | undefined;
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
  readonly updatedAfter?: Date | undefined;
  readonly updatedBefore?: Date | undefined;
}

/**
 * The rows of a platform's tokens that a filter wants; revoked ones are not there any more. Nothing of a token changes
 * until it is revoked, so it was last changed when it was made.
 */
export function whereApiTokens(platformId: string, filter: ApiTokenFilter): Prisma.ApiTokenWhereInput {
  return {
    platformId,
    revokedAt: null,
    AND: [
      byText(filter.name, (name) => ({ name })),
      createdBetween(filter.createdAfter, filter.createdBefore),
      createdBetween(filter.updatedAfter, filter.updatedBefore),
    ],
  };
}

/** By the moment that the record shows: a token's id and its time are each taken from the clock, so the id may be a millisecond older. */
function createdBetween(after: Date | undefined, before: Date | undefined): Prisma.ApiTokenWhereInput {
  return { createdAt: { ...(after && { gte: after }), ...(before && { lte: before }) } };
}

/** An API token as REST has it (decision 27), without its secret. */
export interface ApiTokenRecord {
  readonly id: string;
  readonly name: string;
  readonly permissions: Permission[];
  readonly clientId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The record of a token. */
export function apiTokenRecord(row: ApiToken): ApiTokenRecord {
  return {
    id: publicId('ApiToken', row.id),
    name: row.name,
    permissions: row.permissions,
    clientId: row.clientId,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.createdAt.toISOString(),
  };
}

export interface NewApiToken {
  readonly clientId: string;
  readonly secret: string;
  readonly name: string;
  readonly permissions: readonly Permission[];
}

/** Stores a platform's new token. Of its secret only the hash is stored. */
export function storeApiToken(
  prisma: Prisma.TransactionClient,
  platformId: string,
  token: NewApiToken,
): Promise<ApiToken> {
  const { clientId, secret, name } = token;
  const permissions = [...new Set(token.permissions)];
  return prisma.apiToken.create({
    data: { platformId, clientId, secretHash: new Uint8Array(hashSecret(secret)), name, permissions },
  });
}

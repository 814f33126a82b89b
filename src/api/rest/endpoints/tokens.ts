import { z } from '@hono/zod-openapi';
import { longest } from '../../../core/texts.ts';
import { issueApiToken, maxOverlapHours, rotateApiToken } from '../../../domain/access/tokens/issue-tokens.ts';
import { revokeApiToken, tokenVersion } from '../../../domain/access/tokens/revoke-tokens.ts';
import { type ApiTokenFilter, apiTokenRecord, whereApiTokens } from '../../../domain/access/tokens/token-records.ts';
import { visibleApiTokens } from '../../../domain/access/visible.ts';
import type { Payments } from '../../../domain/commands/command.ts';
import type { Database } from '../../../infra/database/database.ts';
import { Permission, type Prisma } from '../../../infra/database/generated/client/client.ts';
import { asRow, type Endpoints } from '../endpoint.ts';
import { addPagedList, createdParameters, flag, moment, updatedParameters } from '../lists.ts';
import { id, listOf, oneOf, requestObject, responseObject, string, text, time } from '../schemas/fields.ts';

const name = text(longest.memo).openapi({ description: "The token's display name.", example: 'payouts' });
const permissions = listOf(z.enum(Permission)).describe(
  "The token's permissions: VIEW to read, TRANSACT to move money, APPROVE to approve payments that policies hold back, MANAGE to change customers, settings and tokens.",
);

const addresses = listOf(z.string()).describe(
  'The address ranges from which the token is accepted, in CIDR notation, such as 203.0.113.0/24 or 2001:db8::/48; empty if all addresses are allowed.',
);

const documents = listOf(z.string()).describe(
  'The hashes of the registered documents that the token is restricted to. The token can send them over GraphQL or call their operations as tools at /mcp. A token with such a list cannot use REST.',
);

const TokenSchema = responseObject('Token', {
  id: id('ApiToken', 'The id of the token.'),
  name,
  permissions,
  clientId: string('The user name for HTTP Basic authentication.'),
  createdById: id(
    'ApiToken',
    'The token that created this one; absent if it was created by the operator or the sandbox.',
  ).optional(),
  expiresAt: time('When the token expires; absent if it lasts until it is deleted.').optional(),
  addresses: addresses.optional(),
  documents: documents.optional(),
  replacesId: id('ApiToken', 'The token that this one replaces.').optional(),
  replacedById: id('ApiToken', 'The token that replaces this one. This one expires at `expiresAt`.').optional(),
  createdAt: time('When the token was created.'),
  updatedAt: time("Always the same as `createdAt`, because a token's permissions do not change."),
}).describe("A credential of the platform's servers.");

const NewTokenSchema = responseObject('NewToken', {
  ...TokenSchema.shape,
  clientSecret: string(
    'The password for HTTP Basic authentication. It is shown only once, and the service does not store it: keep it safe.',
  ),
}).describe('A token with its secret.');

const params = z.object({ tokenId: id('ApiToken', 'The id of the token.') });

/** Adds the endpoints for API tokens and client tokens. */
export function tokenEndpoints(endpoints: Endpoints, { database }: Payments): void {
  const { apiToken } = database.prisma;
  const include = { replacedBy: { select: { id: true } } };

  newTokenEndpoints(endpoints, database);

  addPagedList(endpoints, 'listTokens', {
    summary: 'List tokens',
    description: "The platform's tokens, excluding deleted ones.",
    at: '/tokens',
    access: 'MANAGE',
    filters: {
      name: string('Only tokens with exactly this name.').optional(),
      permission: oneOf(Permission, 'Only tokens with this permission.').optional(),
      createdById: string('Only tokens that were created by this API token.').optional(),
      ...createdParameters,
      ...updatedParameters,
    },
    item: TokenSchema,
    name: 'TokenPage',
    list: {
      name: 'ApiToken',
      where: (viewer, filter: ApiTokenFilter) => ({ AND: [visibleApiTokens(viewer), whereApiTokens(filter)] }),
      rows: (query: Prisma.ApiTokenFindManyArgs) => apiToken.findMany({ ...query, include }),
      count: (query: Prisma.ApiTokenCountArgs) => apiToken.count(query),
      record: apiTokenRecord,
    },
  });

  endpoints.readOne('getToken', {
    summary: 'Get a token',
    description: 'The token with this id, without its secret.',
    at: '/tokens/{tokenId}',
    access: 'MANAGE',
    params,
    answer: [TokenSchema, 'The token.'],
    type: 'ApiToken',
    find: async (viewer, id) => {
      const row = await apiToken.findFirst({ where: { AND: [visibleApiTokens(viewer), { id }] }, include });
      return row && { ...row, version: tokenVersion(row.revokedAt !== null) };
    },
    missing: ['TOKEN_NOT_FOUND', 'no such token'],
    record: (row) => apiTokenRecord(row),
  });

  endpoints.command('revokeApiToken', {
    operationId: 'deleteToken',
    summary: 'Delete a token',
    description:
      'The token is refused within a second. By default, so are all tokens that it created, directly or indirectly, and the webhook endpoints that any of them created are disabled. Deleting a token again is not an error. The last token with MANAGE cannot be deleted (409 CONFLICT).',
    at: 'delete /tokens/{tokenId}',
    params,
    query: z.strictObject({
      revokeDescendants: flag(
        'Whether to also revoke the tokens and disable the webhook endpoints that this token created, directly or through other tokens.',
        true,
      ),
    }),
    answer: [204, null, 'The token is deleted.'],
    run: (input, { viewer, key }) => asRow(revokeApiToken(database, viewer, input, key)),
  });
}

function newTokenEndpoints(endpoints: Endpoints, database: Database): void {
  const created = {
    answer: [201, NewTokenSchema, 'The new token.'],
    isSecret: true,
    record: ({ apiToken: row, secret }: { apiToken: Parameters<typeof apiTokenRecord>[0]; secret: string }) => ({
      ...apiTokenRecord(row),
      clientSecret: secret,
    }),
  } as const;

  endpoints.command('createApiToken', {
    operationId: 'createToken',
    summary: 'Create a token',
    description:
      'The token cannot have more permissions than the caller. The response contains a secret and is not stored. Repeating the request with the same idempotency key results in a 409 with the id of the token.',
    at: 'post /tokens',
    body: requestObject('CreateToken', {
      name,
      permissions: permissions.min(1),
      expiresAt: moment(
        'When the token expires: no later than the token that creates it. If omitted, it expires with that token, or never if that token has no expiry.',
      ),
      addresses: addresses.optional(),
      documents: documents.optional(),
    }),
    errors: [],
    run: (input, { viewer, key }) => asRow(issueApiToken(database, viewer, input, key)),
    ...created,
  });

  endpoints.command('rotateApiToken', {
    operationId: 'rotateToken',
    summary: 'Replace a token',
    description:
      'Replaces a token by creating a new one with the same name, permissions, addresses and documents. Both are valid until the overlap ends; then the old one expires. The response contains a secret and is not stored. A token that has expired, has been revoked or already has a replacement is refused with 409 CONFLICT.',
    at: 'post /tokens/{tokenId}/rotate',
    params,
    body: requestObject('RotateToken', {
      overlapHours: z.int().min(0).max(maxOverlapHours).describe('How long the old token stays valid, in hours.'),
    }),
    run: (input, { viewer, key }) => asRow(rotateApiToken(database, viewer, input, key)),
    ...created,
  });
}

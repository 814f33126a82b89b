import { createRoute, z } from '@hono/zod-openapi';
import { type ApiTokenFilter, apiTokenRecord, whereApiTokens } from '../../access/api-token-records.ts';
import { issueApiToken, revokeToken } from '../../access/issue-tokens.ts';
import type { Viewer } from '../../access/viewer.ts';
import { uuidOf } from '../../core/ids.ts';
import { Refusal } from '../../core/refusal.ts';
import { Permission, type Prisma } from '../../database/generated/client/client.ts';
import type { Payments } from '../../payments/command.ts';
import type { RestApp } from '../app.ts';
import {
  answers,
  answersNothing,
  body,
  command,
  commandErrors,
  commanding,
  managing,
  noQuery,
  readErrors,
} from '../endpoint.ts';
import { samePaths } from '../input-paths.ts';
import { moment, pagedEndpoint, readPage } from '../lists.ts';
import { id, time } from '../schemas/money.ts';

const tags = ['Tokens'];

const name = z.string().openapi({ description: 'What people call it.', example: 'payouts' });
const permissions = z.array(z.enum(Permission)).openapi({
  description: 'What it may do: VIEW reads, TRANSACT moves money, MANAGE changes customers, settings and tokens.',
});

const TokenSchema = z
  .object({
    id: id('ApiToken', 'Its id.'),
    name,
    permissions,
    clientId: z.string().openapi({ description: 'The user name of Basic credentials.' }),
    createdAt: time('When it was made.'),
    updatedAt: time('When it last changed: tokens do not, so when it was made.'),
  })
  .openapi('Token', { description: "A server's credential (decision 27)." });

const NewTokenSchema = z
  .object({
    ...TokenSchema.shape,
    clientSecret: z.string().openapi({
      description: 'The password of Basic credentials, shown this once and kept nowhere: store it safely.',
    }),
  })
  .openapi('NewToken', { description: 'A token with its secret.' });

const create = createRoute({
  ...commanding('createApiToken', {
    operationId: 'createToken',
    tags,
    summary: 'Create a token',
    description:
      'With no more permissions than the caller has. The answer carries a secret and is not kept: a repeat with the same idempotency key is 409 and names the token.',
  }),
  method: 'post',
  path: '/tokens',
  request: {
    query: noQuery,
    body: body(z.strictObject({ name, permissions: permissions.min(1) }).openapi('CreateToken')),
  },
  responses: { 201: answers(NewTokenSchema, 'The new token.'), ...commandErrors() },
});

const list = pagedEndpoint({
  access: managing({
    operationId: 'listTokens',
    tags,
    summary: 'List tokens',
    description: 'Those that are not deleted.',
  }),
  path: '/tokens',
  filters: {
    name: z.string().optional().openapi({ description: 'What people call it, exactly.' }),
    createdAfter: moment('Created then or later.'),
    createdBefore: moment('Created then or earlier.'),
    updatedAfter: moment('Last changed then or later.'),
    updatedBefore: moment('Last changed then or earlier.'),
  },
  item: TokenSchema,
  name: 'TokenPage',
});

const tokenPath = z.object({ tokenId: id('ApiToken', 'The token.') });

const get = createRoute({
  ...managing({ operationId: 'getToken', tags, summary: 'Get a token' }),
  method: 'get',
  path: '/tokens/{tokenId}',
  request: { params: tokenPath, query: noQuery },
  responses: { 200: answers(TokenSchema, 'The token.'), ...readErrors(404) },
});

const remove = createRoute({
  ...commanding('revokeApiToken', {
    operationId: 'deleteToken',
    tags,
    summary: 'Delete a token',
    description: 'Within seconds no request is answered under it. A second time is no error.',
  }),
  method: 'delete',
  path: '/tokens/{tokenId}',
  request: { params: tokenPath, query: noQuery },
  responses: { 204: answersNothing('It is deleted.'), ...commandErrors(404) },
});

/** Adds the endpoints of API tokens (decisions 27 and 56). */
export function tokenEndpoints(app: RestApp, { database }: Payments): void {
  const { apiToken } = database.prisma;

  app.openapi(create, async (context) => {
    const input = context.req.valid('json');
    const created = await command(context, samePaths, async (key) => {
      const { apiToken: row, secret, replayed } = await issueApiToken(database, context.get('viewer'), input, key);
      return { row: { ...apiTokenRecord(row), clientSecret: secret }, replayed };
    });
    return context.json(created, 201);
  });

  const tokens = {
    name: 'ApiToken',
    where: ({ platformId }: Viewer, filter: ApiTokenFilter) => whereApiTokens(platformId, filter),
    rows: (query: Prisma.ApiTokenFindManyArgs) => apiToken.findMany(query),
    count: (query: Prisma.ApiTokenCountArgs) => apiToken.count(query),
    record: apiTokenRecord,
  };
  app.openapi(list, async (context) =>
    context.json(await readPage(tokens, context.get('viewer'), context.req.valid('query')), 200),
  );

  app.openapi(get, async (context) => {
    const uuid = uuidOf(context.req.valid('param').tokenId, 'ApiToken');
    const where = whereApiTokens(context.get('viewer').platformId, {});
    const row = uuid ? await apiToken.findFirst({ where: { AND: [where, { id: uuid }] } }) : null;
    if (!row) throw new Refusal('TOKEN_NOT_FOUND', 'no such token', { path: ['tokenId'] });
    return context.json(apiTokenRecord(row), 200);
  });

  app.openapi(remove, async (context) => {
    const { tokenId } = context.req.valid('param');
    await command(context, samePaths, async (key) => {
      const done = await revokeToken(database, context.get('viewer'), 'ApiToken', tokenId, key);
      return { row: done.revokedId, replayed: done.replayed };
    });
    return context.body(null, 204);
  });
}

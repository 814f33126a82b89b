import type { Given } from '../../../../core/conditions.ts';
import {
  type ApiTokenFilter as ApiTokenFilterOf,
  whereApiTokens,
} from '../../../../domain/access/tokens/api-token-records.ts';
import { createClientToken, issueApiToken, maxClientSeconds } from '../../../../domain/access/tokens/issue-tokens.ts';
import { revokeApiToken, revokeClientToken } from '../../../../domain/access/tokens/revoke-tokens.ts';
import { visibleApiTokens } from '../../../../domain/access/visible.ts';
import { builder } from '../builder.ts';
import { ClientGrant, Permission } from '../enums.ts';
import { ApiTokenFilter } from '../filters.ts';
import { listOf } from '../list.ts';
import { mutation } from '../mutation.ts';
import { node } from '../words.ts';

/** API tokens of servers, which last until they are revoked, and client tokens of apps, which are short-lived and bound to one customer or payment. */

export const ApiToken = builder.prismaNode('ApiToken', {
  ...node(visibleApiTokens),
  description: "A server's credential. Its secret is shown once, when it is made.",
  fields: (t) => ({
    clientId: t.exposeString('clientId', { description: 'The user name of Basic credentials.' }),
    name: t.exposeString('name', { description: 'What people call it.' }),
    permissions: t.expose('permissions', { type: [Permission], description: 'What it may do.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    createdById: t.publicId('ApiToken', 'createdById', {
      nullable: true,
      description:
        "The API token that made it, which may be revoked. Null for a token that the operator's command line or the sandbox made.",
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last used, to about a minute; null when it never was.',
    }),
  }),
});

const apiTokens = listOf(ApiToken, {
  name: 'ApiToken',
  visible: visibleApiTokens,
  filter: ApiTokenFilter,
  where: ({ platformId }, filter: Given<ApiTokenFilterOf>) => whereApiTokens(platformId, filter ?? {}),
  page: 'A page of API tokens.',
  edge: 'An API token in a page.',
});

builder.queryField('apiTokens', (t) =>
  t.page(apiTokens, {
    description: "The platform's API tokens that are not revoked, newest first. Needs MANAGE.",
    authScopes: { permission: 'MANAGE' },
  }),
);

mutation('createApiToken', {
  description: 'Makes a token for a server. It cannot have more permissions than the caller.',
  input: (t) => ({
    name: t.string({ required: true, description: 'What people call it.' }),
    permissions: t.field({ type: [Permission], required: true, description: 'What it may do.' }),
  }),
  success: {
    apiToken: { type: ApiToken, description: 'The new token.' },
    secret: {
      type: 'String',
      description: 'The password of Basic credentials. It is shown once and not stored here: store it safely.',
    },
  },
  resolve: ({ idempotencyKey, ...input }, { payments, viewer }) =>
    issueApiToken(payments.database, viewer, input, idempotencyKey),
});

mutation('revokeApiToken', {
  description:
    'Ends a token of a server, and by default all that it made: tokens end, and webhook endpoints are disabled. From now on they make no other; requests with them are refused within two seconds, and what they hold open is closed within seconds. The last token with MANAGE cannot be revoked (CONFLICT).',
  input: (t) => ({
    tokenId: t.id({ required: true, description: 'ApiToken:…' }),
    revokeDescendants: t.boolean({
      required: true,
      defaultValue: true,
      description:
        'Whether what it made ends, too: tokens of servers and of apps, webhook endpoints, and what these tokens made.',
    }),
  }),
  success: {
    revokedId: { type: 'ID', description: 'The token.' },
    endedApiTokens: { type: 'Int', description: 'How many other tokens of servers ended with it.' },
    endedClientTokens: { type: 'Int', description: 'How many tokens of apps ended with it.' },
    disabledEndpoints: { type: 'Int', description: 'How many webhook endpoints were disabled with it.' },
  },
  refusals: ['NotFoundError'],
  resolve: ({ idempotencyKey, ...input }, { payments, viewer }) =>
    revokeApiToken(payments.database, viewer, input, idempotencyKey),
});

const ClientTokenBindingInput = builder.inputType('ClientTokenBindingInput', {
  description: 'What a client token shows: exactly one field.',
  isOneOf: true,
  fields: (t) => ({
    customerId: t.id({ description: 'A customer, with its accounts, quotes and transactions.' }),
    quoteId: t.id({ description: 'A quote, with its transaction.' }),
    transactionId: t.id({ description: 'A transaction, with its quote.' }),
  }),
});

mutation('createClientToken', {
  description:
    'Mints a short-lived token for a web or mobile app, sent as Authorization: Bearer …; it shows exactly one customer, or one quote or transaction with its other half.',
  input: (t) => ({
    boundTo: t.field({ type: ClientTokenBindingInput, required: true, description: 'What it shows.' }),
    permissions: t.field({
      type: [Permission],
      required: true,
      defaultValue: ['VIEW'],
      description: 'VIEW, and TRANSACT if it may also pay.',
    }),
    grants: t.field({
      type: [ClientGrant],
      required: true,
      defaultValue: [],
      description: 'What it may do besides, for a customer alone. None by default.',
    }),
    trustedDocumentsOnly: t.boolean({
      required: true,
      defaultValue: false,
      description:
        'Whether it may send registered documents only. A setting of the platform may say so for all tokens.',
    }),
    expiresInSeconds: t.int({
      required: true,
      defaultValue: 900,
      description: `How long it is good for: 1 to ${maxClientSeconds} seconds.`,
    }),
  }),
  success: {
    token: { type: 'String', description: 'The token itself, shown this once.' },
    tokenId: { type: 'ID', description: 'To revoke it by.' },
    expiresAt: { type: 'DateTime', description: 'When it ends.' },
  },
  refusals: ['NotFoundError'],
  resolve: ({ idempotencyKey, boundTo, ...input }, { payments, viewer, clientTokens }) =>
    createClientToken(payments.database, clientTokens, viewer, { ...input, ...boundTo }, idempotencyKey),
});

mutation('revokeClientToken', {
  description:
    "Ends an app's token: requests with it are refused within a second, and what it holds open is closed within seconds.",
  input: (t) => ({ tokenId: t.id({ required: true, description: 'ClientToken:…' }) }),
  success: { revokedId: { type: 'ID', description: 'The token.' } },
  refusals: ['NotFoundError'],
  resolve: ({ tokenId, idempotencyKey }, { payments, viewer }) =>
    revokeClientToken(payments.database, viewer, tokenId, idempotencyKey),
});

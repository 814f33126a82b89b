import type { Given } from '../../../../core/conditions.ts';
import {
  type ApiTokenFilter as ApiTokenFilterOf,
  whereApiTokens,
} from '../../../../domain/access/tokens/api-token-records.ts';
import {
  createClientToken,
  issueApiToken,
  maxClientSeconds,
  maxOverlapHours,
  rotateApiToken,
} from '../../../../domain/access/tokens/issue-tokens.ts';
import { revokeApiToken, revokeClientToken, tokenVersion } from '../../../../domain/access/tokens/revoke-tokens.ts';
import { visibleApiTokens } from '../../../../domain/access/visible.ts';
import { builder } from '../builder.ts';
import { ClientGrant, Permission } from '../enums.ts';
import { ApiTokenFilter } from '../filters.ts';
import { listOf } from '../list.ts';
import { mutation } from '../mutation.ts';
import { node } from '../words.ts';

/** API tokens of servers, valid until revoked, and short-lived client tokens of apps, for one customer or payment. */

const ownDocuments =
  'The hashes of the only registered documents that the token may send, also as tools at /mcp; empty if it has no documents of its own. A token that has some cannot use REST.';

const documents =
  'The hashes of the only registered documents that the token may send, also as tools at /mcp. When left out, those of the token that creates it, or no such limit.';

export const ApiToken = builder.prismaNode('ApiToken', {
  ...node(visibleApiTokens),
  description: 'The credential of a server. Its secret is shown only once, when it is created.',
  fields: (t) => ({
    clientId: t.exposeString('clientId', { description: 'The user name for HTTP Basic authentication.' }),
    name: t.exposeString('name', { description: 'The display name of the token.' }),
    permissions: t.expose('permissions', { type: [Permission], description: 'The permissions of the token.' }),
    version: t.int({
      description: 'Increases with each change: 1, and 2 once the token is revoked.',
      select: { revokedAt: true },
      resolve: ({ revokedAt }) => tokenVersion(revokedAt !== null),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the token was created.' }),
    createdById: t.publicId('ApiToken', 'createdById', {
      nullable: true,
      description:
        "The API token that created this token, which may have been revoked since. Null if the operator's command line or the sandbox created it.",
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the token was last used, to about a minute; null if never.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the token expires; null if it lasts until it is revoked.',
    }),
    addresses: t.exposeStringList('addresses', {
      description: 'The ranges of addresses from which the token is accepted, in CIDR notation; empty for all.',
    }),
    documents: t.exposeStringList('documents', { description: ownDocuments }),
    replacesId: t.publicId('ApiToken', 'replacesId', {
      nullable: true,
      description: 'The token whose place this one takes, by rotateApiToken.',
    }),
  }),
});

builder.prismaObjectField(ApiToken, 'replacedBy', (t) =>
  t.relation('replacedBy', {
    type: ApiToken,
    nullable: true,
    description: 'The token that takes the place of this one, which then expires at `expiresAt`; null if none does.',
  }),
);

const apiTokens = listOf(ApiToken, {
  name: 'ApiToken',
  visible: visibleApiTokens,
  filter: ApiTokenFilter,
  where: (_viewer, filter: Given<ApiTokenFilterOf>) => whereApiTokens(filter ?? {}),
  page: 'A page of API tokens.',
  edge: 'An API token in a page.',
});

builder.queryField('apiTokens', (t) =>
  t.page(apiTokens, {
    description: 'The API tokens of the platform that are not revoked, newest first. Needs MANAGE.',
    authScopes: { permission: 'MANAGE' },
  }),
);

mutation('createApiToken', {
  description: 'Creates a token for a server. It cannot have more permissions than the caller.',
  input: (t) => ({
    name: t.string({ required: true, description: 'The display name of the token.' }),
    permissions: t.field({ type: [Permission], required: true, description: 'The permissions of the token.' }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'When the token expires; never when left out. Not later than the token that creates it.',
    }),
    addresses: t.stringList({
      description:
        'The ranges of addresses from which the token is accepted, in CIDR notation: 203.0.113.0/24, 2001:db8::/48; all when left out. Within those of the token that creates it.',
    }),
    documents: t.stringList({ description: documents }),
  }),
  success: {
    apiToken: { type: ApiToken, description: 'The new token.' },
    secret: {
      type: 'String',
      description: 'The password for HTTP Basic authentication. It is shown once and not stored here: store it safely.',
    },
  },
  resolve: (input, { payments, viewer }, key) => issueApiToken(payments.database, viewer, input, key),
});

mutation('rotateApiToken', {
  description:
    'Creates a token in the place of another one, with its name, permissions, addresses and documents. Both are valid until the overlap is over; then the old one expires. What the old one has created stays, and its policy also limits the new one.',
  input: (t) => ({
    tokenId: t.id({ required: true, description: 'The token to replace: ApiToken:…' }),
    overlapHours: t.int({
      required: true,
      defaultValue: 24,
      description: `How long the old token stays valid, in hours: 0 to ${maxOverlapHours}.`,
    }),
  }),
  success: {
    apiToken: {
      type: ApiToken,
      description: 'The new token. If the old one expires, it lasts as long as that was made for.',
    },
    overlapEndsAt: { type: 'DateTime', description: 'When the old token expires.' },
    secret: {
      type: 'String',
      description: 'The password of the new token for HTTP Basic authentication. It is shown once and not stored here.',
    },
  },
  refusals: ['NotFoundError'],
  resolve: (input, { payments, viewer }, key) => rotateApiToken(payments.database, viewer, input, key),
});

mutation('revokeApiToken', {
  description:
    'Revokes an API token and, by default, everything that it created: tokens are revoked, also one that takes its place, and webhook endpoints disabled. From then on they create nothing; requests with them are refused within a second, and their open streams are closed. The last token with MANAGE cannot be revoked (CONFLICT).',
  input: (t) => ({
    tokenId: t.id({ required: true, description: 'The token to revoke: ApiToken:…' }),
    revokeDescendants: t.boolean({
      required: true,
      defaultValue: true,
      description: 'Whether to end what it created, too: tokens, webhook endpoints, and what these tokens created.',
    }),
  }),
  success: {
    revokedId: { type: 'ID', description: 'The id of the revoked token.' },
    endedApiTokens: { type: 'Int', description: 'The number of other API tokens that were revoked with it.' },
    endedClientTokens: { type: 'Int', description: 'The number of client tokens that were revoked with it.' },
    disabledEndpoints: { type: 'Int', description: 'The number of webhook endpoints that were disabled with it.' },
  },
  refusals: ['NotFoundError'],
  resolve: (input, { payments, viewer }, key) => revokeApiToken(payments.database, viewer, input, key),
});

const ClientTokenBindingInput = builder.inputType('ClientTokenBindingInput', {
  description: 'What a client token is bound to: exactly one field.',
  isOneOf: true,
  fields: (t) => ({
    customerId: t.id({ description: 'A customer: the token shows it with its accounts, quotes and transactions.' }),
    quoteId: t.id({ description: 'A quote: the token shows it with its transaction.' }),
    transactionId: t.id({ description: 'A transaction: the token shows it with its quote.' }),
  }),
});

mutation('createClientToken', {
  description:
    'Creates a short-lived token for a web or mobile app, to be sent as Authorization: Bearer … It shows exactly one customer, or one quote with its transaction.',
  input: (t) => ({
    boundTo: t.field({
      type: ClientTokenBindingInput,
      required: true,
      description: 'The customer, quote or transaction that the token is bound to: exactly one field.',
    }),
    permissions: t.field({
      type: [Permission],
      required: true,
      defaultValue: ['VIEW'],
      description: 'The permissions of the token: VIEW, and TRANSACT to let it move money.',
    }),
    grants: t.field({
      type: [ClientGrant],
      required: true,
      defaultValue: [],
      description: 'The rights of the token beyond its permissions, only for a token of a customer. None by default.',
    }),
    trustedDocumentsOnly: t.boolean({
      required: true,
      defaultValue: false,
      description: 'Whether to limit it to registered documents. `Platform.trustedDocuments` may limit all tokens.',
    }),
    documents: t.stringList({ description: documents }),
    expiresInSeconds: t.int({
      required: true,
      defaultValue: 900,
      description: `The lifetime of the token in seconds: 1 to ${maxClientSeconds}.`,
    }),
  }),
  success: {
    token: { type: 'String', description: 'The token itself. It is shown only this once.' },
    tokenId: { type: 'ID', description: 'The id of the token, by which it can be revoked: ClientToken:…' },
    expiresAt: { type: 'DateTime', description: 'When the token expires.' },
  },
  refusals: ['NotFoundError'],
  resolve: ({ boundTo, ...input }, { payments, viewer, clientTokens }, key) =>
    createClientToken(payments.database, clientTokens, viewer, { ...input, ...boundTo }, key),
});

mutation('revokeClientToken', {
  description: 'Revokes the token of an app: it is refused, and its streams are closed, within a second.',
  input: (t) => ({ tokenId: t.id({ required: true, description: 'The token to revoke: ClientToken:…' }) }),
  success: { revokedId: { type: 'ID', description: 'The id of the revoked token.' } },
  refusals: ['NotFoundError'],
  resolve: (input, { payments, viewer }, key) => revokeClientToken(payments.database, viewer, input, key),
});

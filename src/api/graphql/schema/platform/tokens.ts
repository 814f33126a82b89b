import type { Given } from '../../../../core/conditions.ts';
import {
  createClientToken,
  issueApiToken,
  maxClientSeconds,
  maxOverlapHours,
  rotateApiToken,
} from '../../../../domain/access/tokens/issue-tokens.ts';
import { revokeApiToken, revokeClientToken, tokenVersion } from '../../../../domain/access/tokens/revoke-tokens.ts';
import {
  type ApiTokenFilter as ApiTokenFilterOf,
  type ClientTokenFilter as ClientTokenFilterOf,
  whereApiTokens,
  whereClientTokens,
} from '../../../../domain/access/tokens/token-records.ts';
import { visibleApiTokens, visibleClientTokens } from '../../../../domain/access/visible.ts';
import { meets } from '../../reading/kinds.ts';
import { node } from '../../reading/words.ts';
import { builder, oneOf } from '../builder.ts';
import { ClientGrant, Permission } from '../enums.ts';
import { ApiTokenFilter, ClientTokenFilter } from '../filters.ts';
import { listOf } from '../list.ts';
import { mutation } from '../mutation.ts';

const ownDocuments =
  'The hashes of the registered documents that the token is restricted to. The token can send them over GraphQL or call their operations as tools at /mcp. Empty if the token is not restricted to particular documents. A token with such a restriction cannot use REST.';

const documents =
  'The hashes of the registered documents that the token is restricted to. The token can send them over GraphQL or call their operations as tools at /mcp. If omitted, the token gets the same restriction, if any, as the token that creates it.';

const version = {
  description: "The token's version: 1 at first, 2 once it has been revoked.",
  select: { revokedAt: true },
  resolve: ({ revokedAt }: { readonly revokedAt: Date | null }) => tokenVersion(revokedAt !== null),
} as const;

export const ApiToken = builder.prismaNode('ApiToken', {
  ...node(visibleApiTokens),
  description: 'A server credential. Its secret is shown only once, when it is created.',
  fields: (t) => ({
    ...t.columns({
      clientId: 'The user name for HTTP Basic authentication.',
      name: "The token's display name.",
      permissions: "The token's permissions.",
      createdAt: 'When the token was created.',
      lastUsedAt: 'When the token was last used, accurate to about a minute; null if it has never been used.',
      expiresAt: 'When the token expires; null if it lasts until it is revoked.',
      addresses:
        'The address ranges from which the token is accepted, in CIDR notation; empty if all addresses are allowed.',
    }),
    version: t.int(version),
    createdById: t.publicId('ApiToken', 'createdById', {
      nullable: true,
      description:
        "The API token that created this token; it may have been revoked since. Null if this token was created by the sandbox or on the operator's command line.",
    }),
    documents: t.exposeStringList('documents', { description: ownDocuments }),
    replacesId: t.publicId('ApiToken', 'replacesId', {
      nullable: true,
      description: 'The token that this one replaces (see rotateApiToken); null if it replaces none.',
    }),
    replacedBy: t.relation('replacedBy', {
      nullable: true,
      description: 'The token that replaces this one, or null. A replaced token remains valid until its `expiresAt`.',
    }),
  }),
});

const apiTokens = listOf(ApiToken, {
  visible: visibleApiTokens,
  filter: ApiTokenFilter,
  where: (_viewer, filter: Given<ApiTokenFilterOf>) => whereApiTokens(filter ?? {}),
  words: ['An API token', 'API tokens'],
});

builder.queryField('apiTokens', (t) =>
  t.page(apiTokens, {
    description: "The platform's API tokens that have not been revoked, newest first. Needs MANAGE.",
    authScopes: { permission: 'MANAGE' },
  }),
);

mutation('createApiToken', {
  description: 'Creates a token for a server. It cannot have more permissions than the caller.',
  input: (t) => ({
    name: t.string({ required: true, description: "The token's display name." }),
    permissions: t.field({ type: [Permission], required: true, description: "The token's permissions." }),
    expiresAt: t.field({
      type: 'DateTime',
      description:
        'When the token expires: no later than the token that creates it. If omitted, it expires with that token, or never if that token has no expiry.',
    }),
    addresses: t.stringList({
      description:
        'The address ranges from which the token is accepted, in CIDR notation, such as 203.0.113.0/24 or 2001:db8::/48. They must lie within the ranges of the token that creates this one. If omitted, the new token gets those same ranges.',
    }),
    documents: t.stringList({ description: documents }),
  }),
  success: {
    apiToken: { type: ApiToken, description: 'The new token.' },
    secret: {
      type: 'String',
      description:
        'The password for HTTP Basic authentication. It is shown only once, and the service does not store it: keep it safe.',
    },
  },
  namesNothing: true,
  resolve: (input, { payments, viewer }, key) => issueApiToken(payments.database, viewer, input, key),
});

mutation('rotateApiToken', {
  description:
    "Replaces a token by creating a new one with the same name, permissions, addresses and documents. Both are valid until the overlap ends; then the old one expires. Everything that the old token created remains, and the old token's policy also limits the new one.",
  input: (t) => ({
    tokenId: t.id({ required: true, description: 'The token to replace (`ApiToken:…`).' }),
    overlapHours: t.int({
      required: true,
      defaultValue: 24,
      description: `How long the old token stays valid, in hours: 0 to ${maxOverlapHours}.`,
    }),
  }),
  success: {
    apiToken: {
      type: ApiToken,
      description: 'The new token. If the old token has an expiry, the new token gets the same lifetime.',
    },
    overlapEndsAt: { type: 'DateTime', description: 'When the old token expires.' },
    secret: {
      type: 'String',
      description:
        "The new token's password for HTTP Basic authentication. It is shown only once, and the service does not store it.",
    },
  },
  resolve: (input, { payments, viewer }, key) => rotateApiToken(payments.database, viewer, input, key),
});

mutation('revokeApiToken', {
  description:
    'Revokes an API token. By default, the tokens that it created are also revoked, including the one that replaces it, and the webhook endpoints that it created are disabled. Revoked tokens can no longer create anything. Within a second, requests that use them are refused and their open streams are closed. The last token with MANAGE cannot be revoked (CONFLICT).',
  input: (t) => ({
    tokenId: t.id({ required: true, description: 'The token to revoke (`ApiToken:…`).' }),
    revokeDescendants: t.boolean({
      required: true,
      defaultValue: true,
      description:
        'Whether to also revoke the tokens and disable the webhook endpoints that this token created, directly or through other tokens.',
    }),
  }),
  success: {
    revokedId: { type: 'ID', description: 'The id of the revoked token.' },
    endedApiTokens: { type: 'Int', description: 'The number of other API tokens revoked along with the token.' },
    endedClientTokens: { type: 'Int', description: 'The number of client tokens revoked along with the token.' },
    disabledEndpoints: { type: 'Int', description: 'The number of webhook endpoints disabled as a result.' },
  },
  resolve: (input, { payments, viewer }, key) => revokeApiToken(payments.database, viewer, input, key),
});

const ClientTokenBindingInput = oneOf('ClientTokenBindingInput', 'The object that a client token is bound to', (t) => ({
  customerId: t.id({ description: 'The token can see this customer and its accounts, quotes and transactions.' }),
  quoteId: t.id({ description: 'The token can see this quote and its transaction.' }),
  transactionId: t.id({ description: 'The token can see this transaction and its quote.' }),
}));

mutation('createClientToken', {
  description:
    'Creates a short-lived token for a web or mobile app, to be sent as Authorization: Bearer … The token can see exactly one customer, or one quote with its transaction.',
  input: (t) => ({
    boundTo: t.field({
      type: ClientTokenBindingInput,
      required: true,
      description: 'The customer, quote or transaction that the token is bound to: set exactly one field.',
    }),
    permissions: t.field({
      type: [Permission],
      required: true,
      defaultValue: ['VIEW'],
      description: "The token's permissions: VIEW, or VIEW and TRANSACT if it may move money.",
    }),
    grants: t.field({
      type: [ClientGrant],
      required: true,
      defaultValue: [],
      description:
        'For a token that is bound to a customer: the rights granted to it beyond its permissions. None by default.',
    }),
    trustedDocumentsOnly: t.boolean({
      required: true,
      defaultValue: false,
      description:
        'Whether to limit the token to registered documents. If false, `Platform.trustedDocuments` may still limit it.',
    }),
    documents: t.stringList({ description: documents }),
    expiresInSeconds: t.int({
      required: true,
      defaultValue: 900,
      description: `The token's lifetime in seconds: 1 to ${maxClientSeconds}.`,
    }),
  }),
  success: {
    token: { type: 'String', description: 'The token itself. It is shown only once.' },
    tokenId: {
      type: 'ID',
      description: "The token's public id (`ClientToken:…`), for use with revokeClientToken.",
    },
    expiresAt: { type: 'DateTime', description: 'When the token expires.' },
  },
  resolve: ({ boundTo, ...input }, { payments, viewer, clientTokens }, key) =>
    createClientToken(payments.database, clientTokens, viewer, { ...input, ...boundTo }, key),
});

mutation('revokeClientToken', {
  description: 'Revokes a client token. Within a second, requests that use it are refused and its streams are closed.',
  input: (t) => ({ tokenId: t.id({ required: true, description: 'The token to revoke (`ClientToken:…`).' }) }),
  success: { revokedId: { type: 'ID', description: 'The id of the revoked token.' } },
  resolve: (input, { payments, viewer }, key) => revokeClientToken(payments.database, viewer, input, key),
});

const boundTo = (noun: string, other: string) =>
  ({
    nullable: true,
    description: `The ${noun} that the token is bound to; null if it is bound to ${other}.`,
  }) as const;

export const ClientToken = builder.prismaNode('ClientToken', {
  ...node(visibleClientTokens, "The token's public id (`ClientToken:…`), for use with revokeClientToken."),
  description:
    "An app's credential, bound to one customer, quote or transaction. The token itself is shown only once, when it is created.",
  fields: (t) => ({
    active: t.fromQuery('Boolean', meets(whereClientTokens({ active: true })), {
      description: "Whether the token is valid, that is, neither expired (by the service's clock) nor revoked.",
    }),
    customer: t.relation('customer', boundTo('customer', 'a quote or transaction')),
    quote: t.relation('quote', boundTo('quote', 'something else')),
    transaction: t.relation('transaction', boundTo('transaction', 'something else')),
    ...t.columns({
      permissions: "The token's permissions.",
      grants: "Rights granted beyond the token's permissions. They apply to the customer that the token is bound to.",
      trustedDocumentsOnly:
        'Whether the token was limited to registered documents when it was created (see `Platform.trustedDocuments`).',
      documents:
        'The hashes of the registered documents that the token is restricted to. The token can send them over GraphQL or call their operations as tools at /mcp. Empty if the token is not restricted to particular documents.',
      createdAt: 'When the token was created.',
      expiresAt: 'When the token expires.',
      revokedAt: 'When the token was revoked; null if it has not been revoked.',
    }),
    version: t.int(version),
    createdById: t.publicId('ApiToken', 'createdById', {
      nullable: true,
      description: 'The API token that created this token; it may have been revoked since.',
    }),
  }),
});

const clientTokens = listOf(ClientToken, {
  visible: visibleClientTokens,
  filter: ClientTokenFilter,
  where: (_viewer, filter: Given<ClientTokenFilterOf>) => whereClientTokens(filter ?? {}),
  words: ['A client token', 'client tokens'],
});

builder.queryField('clientTokens', (t) =>
  t.page(clientTokens, {
    description:
      "The platform's client tokens, newest first, including those that expired or were revoked in the last 30 days. Needs MANAGE.",
    authScopes: { permission: 'MANAGE' },
  }),
);

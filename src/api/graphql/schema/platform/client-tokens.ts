import type { Given } from '../../../../core/conditions.ts';
import {
  type ClientTokenFilter as ClientTokenFilterOf,
  whereClientTokens,
} from '../../../../domain/access/tokens/client-token-records.ts';
import { tokenVersion } from '../../../../domain/access/tokens/revoke-tokens.ts';
import { visibleClientTokens } from '../../../../domain/access/visible.ts';
import { meets } from '../../reading/kinds.ts';
import { builder } from '../builder.ts';
import { ClientGrant, Permission } from '../enums.ts';
import { ClientTokenFilter } from '../filters.ts';
import { listOf } from '../list.ts';
import { Customer, Quote, Transaction } from '../nouns.ts';
import { node } from '../words.ts';

/** Issued client tokens: their properties, never the tokens themselves. */

export const ClientToken = builder.prismaNode('ClientToken', {
  ...node(visibleClientTokens, 'The public id of the token, for revokeClientToken: ClientToken:…'),
  description:
    "The record of an app's credential, bound to one customer, quote or transaction. The token itself is shown only once, when it is created.",
  fields: (t) => ({
    active: t.fromQuery('Boolean', meets(whereClientTokens({ active: true })), {
      description: "Whether the token is neither expired (by the service's clock) nor revoked.",
    }),
    customer: t.relation('customer', {
      type: Customer,
      nullable: true,
      description: 'The customer that the token is bound to; null if it is bound to a quote or transaction.',
    }),
    quote: t.relation('quote', {
      type: Quote,
      nullable: true,
      description: 'The quote that the token is bound to; null if it is bound to something else.',
    }),
    transaction: t.relation('transaction', {
      type: Transaction,
      nullable: true,
      description: 'The transaction that the token is bound to; null if it is bound to something else.',
    }),
    permissions: t.expose('permissions', { type: [Permission], description: 'The permissions of the token.' }),
    grants: t.expose('grants', {
      type: [ClientGrant],
      description: 'The rights of the token in addition to its permissions, for its customer.',
    }),
    trustedDocumentsOnly: t.exposeBoolean('trustedDocumentsOnly', {
      description: 'Whether the token was created for registered documents only (see `Platform.trustedDocuments`).',
    }),
    documents: t.exposeStringList('documents', {
      description:
        'The hashes of the registered documents that the token is restricted to, including as tools at /mcp; empty if it has no list of its own.',
    }),
    version: t.int({
      description: 'Increases with each change: 1 at first, and 2 once the token is revoked.',
      select: { revokedAt: true },
      resolve: ({ revokedAt }) => tokenVersion(revokedAt !== null),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the token was created.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When the token expires.' }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the token was revoked; null if it was not.',
    }),
    createdById: t.publicId('ApiToken', 'createdById', {
      nullable: true,
      description: 'The API token that created this token, which may have been revoked since.',
    }),
  }),
});

const clientTokens = listOf(ClientToken, {
  name: 'ClientToken',
  visible: visibleClientTokens,
  filter: ClientTokenFilter,
  where: (_viewer, filter: Given<ClientTokenFilterOf>) => whereClientTokens(filter ?? {}),
  page: 'A page of client tokens.',
  edge: 'A client token in a page.',
});

builder.queryField('clientTokens', (t) =>
  t.page(clientTokens, {
    description:
      'The client tokens of the platform, newest first, including those that expired or were revoked in the last 30 days. Needs MANAGE.',
    authScopes: { permission: 'MANAGE' },
  }),
);

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

/** Client tokens that were minted: their facts, never the tokens themselves. */

export const ClientToken = builder.prismaNode('ClientToken', {
  ...node(visibleClientTokens, 'Its public id: revokeClientToken takes it.'),
  description:
    "An app's credential, bound to a customer, a quote or a transaction: its facts. The token itself is shown once, when it is made.",
  fields: (t) => ({
    active: t.fromQuery('Boolean', meets(whereClientTokens({ active: true })), {
      description: "Whether it has neither expired, by the service's clock, nor been revoked.",
    }),
    customer: t.relation('customer', {
      type: Customer,
      nullable: true,
      description: 'The customer that it is bound to, if it is.',
    }),
    quote: t.relation('quote', {
      type: Quote,
      nullable: true,
      description: 'The quote that it is bound to, if it is.',
    }),
    transaction: t.relation('transaction', {
      type: Transaction,
      nullable: true,
      description: 'The transaction that it is bound to, if it is.',
    }),
    permissions: t.expose('permissions', { type: [Permission], description: 'What it may do.' }),
    grants: t.expose('grants', { type: [ClientGrant], description: 'What it may do besides, for its customer.' }),
    trustedDocumentsOnly: t.exposeBoolean('trustedDocumentsOnly', {
      description: 'Whether it was made for registered documents only; the setting of the platform may say so, too.',
    }),
    version: t.int({
      description: 'Rises with each change: 1, and 2 once it is revoked.',
      select: { revokedAt: true },
      resolve: ({ revokedAt }) => tokenVersion(revokedAt !== null),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it expires.' }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was revoked; null when it was not.',
    }),
    createdById: t.publicId('ApiToken', 'createdById', {
      nullable: true,
      description: 'The API token that made it, which may be revoked.',
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
    description: "The platform's client tokens, newest first; those that have ended for 30 days. Needs MANAGE.",
    authScopes: { permission: 'MANAGE' },
  }),
);

import type { Given } from '../../../../core/conditions.ts';
import {
  type ClientTokenFilter as ClientTokenFilterOf,
  whereClientTokens,
} from '../../../../domain/access/tokens/client-token-records.ts';
import { visibleClientTokens } from '../../../../domain/access/visible.ts';
import type { ClientToken as ClientTokenRow } from '../../../../infra/database/generated/client/client.ts';
import { planned } from '../../reading/planned.ts';
import { leaf, pageOf, toOne, typeReads } from '../../reading/reads.ts';
import { builder } from '../builder.ts';
import { ClientGrant, Permission } from '../enums.ts';
import { ClientTokenFilter } from '../filters.ts';
import { connection, listArgs } from '../list.ts';
import { Customer, Quote, Transaction } from '../nouns.ts';

/** Client tokens that were minted: their facts, never the tokens themselves. */

const ClientToken = builder.objectRef<ClientTokenRow>('ClientToken').implement({
  description:
    "An app's credential, bound to a customer, a quote or a transaction: its facts. The token itself is shown once, when it is made.",
  interfaces: [builder.nodeInterfaceRef()],
  ...typeReads({ model: 'ClientToken', visible: visibleClientTokens }),
  fields: (t) => ({
    id: t.id({ description: 'Its public id: revokeClientToken takes it.', ...planned(leaf.id('ClientToken')) }),
    active: t.boolean({
      description: "Whether it has neither expired, by the service's clock, nor been revoked.",
      ...planned(leaf.of(({ row }) => [`(${row}.revoked_at is null and ${row}.expires_at > clock_timestamp())::text`])),
    }),
    customer: t.field({
      type: Customer,
      nullable: true,
      description: 'The customer that it is bound to, if it is.',
      ...planned(toOne('Customer', 'customer_id')),
    }),
    quote: t.field({
      type: Quote,
      nullable: true,
      description: 'The quote that it is bound to, if it is.',
      ...planned(toOne('Quote', 'quote_id')),
    }),
    transaction: t.field({
      type: Transaction,
      nullable: true,
      description: 'The transaction that it is bound to, if it is.',
      ...planned(toOne('Transaction', 'transaction_id')),
    }),
    permissions: t.expose('permissions', { type: [Permission], description: 'What it may do.' }),
    grants: t.expose('grants', { type: [ClientGrant], description: 'What it may do besides, for its customer.' }),
    trustedDocumentsOnly: t.exposeBoolean('trustedDocumentsOnly', {
      description: 'Whether it was made for registered documents only; the setting of the platform may say so, too.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it expires.' }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was revoked; null when it was not.',
    }),
    createdById: t.id({
      nullable: true,
      description: 'The API token that made it, which may be revoked.',
      ...planned(leaf.id('ApiToken', 'created_by_id')),
    }),
  }),
});

const ClientTokenConnection = connection(ClientToken, 'ClientToken', {
  page: 'A page of client tokens.',
  edge: 'A client token in a page.',
});

builder.queryField('clientTokens', (t) =>
  t.field({
    type: ClientTokenConnection,
    description: "The platform's client tokens, newest first; those that have ended for 30 days. Needs MANAGE.",
    authScopes: { permission: 'MANAGE' },
    args: listArgs(t.arg, ClientTokenFilter),
    ...planned(
      pageOf('ClientToken', visibleClientTokens, (_viewer, filter: Given<ClientTokenFilterOf>) =>
        whereClientTokens(filter ?? {}),
      ),
    ),
  }),
);

import { z } from '@hono/zod-openapi';
import { clientTokenRecord, whereClientTokens } from '../../../domain/access/tokens/client-token-records.ts';
import { visibleClientTokens } from '../../../domain/access/visible.ts';
import type { Payments } from '../../../domain/commands/command.ts';
import { ClientGrant, Permission } from '../../../infra/database/generated/client/client.ts';
import type { RestApp } from '../app.ts';
import { managementEndpoint } from '../endpoint.ts';
import { choice, pagedEndpoint, pageHandler, rowList } from '../lists.ts';
import { listed } from '../schemas/list-of.ts';
import { id, time } from '../schemas/money.ts';

const ClientTokenSchema = z
  .object({
    id: id('ClientToken', 'The id of the token.'),
    customerId: id('Customer', 'The customer that the token is bound to.').optional(),
    quoteId: id('Quote', 'The quote that the token is bound to.').optional(),
    transactionId: id('Transaction', 'The transaction that the token is bound to.').optional(),
    permissions: listed(z.enum(Permission)).describe('The permissions of the token.'),
    grants: listed(z.enum(ClientGrant)).describe('The rights of the token beyond its permissions, for its customer.'),
    trustedDocumentsOnly: z
      .boolean()
      .describe('Whether the token was created for registered documents only. The settings may limit all tokens.'),
    createdById: id('ApiToken', 'The API token that created this token; absent if the operator did.').optional(),
    createdAt: time('When the token was created.'),
    expiresAt: time('When the token expires.'),
    revokedAt: time('When the token was revoked; absent if it was not.').optional(),
  })
  .openapi('ClientToken', {
    description: "The record of an app's token, bound to a customer, quote or transaction. It is not the token itself.",
  });

const list = pagedEndpoint({
  access: managementEndpoint({
    operationId: 'listClientTokens',
    tags: ['Tokens'],
    summary: 'List client tokens',
    description: 'The client tokens of the platform, including those that expired or were revoked in the last 30 days.',
  }),
  path: '/client-tokens',
  filters: {
    active: choice('`true`: only valid tokens. `false`: only expired and revoked ones.'),
    customerId: id('Customer', 'Only tokens bound to this customer, its quotes or its transactions.').optional(),
  },
  item: ClientTokenSchema,
  name: 'ClientTokenPage',
});

export function clientTokenEndpoints(app: RestApp, { database }: Payments): void {
  const tokens = rowList(database, 'ClientToken', {
    where: (viewer, filter: Parameters<typeof whereClientTokens>[0]) => ({
      AND: [visibleClientTokens(viewer), whereClientTokens(filter)],
    }),
    record: clientTokenRecord,
  });
  app.openapi(list, pageHandler(tokens));
}

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
    id: id('ClientToken', 'Its id.'),
    customerId: id('Customer', 'The customer that it is bound to.').optional(),
    quoteId: id('Quote', 'The quote that it is bound to.').optional(),
    transactionId: id('Transaction', 'The transaction that it is bound to.').optional(),
    permissions: listed(z.enum(Permission)).describe('Its permissions.'),
    grants: listed(z.enum(ClientGrant)).describe('Extra rights for its customer, beyond its permissions.'),
    trustedDocumentsOnly: z
      .boolean()
      .describe('Whether it is limited to registered documents. The settings may limit all tokens.'),
    createdById: id('ApiToken', 'The token that made it; absent where the operator did.').optional(),
    createdAt: time('When it was created.'),
    expiresAt: time('When it expires.'),
    revokedAt: time('When it was revoked; absent unless it was.').optional(),
  })
  .openapi('ClientToken', {
    description: "An app's credential, bound to a customer, a quote or a transaction; without the token itself.",
  });

const list = pagedEndpoint({
  access: managementEndpoint({
    operationId: 'listClientTokens',
    tags: ['Tokens'],
    summary: 'List client tokens',
    description: 'Includes tokens that expired or were revoked in the last 30 days.',
  }),
  path: '/client-tokens',
  filters: {
    active: choice('`true`: only valid tokens. `false`: only expired and revoked ones.'),
    customerId: id('Customer', 'The customer that it is bound to, directly or by a quote or transaction.').optional(),
  },
  item: ClientTokenSchema,
  name: 'ClientTokenPage',
});

/** Adds the endpoint of client tokens. GraphQL creates and revokes them. */
export function clientTokenEndpoints(app: RestApp, { database }: Payments): void {
  const tokens = rowList(database, 'ClientToken', {
    where: (viewer, filter: Parameters<typeof whereClientTokens>[0]) => ({
      AND: [visibleClientTokens(viewer), whereClientTokens(filter)],
    }),
    record: clientTokenRecord,
  });
  app.openapi(list, pageHandler(tokens));
}

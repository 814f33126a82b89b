import { publicId } from '../../../../core/ids.ts';
import type { Viewer as ViewerShape } from '../../../../domain/access/caller.ts';
import { feedCursor } from '../../../../domain/events/cursor.ts';
import { feedHead } from '../../../../domain/events/reads.ts';
import { executed } from '../../reading/derive.ts';
import { readNode } from '../../reading/planned.ts';
import { builder } from '../builder.ts';
import { ClientGrant, Environment, Permission, ViewerKind } from '../enums.ts';
import { serverTime } from '../mutation.ts';
import { Customer } from '../nouns.ts';

export const Viewer = builder.objectRef<ViewerShape>('Viewer').implement({
  description: 'The caller, as identified by its token.',
  fields: (t) => ({
    kind: t.expose('kind', {
      type: ViewerKind,
      description: "Whether the caller is one of the platform's servers or an app.",
    }),
    platformId: t.id({
      description: "The id of the caller's platform (`Platform:…`).",
      resolve: (viewer) => publicId('Platform', viewer.platformId),
    }),
    permissions: t.expose('permissions', { type: [Permission], description: "The token's permissions." }),
    grants: t.expose('grants', {
      type: [ClientGrant],
      description: 'The rights that a client token has in addition to its permissions; empty for an API token.',
    }),
    trustedDocumentsOnly: t.exposeBoolean('trustedDocumentsOnly', {
      description: 'Whether the token is limited to registered documents.',
    }),
    environment: t.expose('environment', { type: Environment, description: 'Whether payments are simulated or real.' }),
    expiresAt: t.optional('expiresAt', 'DateTime', {
      description: 'When the token expires; null if it lasts until it is revoked.',
    }),
    customer: t.field({
      type: Customer,
      nullable: true,
      description: 'The customer that the token is bound to; null if it is not bound to a customer.',
      resolve: ({ bound }, _args, context, info) =>
        bound.kind === 'CUSTOMER'
          ? readNode(publicId('Customer', bound.customerId), ['Customer'], context, info)
          : null,
    }),
    serverTime: t.field(serverTime),
    feedCursor: t.string({
      description:
        'The cursor at the end of the feed, read before anything else in this query. Every change that is missing from a list in the same query comes after this cursor.',
      resolve: async (viewer, _args, context) =>
        feedCursor(
          context.payments.cursors,
          viewer.platformId,
          context.feedHead ?? (await feedHead(context.payments.database, viewer.platformId)),
        ),
    }),
  }),
});

builder.queryField('viewer', (t) =>
  t.field({
    type: Viewer,
    ...executed,
    description: "The caller's platform and rights, and the service's current time.",
    resolve: (_root, _args, context) => context.viewer,
  }),
);

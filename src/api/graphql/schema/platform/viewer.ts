import { publicId } from '../../../../core/ids.ts';
import type { Viewer as ViewerShape } from '../../../../domain/access/viewer.ts';
import { feedCursor } from '../../../../domain/events/cursor.ts';
import { feedHead } from '../../../../domain/events/reads.ts';
import { executed } from '../../reading/derive.ts';
import { readNode } from '../../reading/planned.ts';
import { builder } from '../builder.ts';
import { ClientGrant, Environment, Permission, ViewerKind } from '../enums.ts';
import { Customer } from '../nouns.ts';
import { serverTime } from '../server-time.ts';

export const Viewer = builder.objectRef<ViewerShape>('Viewer').implement({
  description: 'The caller, as its token says.',
  fields: (t) => ({
    kind: t.expose('kind', { type: ViewerKind, description: 'What kind of caller.' }),
    platformId: t.id({ description: 'The platform.', resolve: (viewer) => publicId('Platform', viewer.platformId) }),
    permissions: t.expose('permissions', { type: [Permission], description: 'What the token may do.' }),
    grants: t.expose('grants', {
      type: [ClientGrant],
      description: 'What a client token may do besides; empty for others.',
    }),
    trustedDocumentsOnly: t.exposeBoolean('trustedDocumentsOnly', {
      description: 'Whether the token may send registered documents only.',
    }),
    environment: t.expose('environment', { type: Environment, description: 'Sandbox or production.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the token ends by itself; null for an API token, which lasts until it is revoked.',
    }),
    customer: t.field({
      type: Customer,
      nullable: true,
      description:
        "The customer that a client token is bound to; null for a platform's token and for that of one payment.",
      resolve: ({ bound }, _args, context, info) =>
        bound.kind === 'CUSTOMER'
          ? readNode(publicId('Customer', bound.customerId), ['Customer'], context, info)
          : null,
    }),
    serverTime: t.field(serverTime),
    feedCursor: t.string({
      description:
        'The end of the feed as of before anything else in this query was read: what a list of the same query does not show comes after it.',
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
    description: 'The caller: its platform, its rights and its clock.',
    resolve: (_root, _args, context) => context.viewer,
  }),
);

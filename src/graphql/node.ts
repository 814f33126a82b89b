import { brandWithType } from '@pothos/core';
import type { GraphQLResolveInfo } from 'graphql';
import { uuidOf } from '../payments/ids.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';
import { invalidInput } from './failure.ts';
import { selectionOf } from './shared-plans.ts';
import { visibleAccounts, visibleCustomers, visibleQuotes, visibleTransactions } from './visible.ts';

/** What can be read by its id, and how. Anything unknown, malformed or another platform's is null, all alike. */
type NodeLoader = (uuid: string, context: Context, info: GraphQLResolveInfo) => Promise<object | null>;

const key = (uuid: string, context: Context) => ({
  platformId_id: { platformId: context.viewer.platformId, id: uuid },
});

const loaders = {
  Quote: (uuid, context, info) =>
    context.payments.database.reads.quote.findUnique({
      ...selectionOf({ context, info, typeName: 'Quote' }),
      where: { ...key(uuid, context), AND: [visibleQuotes(context.viewer)] },
    }),
  Transaction: (uuid, context, info) =>
    context.payments.database.reads.transaction.findUnique({
      ...selectionOf({ context, info, typeName: 'Transaction' }),
      where: { ...key(uuid, context), AND: [visibleTransactions(context.viewer)] },
    }),
  Customer: (uuid, context, info) =>
    context.payments.database.reads.customer.findUnique({
      ...selectionOf({ context, info, typeName: 'Customer' }),
      where: { ...key(uuid, context), AND: [visibleCustomers(context.viewer)] },
    }),
  InternalAccount: (uuid, context, info) =>
    context.payments.database.reads.account.findUnique({
      ...selectionOf({ context, info, typeName: 'InternalAccount' }),
      where: { ...key(uuid, context), kind: 'INTERNAL', AND: [visibleAccounts(context.viewer)] },
    }),
  ExternalAccount: (uuid, context, info) =>
    context.payments.database.reads.account.findUnique({
      ...selectionOf({ context, info, typeName: 'ExternalAccount' }),
      where: { ...key(uuid, context), kind: 'EXTERNAL', AND: [visibleAccounts(context.viewer)] },
    }),
  // Lookups are made by servers, for quotes that they make: an app sees none.
  Lookup: async (uuid, context, info) =>
    context.viewer.kind === 'PLATFORM'
      ? context.payments.database.prisma.lookup.findUnique({
          ...selectionOf({ context, info, typeName: 'Lookup' }),
          where: key(uuid, context),
        })
      : null,
  ApiToken: async (uuid, context, info) =>
    context.viewer.permissions.includes('MANAGE')
      ? context.payments.database.prisma.apiToken.findUnique({
          ...selectionOf({ context, info, typeName: 'ApiToken' }),
          where: { ...key(uuid, context), revokedAt: null },
        })
      : null,
  // Endpoints are the platform's own business: an app with a client token sees none.
  WebhookEndpoint: async (uuid, context, info) =>
    context.viewer.kind !== 'PLATFORM'
      ? null
      : context.payments.database.prisma.webhookEndpoint.findUnique({
          ...selectionOf({ context, info, typeName: 'WebhookEndpoint' }),
          where: key(uuid, context),
        }),
} satisfies Record<string, NodeLoader>;

type NodeType = keyof typeof loaders;
type RowOf<Type extends NodeType> = Awaited<ReturnType<(typeof loaders)[Type]>>;
/** All that can be read by an id. */
export const nodeTypes = Object.keys(loaders) as NodeType[];

/** Reads the thing behind a public id of one of the given types, in one statement, or null. */
export async function loadNode<Type extends NodeType>(
  id: string,
  context: Context,
  info: GraphQLResolveInfo,
  types: readonly Type[],
): Promise<RowOf<Type> | null> {
  for (const type of types) {
    const uuid = uuidOf(id, type);
    if (uuid === undefined) continue;
    // The loader of a type reads rows of that type: which the compiler cannot follow through the table.
    const row = (await loaders[type](uuid, context, info)) as RowOf<Type>;
    // A loader has the name of its type.
    if (row) brandWithType(row, type as never);
    return row;
  }
  return null;
}

const maxIds = 100;

builder.queryField('node', (t) =>
  t.field({
    type: builder.nodeInterfaceRef(),
    nullable: true,
    description: 'Anything with an id, by its id. Null when nothing visible to the caller has it.',
    args: { id: t.arg.id({ required: true, description: 'A public id: its type, a colon, a UUID.' }) },
    resolve: (_root, args, context, info) => loadNode(args.id, context, info, nodeTypes),
  }),
);

builder.queryField('nodes', (t) =>
  t.field({
    type: [builder.nodeInterfaceRef()],
    nullable: { list: false, items: true },
    description: `Several things by their ids, in the order asked; null for each that is unknown. At most ${maxIds}.`,
    args: { ids: t.arg.idList({ required: true, description: 'Public ids.' }) },
    resolve: (_root, args, context, info) => {
      if (args.ids.length > maxIds) throw invalidInput(`at most ${maxIds} ids at once`, 'ids');
      return Promise.all(args.ids.map((id) => loadNode(id, context, info, nodeTypes)));
    },
  }),
);

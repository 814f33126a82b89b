import { brandWithType } from '@pothos/core';
import DataLoader from 'dataloader';
import type { GraphQLResolveInfo } from 'graphql';
import { publicId, uuidOf } from '../payments/ids.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';
import { invalidInput } from './failure.ts';
import { selectionOf } from './shared-plans.ts';
import { visibleAccounts, visibleCustomers, visibleQuotes, visibleTransactions } from './visible.ts';

/** What can be read by ids, and how. Anything unknown, malformed or another platform's is missing, all alike. */
type NodeLoader = (
  ids: string[],
  context: Context,
  selection: ReturnType<typeof selectionOf>,
) => PromiseLike<{ readonly id: string }[]> | [];

const among = (ids: string[], { viewer }: Context) => ({ platformId: viewer.platformId, id: { in: ids } });

const loaders = {
  Quote: (ids, context, selection) =>
    context.payments.database.reads.quote.findMany({
      ...selection,
      where: { ...among(ids, context), AND: [visibleQuotes(context.viewer)] },
    }),
  Transaction: (ids, context, selection) =>
    context.payments.database.reads.transaction.findMany({
      ...selection,
      where: { ...among(ids, context), AND: [visibleTransactions(context.viewer)] },
    }),
  Customer: (ids, context, selection) =>
    context.payments.database.reads.customer.findMany({
      ...selection,
      where: { ...among(ids, context), AND: [visibleCustomers(context.viewer)] },
    }),
  InternalAccount: (ids, context, selection) =>
    context.payments.database.reads.account.findMany({
      ...selection,
      where: { ...among(ids, context), kind: 'INTERNAL', AND: [visibleAccounts(context.viewer)] },
    }),
  ExternalAccount: (ids, context, selection) =>
    context.payments.database.reads.account.findMany({
      ...selection,
      where: { ...among(ids, context), kind: 'EXTERNAL', AND: [visibleAccounts(context.viewer)] },
    }),
  // Lookups are made by servers, for quotes that they make: an app sees none.
  Lookup: (ids, context, selection) =>
    context.viewer.kind === 'PLATFORM'
      ? context.payments.database.prisma.lookup.findMany({
          ...selection,
          where: among(ids, context),
        })
      : [],
  ApiToken: (ids, context, selection) =>
    context.viewer.permissions.includes('MANAGE')
      ? context.payments.database.prisma.apiToken.findMany({
          ...selection,
          where: { ...among(ids, context), revokedAt: null },
        })
      : [],
  // Endpoints are the platform's own business: an app with a client token sees none.
  WebhookEndpoint: (ids, context, selection) =>
    context.viewer.kind === 'PLATFORM'
      ? context.payments.database.prisma.webhookEndpoint.findMany({
          ...selection,
          where: among(ids, context),
        })
      : [],
} satisfies Record<string, NodeLoader>;

type NodeType = keyof typeof loaders;
type RowOf<Type extends NodeType> = Awaited<ReturnType<(typeof loaders)[Type]>>[number];
/** All that can be read by an id. */
export const nodeTypes = Object.keys(loaders) as NodeType[];

/**
 * Reads what is behind public ids of the given types, in one statement for each type: in the order asked, null for each
 * that is unknown.
 */
async function loadNodes<Type extends NodeType>(
  ids: readonly string[],
  context: Context,
  info: GraphQLResolveInfo,
  types: readonly Type[],
): Promise<(RowOf<Type> | null)[]> {
  const rows = new Map<string, RowOf<Type>>();
  const read = async (type: Type, named: string[]) => {
    const uuids = named.map((id) => id.slice(type.length + 1));
    const selection = selectionOf({ context, info, typeName: type });
    // The loader of a type reads rows of that type: which the compiler cannot follow through the table.
    for (const row of (await loaders[type](uuids, context, selection)) as RowOf<Type>[]) {
      // A loader has the name of its type.
      brandWithType(row, type as never);
      rows.set(publicId(type, row.id), row);
    }
  };
  const byType = Map.groupBy(new Set(ids), (id) => types.find((type) => uuidOf(id, type) !== undefined));
  await Promise.all(Array.from(byType, ([type, named]) => type && read(type, named)));
  return ids.map((id) => rows.get(id) ?? null);
}

/** Reads the thing behind a public id of one of the given types, in one statement, or null. */
export async function loadNode<Type extends NodeType>(
  id: string,
  context: Context,
  info: GraphQLResolveInfo,
  types: readonly Type[],
): Promise<RowOf<Type> | null> {
  return (await loadNodes([id], context, info, types))[0] ?? null;
}

const wholeRows = new WeakMap<Context, Map<string, DataLoader<string, object | null>>>();

/**
 * Reads the row of a type and id as it is now, with all its columns and nothing beside it, together with others that are
 * asked for at the same time; null where the caller may not see it. For fields whose rows come from several sources:
 * Pothos takes what was selected for one row of a field for what all of them have.
 */
export function loadWhole<Type extends NodeType>(
  type: Type,
  uuid: string | null,
  context: Context,
): Promise<RowOf<Type> | null> | null {
  if (uuid === null) return null;
  const byType = wholeRows.get(context) ?? new Map<string, DataLoader<string, object | null>>();
  wholeRows.set(context, byType);
  const loader =
    byType.get(type) ??
    new DataLoader(
      async (ids) => {
        const rows = new Map((await loaders[type]([...ids], context, {})).map((row) => [row.id, row]));
        return ids.map((id) => rows.get(id) ?? null);
      },
      // The context of a subscription lasts, and rows change.
      { cache: false },
    );
  byType.set(type, loader);
  // As in loadNodes, the compiler cannot follow a type through the table.
  return loader.load(uuid) as Promise<RowOf<Type> | null>;
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
    description: `Several things by their ids, in the order asked; null for each that is unknown. At most ${maxIds}; what is asked of them costs as many times, and a repeated id is read once.`,
    args: { ids: t.arg.idList({ required: true, description: 'Public ids.' }) },
    resolve: (_root, args, context, info) => {
      if (args.ids.length > maxIds) throw invalidInput(`at most ${maxIds} ids at once`, 'ids');
      return loadNodes(args.ids, context, info, nodeTypes);
    },
  }),
);

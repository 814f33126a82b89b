import { brandWithType } from '@pothos/core';
import type { GraphQLResolveInfo } from 'graphql';
import { visibleLookups, visibleWebhookEndpoints } from '../../access/visible.ts';
import { publicId, uuidOf } from '../../core/ids.ts';
import type { Context } from '../context.ts';
import { invalidInput } from '../failure.ts';
import { readNode } from '../reading/planned.ts';
import { reads } from '../reading/reads.ts';
import { builder } from './builder.ts';

/** The nouns, which plans read. */
const nounTypes = ['Quote', 'Transaction', 'Customer', 'InternalAccount', 'ExternalAccount'] as const;

/** Plain records that have ids: what the caller may see of them, by their uuids. */
const records = {
  Lookup: (ids: string[], { payments, viewer }: Context) =>
    payments.database.prisma.lookup.findMany({ where: { AND: [visibleLookups(viewer), { id: { in: ids } }] } }),
  ApiToken: (ids: string[], { payments, viewer }: Context) =>
    viewer.permissions.includes('MANAGE')
      ? payments.database.prisma.apiToken.findMany({
          where: { platformId: viewer.platformId, id: { in: ids }, revokedAt: null },
        })
      : [],
  WebhookEndpoint: (ids: string[], { payments, viewer }: Context) =>
    payments.database.prisma.webhookEndpoint.findMany({
      where: { AND: [visibleWebhookEndpoints(viewer), { id: { in: ids } }] },
    }),
} as const;

const recordTypes = Object.keys(records) as (keyof typeof records)[];

/** All that can be read by an id. */
const nodeTypes = [...nounTypes, ...recordTypes];

type RecordType = (typeof recordTypes)[number];

/** Reads records of a type, in one statement. */
async function loadRecords(type: RecordType, ids: readonly string[], context: Context): Promise<Map<string, object>> {
  const rows = await records[type](
    ids.map((id) => id.slice(type.length + 1)),
    context,
  );
  return new Map(
    rows.map((row) => {
      // A record has the name of its type.
      brandWithType(row, type as never);
      return [publicId(type, row.id), row];
    }),
  );
}

/** Reads the things behind public ids, with what the field asks of them: in one statement a type, and one for all nouns. */
async function loadNodes(
  ids: readonly string[],
  context: Context,
  info: GraphQLResolveInfo,
): Promise<(object | null)[]> {
  const byType = Map.groupBy(new Set(ids), (id) => recordTypes.find((type) => uuidOf(id, type) !== undefined));
  const found = await Promise.all(Array.from(byType, ([type, named]) => type && loadRecords(type, named, context)));
  const isRecord = new Set(Array.from(byType, ([type, named]) => (type ? named : [])).flat());
  return Promise.all(
    ids.map((id) =>
      isRecord.has(id)
        ? (found.map((rows) => rows?.get(id)).find((row) => row !== undefined) ?? null)
        : readNode(id, nounTypes, context, info),
    ),
  );
}

/** Reads the thing behind a public id, with what the field asks of it, or null. */
export async function loadNode(id: string, context: Context, info: GraphQLResolveInfo): Promise<object | null> {
  return (await loadNodes([id], context, info))[0] ?? null;
}

const maxIds = 100;

builder.queryField('node', (t) =>
  t.field({
    type: builder.nodeInterfaceRef(),
    nullable: true,
    description: 'Anything with an id, by its id. Null when nothing visible to the caller has it.',
    ...reads({ kind: 'node', types: nodeTypes }),
    args: { id: t.arg.id({ required: true, description: 'A public id: its type, a colon, a UUID.' }) },
    resolve: (_root, args, context, info) => loadNode(args.id, context, info),
  }),
);

builder.queryField('nodes', (t) =>
  t.field({
    type: [builder.nodeInterfaceRef()],
    nullable: { list: false, items: true },
    description: `Several things by their ids, in the order asked; null for each that is unknown. At most ${maxIds}; what is asked of them costs as many times, and a repeated id is read once.`,
    ...reads({ kind: 'node', types: nodeTypes, most: maxIds }),
    args: { ids: t.arg.idList({ required: true, description: 'Public ids.' }) },
    resolve: (_root, args, context, info) => {
      if (args.ids.length > maxIds) throw invalidInput(`at most ${maxIds} ids at once`, 'ids');
      return loadNodes(args.ids, context, info);
    },
  }),
);

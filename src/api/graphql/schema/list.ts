import type { ArgBuilder as ArgBuilderOf, InputObjectRef, InterfaceRef, ObjectRef } from '@pothos/core';
import { builder, type SchemaConfig } from './builder.ts';
import { ListOrder, SortOrder } from './enums.ts';

type Schema = PothosSchemaTypes.ExtendDefaultTypes<SchemaConfig>;
type ArgBuilder = ArgBuilderOf<Schema>;

/** Returns the paging arguments, which every list has. */
export const pageArgs = (t: ArgBuilder) => ({
  first: t.int({
    description: 'How many from the start, 0 to 100; 20 when neither first nor last is given. Not together with last.',
  }),
  after: t.string({ description: 'Only what comes after this cursor; with before, what lies between the two.' }),
  last: t.int({ description: 'How many from the end, 0 to 100. Not together with first.' }),
  before: t.string({
    description:
      'Only what comes before this cursor; with after, what lies between the two. Alone, without first and last, the 20 right before it.',
  }),
});

/** Returns the arguments of a list with a filter and a sort order. */
export const listArgs = <Filter>(t: ArgBuilder, filter: InputObjectRef<Schema, Filter>) => ({
  ...pageArgs(t),
  filter: t({ type: filter, description: 'Which ones.' }),
  sortOrder: t({ type: SortOrder, defaultValue: 'DESC', description: 'Newest first unless ASC.' }),
});

/** Returns the arguments of a list with a filter, which can be ordered by creation or by last change. */
export const orderedListArgs = <Filter>(t: ArgBuilder, filter: InputObjectRef<Schema, Filter>) => ({
  ...listArgs(t, filter),
  orderBy: t({
    type: ListOrder,
    defaultValue: 'CREATED',
    description:
      'What the order goes by. A cursor is good for the order that it came with. In the order of changes a row moves when it changes: read ASC, every change is met, some twice.',
  }),
});

/** An edge type, and the name of its list in cursors. */
interface ListEdge {
  readonly type: ObjectRef<Schema, { readonly cursor: string; readonly node: unknown }>;
  readonly list: string;
}

const edges = new Map<unknown, ListEdge>();

/** Returns the edge type of the list whose rows are of a type; undefined where there is none. */
export function edgeOf(type: unknown): ListEdge | undefined {
  return edges.get(type);
}

/**
 * Adds the connection type of a list of these rows, with its edge type. Only plans read them.
 * @param inPayloads the types of its rows in payloads of mutations, which carry the edge, too
 */
export function connection<Row>(
  type: ObjectRef<Schema, Row> | InterfaceRef<Schema, Row>,
  name: string,
  descriptions: { readonly page: string; readonly edge: string; readonly totalCount?: string },
  inPayloads: readonly unknown[] = [],
) {
  const { page, edge, totalCount = 'All that match, on whatever page.' } = descriptions;
  const edgeType = builder.edgeObject({ type, name: `${name}Edge`, description: edge });
  for (const of of inPayloads) edges.set(of, { type: edgeType as ListEdge['type'], list: name });
  return builder.connectionObject(
    {
      type,
      name: `${name}Connection`,
      description: page,
      fields: (t) => ({
        totalCount: t.int({ description: totalCount, extensions: { costs: 'all' }, resolve: (of) => of.totalCount }),
      }),
    },
    edgeType,
  );
}

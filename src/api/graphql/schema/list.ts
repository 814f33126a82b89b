import type { ArgBuilder as ArgBuilderOf, InputFieldMap, InputObjectRef, InterfaceRef, ObjectRef } from '@pothos/core';
import type { Viewer } from '../../../domain/access/viewer.ts';
import type { Payments } from '../../../domain/commands/command.ts';
import { byChange, byId, type Model, type PageKey } from '../reading/reads.ts';
import { builder, type Types } from './builder.ts';
import { ListOrder, SortOrder } from './enums.ts';
import type { RowList } from './words.ts';

type ArgBuilder = ArgBuilderOf<Types>;

/** Returns the paging arguments, which every list has. */
export const pageArgs = (t: ArgBuilder) => ({
  first: t.int({
    description: 'The number of items from the start, 0 to 100. The default is 20, unless `last` is given.',
  }),
  after: t.string({
    description: 'Returns items after this cursor. Together with `before`, returns the items between the two.',
  }),
  last: t.int({ description: 'The number of items from the end, 0 to 100. Cannot be combined with `first`.' }),
  before: t.string({
    description:
      'Returns items before this cursor. Together with `after`, returns the items between the two. Without `first` and `last`, returns the 20 items immediately before the cursor.',
  }),
});

/** Creates a list's arguments: page, filter and order. */
export const listArgs = <Filter>(t: ArgBuilder, filter: InputObjectRef<Types, Filter>) => ({
  ...pageArgs(t),
  filter: t({ type: filter, description: 'Returns only items that match this filter.' }),
  sortOrder: t({
    type: SortOrder,
    defaultValue: 'DESC',
    description: 'The order of the list: newest first by default, oldest first with ASC.',
  }),
});

/** Creates the arguments for a filtered list that can be ordered by creation or by latest change. */
const orderedListArgs = <Filter>(t: ArgBuilder, filter: InputObjectRef<Types, Filter>) => ({
  ...listArgs(t, filter),
  orderBy: t({
    type: ListOrder,
    defaultValue: 'CREATED',
    description:
      'The sort key. A cursor is valid only for the sort key it was returned for. With UPDATED, items move when they change, so page with ASC and expect changed items to appear again.',
  }),
});

/** A row of a list that is ordered by id. */
export interface Identified {
  readonly platformId: string;
  readonly id: string;
}

/** A list's edge type, and the function that creates a cursor for an edge that is not on a page. */
interface ListEdge {
  readonly options: { readonly type: EdgeRef; readonly description: string };
  readonly cursorOf: (payments: Payments, row: Identified) => string;
}

type EdgeRef = ObjectRef<Types, { readonly cursor: string; readonly node: unknown }>;

const edges = new Map<unknown, ListEdge>();

/** Returns the edge of the list whose rows have this type; undefined if there is no such list. */
export function edgeOf(type: unknown): ListEdge | undefined {
  return edges.get(type);
}

const edgeDescription =
  'This object as an edge of its list, ready to be inserted into a cached list. The cursor is for the default order, by creation.';

interface ListOptions<Filter> {
  /** The name of the rows' type and model. The list's type names and cursors contain it. */
  readonly name: string;
  readonly visible: (viewer: Viewer) => object;
  /** The input that filters the list, and the conditions that it translates to. */
  readonly filter?: InputObjectRef<Types, Filter>;
  readonly where?: (viewer: Viewer, filter: Filter | null | undefined) => object;
  /** Whether the list can also be ordered by the last change of its rows. */
  readonly isOrdered?: boolean;
  /** The sort key of a list that has only one order, if that order is not by id. */
  readonly key?: PageKey;
  /** The list's name in its cursors, if it is not `name`. */
  readonly cursors?: string;
  readonly page: string;
  readonly edge: string;
  readonly totalCount?: string;
  /** The types that implement the row type. */
  readonly variants?: readonly unknown[];
  readonly args?: (t: ArgBuilder) => InputFieldMap;
}

/** Adds a list of rows with its page and edge types, for use with `t.page`. */
export function listOf<Row, Filter = never>(
  type: ObjectRef<Types, Row> | InterfaceRef<Types, Row>,
  options: ListOptions<Filter>,
): RowList<Types> {
  const { name, cursors = name, visible, filter, where = () => ({}), isOrdered, key = byId } = options;
  return {
    connection: connectionOf(type, options, cursors),
    read: {
      kind: 'page',
      list: cursors,
      // Every list is named after its model.
      model: name as Model,
      key: ({ orderBy }) => (isOrdered && orderBy === 'UPDATED' ? byChange : key),
      // The arguments defined below.
      where: (viewer, args) => ({ AND: [visible(viewer), where(viewer, args.filter as Filter)] }),
    },
    args: options.args ?? ((t) => (filter ? (isOrdered ? orderedListArgs : listArgs)(t, filter) : pageArgs(t))),
  };
}

/** Creates a list's connection type, with its edges and `totalCount`. */
export function connectionOf<Row>(
  type: ObjectRef<Types, Row> | InterfaceRef<Types, Row>,
  {
    name,
    page,
    edge,
    totalCount = 'The number of items that match, on all pages.',
    variants = [],
  }: Pick<ListOptions<never>, 'name' | 'page' | 'edge' | 'totalCount' | 'variants'>,
  list = name,
) {
  const edgeType = builder.edgeObject({ type, name: `${name}Edge`, description: edge });
  const listEdge: ListEdge = {
    options: { type: edgeType as EdgeRef, description: edgeDescription },
    cursorOf: ({ cursors }, { platformId, id }) => cursors.write(list, platformId, id),
  };
  for (const of of [type, ...variants]) edges.set(of, listEdge);
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

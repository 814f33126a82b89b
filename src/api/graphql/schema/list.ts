import type { ArgBuilder as ArgBuilderOf, InputFieldMap, InputObjectRef, InterfaceRef, ObjectRef } from '@pothos/core';
import type { Viewer } from '../../../domain/access/caller.ts';
import type { Payments } from '../../../domain/commands/command.ts';
import { byChange, byId, type Model, type PageKey } from '../reading/reads.ts';
import type { RowList } from '../reading/words.ts';
import { builder, type Types } from './builder.ts';
import { ListOrder, SortOrder } from './enums.ts';

type ArgBuilder = ArgBuilderOf<Types>;
export type RowType<Row> = ObjectRef<Types, Row> | InterfaceRef<Types, Row>;

/** Returns the paging arguments, which every list has. */
export const pageArgs = (t: ArgBuilder) => ({
  first: t.int({
    description: 'The number of items to return from the start, 0 to 100. The default is 20, unless `last` is given.',
  }),
  after: t.string({
    description: 'Returns items after this cursor. Together with `before`, returns the items between the two.',
  }),
  last: t.int({
    description: 'The number of items to return from the end, 0 to 100. Cannot be combined with `first`.',
  }),
  before: t.string({
    description:
      'Returns items before this cursor. Together with `after`, returns the items between the two. If `first` and `last` are both omitted, returns the 20 items immediately before the cursor.',
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

const orderBy = {
  type: ListOrder,
  defaultValue: 'CREATED',
  description:
    'The sort key. A cursor is valid only with the sort key that was used to obtain it. With UPDATED, an item moves when it changes, so page with ASC and expect changed items to appear again.',
} as const;

/** A row of a list that is ordered by id. */
export interface Identified {
  readonly platformId: string;
  readonly id: string;
}

/** A list's edge type, and the function that creates a cursor for an edge that is not on a page. */
export interface ListEdge {
  readonly options: { readonly type: EdgeRef; readonly description: string };
  readonly cursorOf: (payments: Payments, row: Identified) => string;
}

type EdgeRef = ObjectRef<Types, { readonly cursor: string; readonly node: unknown }>;

/** Each list's edge, keyed by the type of the list's rows. */
export const edges = new Map<unknown, ListEdge>();

const edgeDescription =
  'The object as a list edge, ready to be inserted into a cached list. The cursor is for the default order, by creation time.';

interface ConnectionOptions {
  /** The nouns for one row and for several, such as "A quote" and "quotes". */
  readonly words: readonly [one: string, all: string];
  readonly totalCount?: string;
  /** The types that implement the row type. */
  readonly variants?: readonly unknown[];
}

interface ListOptions<Filter> extends ConnectionOptions {
  readonly visible: (viewer: Viewer) => object;
  /** The input that filters the list, and the conditions that it translates to. */
  readonly filter?: InputObjectRef<Types, Filter>;
  readonly where?: (viewer: Viewer, filter: Filter | null | undefined) => object;
  /** Whether the list can also be ordered by the time of each row's last change. */
  readonly isOrdered?: boolean;
  /** The list's sort key, if it is not the id. */
  readonly key?: PageKey;
  /** The list's name in its cursors, if it differs from the name of the row type. */
  readonly cursors?: string;
  readonly args?: (t: ArgBuilder) => InputFieldMap;
}

/** Adds a list of rows with its page and edge types, for use with `t.page`. The row type is named after its model. */
export function listOf<Row, Filter = never>(type: RowType<Row>, options: ListOptions<Filter>): RowList<Types> {
  const { cursors = type.name, visible, filter, where = () => ({}), isOrdered, key = byId } = options;
  return {
    connection: connectionOf(type, options, cursors),
    read: {
      kind: 'page',
      list: cursors,
      model: type.name as Model,
      key: ({ orderBy }) => (isOrdered && orderBy === 'UPDATED' ? byChange : key),
      where: (viewer, args) => ({ AND: [visible(viewer), where(viewer, args.filter as Filter)] }),
    },
    args:
      options.args ??
      ((t) => ({ ...(filter ? listArgs(t, filter) : pageArgs(t)), ...(isOrdered && { orderBy: t(orderBy) }) })),
  };
}

/** Adds a list's connection type, with its edges and `totalCount`. */
export function connectionOf<Row>(type: RowType<Row>, options: ConnectionOptions, list = type.name) {
  const { words, totalCount = 'The number of matching items on all pages.', variants = [] } = options;
  const [one, all] = words;
  const edgeType = builder.edgeObject({ type, name: `${type.name}Edge`, description: `${one} on a page.` });
  const listEdge: ListEdge = {
    options: { type: edgeType as EdgeRef, description: edgeDescription },
    cursorOf: ({ cursors }, { platformId, id }) => cursors.write(list, platformId, id),
  };
  for (const of of [type, ...variants]) edges.set(of, listEdge);
  return builder.connectionObject(
    {
      type,
      name: `${type.name}Connection`,
      description: `A page of ${all}.`,
      fields: (t) => ({
        totalCount: t.int({ description: totalCount, extensions: { costs: 'all' }, resolve: (of) => of.totalCount }),
      }),
    },
    edgeType,
  );
}

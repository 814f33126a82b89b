import type { ArgBuilder as ArgBuilderOf } from '@pothos/core';
import type { GraphQLResolveInfo } from 'graphql';
import { idOfCursor, type Page, pageQuery, rowCursor } from '../payments/paging.ts';
import { countTogether } from './batch.ts';
import type { SchemaConfig } from './builder.ts';
import type { Context } from './context.ts';
import { SortOrder } from './enums.ts';
import { type Connection, connectionOf, type PageArgs, parsePage } from './paging.ts';
import { selectionOf } from './shared-plans.ts';

type ArgBuilder = ArgBuilderOf<PothosSchemaTypes.ExtendDefaultTypes<SchemaConfig>>;

/** The paging arguments that every list has. */
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

/** The sort order of lists that have one. */
export const sortArg = (t: ArgBuilder) => ({
  sortOrder: t({ type: SortOrder, defaultValue: 'DESC', description: 'Newest first unless ASC.' }),
});

/** The page asked for in a list of rows by id. */
function idPage(list: string, args: PageArgs, context: Context): Page<string> {
  return parsePage(args, (cursor) => idOfCursor(list, context.viewer.platformId, cursor));
}

/**
 * What a connection below a row selects of its relation: the page's rows, in the statement that reads the row. Wrong
 * arguments select nothing here; the resolver, which reads them again, reports them.
 */
export function nestedQuery<Where>(
  list: string,
  args: PageArgs,
  context: Context,
  where: Where,
): ReturnType<typeof pageQuery<Where>> {
  try {
    return pageQuery(where, idPage(list, args, context));
  } catch {
    return { where, orderBy: { id: 'desc' }, take: 0 };
  }
}

/**
 * A nested page's selection as Prisma takes it. A document that asks for nothing of the rows themselves (only totalCount,
 * say) leaves nothing selected, which Prisma refuses; the keys are always needed, for cursors.
 */
export function withKeys<Selection>(selection: Selection): Selection {
  if (typeof selection !== 'object' || selection === null || !('select' in selection)) return selection;
  const { select } = selection;
  const isEmpty = typeof select === 'object' && select !== null && Object.keys(select).length === 0;
  return isEmpty ? { ...selection, select: { platformId: true, id: true } } : selection;
}

/** A field that answers a list, as it was asked. */
interface Asked {
  readonly args: PageArgs;
  readonly context: Context;
  readonly info: GraphQLResolveInfo;
}

/** What tells a row's place in a list of its type. */
interface Keyed {
  readonly platformId: string;
  readonly id: string;
}

/** How the rows of a list are read and counted, where it is a field of the query itself. */
interface Source<Where, Row> {
  rows(query: ReturnType<typeof selectionOf> & ReturnType<typeof pageQuery<Where>>): Promise<readonly Row[]>;
  count(query: { where: Where | { AND: [Where, { id: Page<string>['beyond'] }] }; take?: number }): Promise<number>;
}

/** The page that a field of the query answers, of the rows that match `where`. */
export async function rootPage<Where, Row extends Keyed>(
  list: string,
  { args, context, info }: Asked,
  where: Where,
  source: Source<Where, Row>,
): Promise<Connection<Row>> {
  const page = idPage(list, args, context);
  const selection = selectionOf({ context, info, path: ['edges', 'node'] });
  const rows = await source.rows({ ...selection, ...pageQuery(where, page) });
  return connectionOf(page, rows, cursorIn(list), {
    totalCount: () => source.count({ where }),
    anyBeyond: async () => (await source.count({ where: { AND: [where, { id: page.beyond }] }, take: 1 })) > 0,
  });
}

/**
 * The page that a field of a row answers, whose rows were read with that row (`nestedQuery`).
 * @param owner the id of the row that they belong to
 * @param counts how many there are for each of these owners, within bounds on their own ids
 */
export function nestedPage<Row extends Keyed>(
  list: string,
  { args, context, info }: Asked,
  owner: string,
  rows: readonly Row[],
  counts: (owners: string[], bound: { id?: object }) => Promise<ReadonlyMap<string | null, number>>,
): Connection<Row> {
  const page = idPage(list, args, context);
  const count = (purpose: string, bound: { id?: object }) =>
    countTogether(context, info, purpose, owner, (owners) => counts([...owners], bound));
  return connectionOf(page, rows, cursorIn(list), {
    totalCount: () => count('totalCount', {}),
    anyBeyond: async () => (await count('beyond', { id: page.beyond })) > 0,
  });
}

const cursorIn =
  (list: string) =>
  ({ platformId, id }: Keyed) =>
    rowCursor(list, platformId, id);

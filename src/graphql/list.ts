import type { ArgBuilder as ArgBuilderOf } from '@pothos/core';
import { idOfCursor, type Page, pageQuery } from '../payments/paging.ts';
import type { SchemaConfig } from './builder.ts';
import type { Context } from './context.ts';
import { SortOrder } from './enums.ts';
import { type PageArgs, parsePage } from './paging.ts';

type ArgBuilder = ArgBuilderOf<PothosSchemaTypes.ExtendDefaultTypes<SchemaConfig>>;

/** The paging arguments that every list has. */
export const pageArgs = (t: ArgBuilder) => ({
  first: t.int({ description: 'How many from the start, 1 to 100; 20 when neither first nor last is given.' }),
  after: t.string({ description: 'Only what comes after this cursor; goes with first.' }),
  last: t.int({ description: 'How many from the end, 1 to 100.' }),
  before: t.string({ description: 'Only what comes before this cursor; goes with last.' }),
});

/** The sort order of lists that have one. */
export const sortArg = (t: ArgBuilder) => ({
  sortOrder: t({ type: SortOrder, defaultValue: 'DESC', description: 'Newest first unless ASC.' }),
});

/** The page asked for in a list of rows by id. */
export function idPage(list: string, args: PageArgs, context: Context): Page<string> {
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

/** The first row that matches, if any: whether a page has something before it. */
interface Findable<Where> {
  findFirst(query: { select: { id: true }; where: Where }): Promise<{ id: string } | null>;
}

/** Whether any row that the list has lies beyond the page's cursor. */
export async function anyBeyond<Where>(
  delegate: Findable<{ AND: [Where, object] }>,
  where: Where,
  page: Page<string>,
): Promise<boolean> {
  return (await delegate.findFirst({ select: { id: true }, where: { AND: [where, { id: page.beyond }] } })) !== null;
}

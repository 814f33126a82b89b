import type { ArgBuilder as ArgBuilderOf } from '@pothos/core';
import { idOfCursor, pageQuery, rowCursor } from '../../core/paging.ts';
import type { Context } from '../context.ts';
import { type Connection, connectionOf, type PageArgs, parsePage } from '../paging.ts';
import type { SchemaConfig } from './builder.ts';
import { SortOrder } from './enums.ts';

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

/** What tells a row's place in a list of its type. */
interface Keyed {
  readonly platformId: string;
  readonly id: string;
}

/** How the rows of a list are read and counted, in Prisma's words. */
interface Source<Where, Row> {
  rows(query: ReturnType<typeof pageQuery<Where>>): Promise<readonly Row[]>;
  count(query: { where: Where | { AND: [Where, { id: object | undefined }] }; take?: number }): Promise<number>;
}

/** Reads a page of plain records, which Prisma reads: tokens, endpoints and their deliveries. (Nouns are read by plans.) */
export async function recordPage<Where, Row extends Keyed>(
  list: string,
  { args, context }: { readonly args: PageArgs; readonly context: Context },
  where: Where,
  source: Source<Where, Row>,
): Promise<Connection<Row>> {
  const page = parsePage(args, (cursor) => idOfCursor(list, context.viewer.platformId, cursor));
  const rows = await source.rows(pageQuery(where, page));
  return connectionOf(page, rows, ({ platformId, id }) => rowCursor(list, platformId, id), {
    totalCount: () => source.count({ where }),
    anyBeyond: async () => (await source.count({ where: { AND: [where, { id: page.beyond }] }, take: 1 })) > 0,
  });
}

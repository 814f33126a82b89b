import { createRoute, z } from '@hono/zod-openapi';
import { LRUCache } from 'lru-cache';
import type { Viewer } from '../access/viewer.ts';
import { parseTimestamp } from '../core/checks.ts';
import { defaultPageSize, idOfCursor, maxPageSize, type Page, pageQuery, rowCursor } from '../core/paging.ts';
import { Refusal } from '../core/refusal.ts';
import type { Database } from '../database/database.ts';
import { countRows, type Extra, type Noun, readRows, type Where } from '../database/read-rows.ts';
import type { SnapshotRows } from '../database/rows.ts';
import { answers, readErrors, type reading } from './endpoint.ts';

/** What all lists have in common (specification 4.0). */

/** A parameter that counts: digits only, within its bounds. */
const limit = z
  .string()
  .regex(/^\d{1,9}$/, `must be an integer from 1 to ${maxPageSize}`)
  .transform(Number)
  .pipe(z.int().min(1).max(maxPageSize))
  .default(defaultPageSize)
  .openapi({
    type: 'integer',
    minimum: 1,
    maximum: maxPageSize,
    default: defaultPageSize,
    description: 'How many at most.',
    example: defaultPageSize,
  });

/** The query parameters of every list in pages. */
const pageParameters = {
  limit,
  cursor: z.string().optional().openapi({ description: 'The `nextCursor` of the page before.' }),
};

/** A moment in a query, inclusive as a bound. */
export function moment(description: string) {
  return z
    .string()
    .transform((text, context) => {
      const given = parseTimestamp(text);
      if (given) return given;
      context.addIssue('must be RFC 3339 with a time zone, such as 2026-01-31T09:30:00Z');
      return z.NEVER;
    })
    .optional()
    .openapi({ type: 'string', format: 'date-time', description });
}

/** One of a set of values, or with a repeated parameter any of several. */
export function anyOf<const Values extends readonly [string, ...string[]]>(values: Values, description: string) {
  const one = z.enum(values);
  return z
    .preprocess((given) => (given === undefined || Array.isArray(given) ? given : [given]), z.array(one).optional())
    .openapi({ type: 'array', items: { type: 'string', enum: [...values] }, description });
}

/** A yes or no in a query. */
export function flag(description: string) {
  return z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .default(false)
    .openapi({ type: 'boolean', default: false, description });
}

/** What the endpoints of a resource's list are made of. `access` says who may call it. */
interface ListEndpoint<Path extends string, Filters extends z.ZodRawShape, Item extends z.ZodType> {
  readonly access: ReturnType<typeof reading>;
  readonly path: Path;
  readonly filters: Filters;
  readonly item: Item;
  /** The name of the answer's component. */
  readonly name: string;
}

/**
 * A longer list is not counted, and has no `totalCount`, which is optional (specification 4.0): counting a million rows
 * takes a hundred times what reading a page does. Whoever needs the number asks GraphQL for it.
 */
const countedAtMost = 10_000;

/**
 * The lists found to be longer, by name and conditions: they are not counted again soon. Finding it out takes more than
 * half of what the whole answer does, and a list that has become shorter is without its total for a minute at most.
 */
const longLists = new LRUCache<string, true>({
  maxSize: 1_000_000,
  sizeCalculation: (_long, key) => key.length,
  ttl: 60_000,
});

/** An endpoint that lists in pages: its filters beside `limit` and `cursor`, and the envelope of specification 4.0. */
export function pagedEndpoint<Path extends string, Filters extends z.ZodRawShape, Item extends z.ZodType>({
  access,
  path,
  filters,
  item,
  name,
}: ListEndpoint<Path, Filters, Item>) {
  const page = z
    .object({
      data: z.array(item).openapi({ description: 'The records, newest first unless sorted otherwise.' }),
      hasMore: z.boolean().openapi({ description: 'Whether there is more beyond this page.' }),
      nextCursor: z
        .string()
        .optional()
        .openapi({ description: 'Where the next page starts; only when there is more.' }),
      totalCount: z
        .int()
        .optional()
        .openapi({ description: `All that match, on whatever page; only up to ${countedAtMost}.` }),
    })
    .openapi(name);
  return createRoute({
    ...access,
    method: 'get',
    path,
    request: { query: z.strictObject({ ...filters, ...pageParameters }) },
    responses: { 200: answers(page, 'A page of them. All filters given apply.'), ...readErrors() },
  });
}

/** An endpoint that lists everything at once, as what a platform owns itself is (specification 4.10). */
export function wholeEndpoint<Path extends string, Filters extends z.ZodRawShape, Item extends z.ZodType>({
  access,
  path,
  filters,
  item,
  name,
}: ListEndpoint<Path, Filters, Item>) {
  const all = z.object({ data: z.array(item).openapi({ description: 'All of them.' }) }).openapi(name);
  return createRoute({
    ...access,
    method: 'get',
    path,
    request: { query: z.strictObject(filters) },
    responses: { 200: answers(all, 'All of them.'), ...readErrors() },
  });
}

interface ListQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly sortOrder?: 'asc' | 'desc' | undefined;
}

/**
 * The page that a query asks for.
 * @throws Refusal INVALID_INPUT for a cursor that is not of this list (decision 17)
 */
function pageAsked(list: string, viewer: Viewer, query: ListQuery): Page<string> {
  const read = query.sortOrder ?? 'desc';
  const cursor = query.cursor === undefined ? undefined : idOfCursor(list, viewer.platformId, query.cursor);
  if (query.cursor !== undefined && cursor === undefined) {
    throw new Refusal('INVALID_INPUT', 'the cursor is not of this list', { path: ['cursor'] });
  }
  return {
    size: query.limit,
    backward: false,
    read,
    bound: cursor === undefined ? undefined : read === 'asc' ? { gt: cursor } : { lt: cursor },
    beyond: undefined,
  };
}

/** A list in pages: where its rows are, and how they are shown. */
interface ListOf<Filter, Where, Row, Item> {
  /** In its cursors, which GraphQL's list of that name takes too. */
  readonly name: string;
  readonly where: (viewer: Viewer, filter: Filter) => Where;
  readonly rows: (page: ReturnType<typeof pageQuery<Where>>) => Promise<Row[]>;
  readonly count: (query: { readonly where: Where; readonly take: number }) => Promise<number>;
  readonly record: (row: Row) => Item;
}

/** The list of a noun's rows, with what their records tell of others. */
export function nounList<N extends Noun, Filter, More extends object, Item>(
  database: Database,
  noun: N,
  list: Pick<ListOf<Filter, Where<N>, SnapshotRows[N] & More, Item>, 'where' | 'record'> & { along?: Extra<More> },
): ListOf<Filter, Where<N>, SnapshotRows[N] & More, Item> {
  return {
    ...list,
    name: noun,
    rows: (page) => readRows(database, noun, page, list.along),
    count: (query) => countRows(database, noun, query),
  };
}

/** Reads the page of a list that a query asks for and presents it. */
export async function readPage<Filter, Where, Row extends { readonly id: string }, Item>(
  list: ListOf<Filter, Where, Row, Item>,
  viewer: Viewer,
  query: Filter & ListQuery,
): Promise<{ data: Item[]; hasMore: boolean; nextCursor?: string; totalCount?: number }> {
  const page = pageAsked(list.name, viewer, query);
  const where = list.where(viewer, query);
  const rows = await list.rows(pageQuery(where, page));
  const shown = rows.slice(0, page.size);
  const last = shown.at(-1);
  const hasMore = rows.length > page.size;
  // A first page that is the last tells its total itself.
  const isAll = !hasMore && page.bound === undefined;
  const totalCount = isAll ? shown.length : await countUnlessLong(list, where);
  return {
    data: shown.map(list.record),
    hasMore,
    ...(hasMore && last && { nextCursor: rowCursor(list.name, viewer.platformId, last.id) }),
    ...(totalCount !== undefined && { totalCount }),
  };
}

/** How many rows match, or undefined where there are more than are counted. */
async function countUnlessLong<Where>(
  { name, count }: Pick<ListOf<never, Where, never, unknown>, 'name' | 'count'>,
  where: Where,
): Promise<number | undefined> {
  const key = JSON.stringify([name, where]);
  if (longLists.has(key)) return undefined;
  const total = await count({ where, take: countedAtMost + 1 });
  if (total <= countedAtMost) return total;
  longLists.set(key, true);
  return undefined;
}

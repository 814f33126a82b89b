import { z } from '@hono/zod-openapi';
import { boundedCache } from '../../core/bounded-cache.ts';
import { maxAmount, maxListLength, parseTimestamp } from '../../core/checks.ts';
import {
  defaultPageSize,
  type ListOrder,
  maxPageSize,
  type OrderedRow,
  pageQuery,
  type RowOrder,
  rowOrders,
} from '../../core/paging.ts';
import { invalid } from '../../core/refusal.ts';
import type { Viewer } from '../../domain/access/caller.ts';
import type { Database } from '../../infra/database/database.ts';
import { countRows, type Extra, type Noun, readRows, type Where } from '../../infra/database/read-rows.ts';
import type { SnapshotRows } from '../../infra/database/rows.ts';
import type { RestEnvironment } from './context.ts';
import type { Endpoints } from './endpoint.ts';
import { listOf } from './schemas/fields.ts';

// Defines the common parts of all lists.

const pageParameters = {
  limit: z
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
      description: 'The maximum number of records on a page.',
    }),
  cursor: z.string().optional().describe('The `nextCursor` of the previous page.'),
};

/** Defines a required parameter whose value is a timestamp with a time zone. */
export const requiredMoment = (description: string) =>
  z
    .string()
    .transform((text, context) => {
      const time = parseTimestamp(text);
      if (time) return time;
      context.addIssue('must be an RFC 3339 timestamp with a time zone, such as 2026-01-31T09:30:00Z');
      return z.NEVER;
    })
    .openapi({ type: 'string', format: 'date-time', description });

/** Defines an optional timestamp parameter. */
export const moment = (description: string) => requiredMoment(description).optional();

/** The list parameters that filter by creation time. */
export const createdParameters = {
  createdAfter: moment('Created at this time or later.'),
  createdBefore: moment('Created at this time or earlier.'),
};

/** The list parameters that filter by the time of the last change. */
export const updatedParameters = {
  updatedAfter: moment('Last changed at this time or later.'),
  updatedBefore: moment('Last changed at this time or earlier.'),
};

/** Defines a parameter that may be repeated, up to `maxListLength` times. */
export function repeatable<Item extends z.ZodType<string>>(item: Item, description: string) {
  const list = listOf(item).optional();
  const values = item instanceof z.ZodEnum ? { enum: item.options } : {};
  return z
    .preprocess((value) => (value === undefined || Array.isArray(value) ? value : [value]), list)
    .openapi({ type: 'array', items: { type: 'string', ...values }, maxItems: maxListLength, description });
}

/** Defines an enum parameter that may be repeated. A record matches if it has any of the values. */
export function anyOf<const Values extends Readonly<Record<string, string>>>(values: Values, description: string) {
  return repeatable(z.enum(values), description);
}

const boolean = z.enum(['true', 'false']).transform((text) => text === 'true');

/** Defines a boolean parameter without a default. */
export const choice = (description: string) => boolean.optional().openapi({ type: 'boolean', description });

/** Defines a boolean parameter with a default. */
export const flag = (description: string, isDefault = false) =>
  boolean.default(isDefault).openapi({ type: 'boolean', default: isDefault, description });

/** Defines an amount parameter, in the currency's smallest unit. */
export function amountParameter(description: string, minimum = 0) {
  return z
    .string()
    .regex(/^-?\d+$/, "must be an integer, in the currency's smallest unit")
    .transform(BigInt)
    .pipe(z.bigint().min(BigInt(minimum)).max(maxAmount))
    .optional()
    .openapi({ type: 'integer', format: 'int64', minimum, maximum: Number(maxAmount), description });
}

/** The parameters of lists that can be sorted by the time of creation or of the last change. */
export const orderParameters = {
  orderBy: z
    .enum(['created', 'updated'])
    .default('created')
    .transform((text): ListOrder => (text === 'updated' ? 'UPDATED' : 'CREATED'))
    .openapi({
      type: 'string',
      enum: ['created', 'updated'],
      default: 'created',
      description: 'The sort key. A cursor is valid only for the sort key with which it was obtained.',
    }),
  sortOrder: z.enum(['asc', 'desc']).default('desc').describe('Newest first by default, oldest first with asc.'),
};

interface ListEndpoint<Filters extends z.ZodRawShape, Item> {
  readonly summary: string;
  readonly description: string;
  readonly at: string;
  readonly access?: 'MANAGE';
  readonly filters: Filters;
  readonly item: z.ZodType<Item>;
  /** The name of the response's component in the document. */
  readonly name: string;
}

/**
 * The maximum number of rows that are counted. A longer list has no `totalCount` (specification 4.0 makes it optional),
 * because counting a million rows takes a hundred times as long as reading a page. GraphQL counts only on request.
 */
const maxCount = 10_000;

/**
 * The lists that exceeded `maxCount`, by name and conditions. They are not counted again for a minute, because counting
 * takes more than half of the response time. So a list that has become shorter may have no total for up to a minute.
 */
const longLists = boundedCache<true>(1_000, 60_000);

/** Adds an endpoint that returns a list page by page, and defines its parameters and its response object. */
export function addPagedList<Filters extends z.ZodRawShape, Item, Where, Row extends OrderedRow>(
  endpoints: Endpoints,
  operationId: string,
  endpoint: ListEndpoint<Filters, Item> & {
    readonly list: ListOf<z.output<z.ZodObject<Filters>>, Where, Row, Item>;
  },
): void {
  const { filters, item, name, list, ...documentation } = endpoint;
  const page = z
    .object({
      data: z
        .array(item)
        .openapi({ maxItems: maxPageSize })
        .describe('The records, newest first unless sorted otherwise.'),
      hasMore: z.boolean().describe('Whether there are more pages.'),
      nextCursor: z.string().optional().describe('The cursor of the next page; absent on the last page.'),
      totalCount: z
        .int()
        .min(0)
        .max(maxCount)
        .optional()
        .describe(`The number of matching records on all pages; absent if it exceeds ${maxCount}.`),
    })
    .openapi(name);
  endpoints.serve(operationId, {
    ...documentation,
    query: z.strictObject({ ...filters, ...pageParameters }),
    answer: [page, 'A page of the records that match all filters.'],
    run: (query, context) => readPage(list, context.var, query as z.output<z.ZodObject<Filters>> & ListQuery),
  });
}

/** Adds an endpoint that returns all matching records at once. */
export function addWholeList<Filters extends z.ZodRawShape, Item>(
  endpoints: Endpoints,
  operationId: string,
  endpoint: ListEndpoint<Filters, Item> & {
    readonly read: (viewer: Viewer, filter: z.output<z.ZodObject<Filters>>) => Promise<Item[]>;
  },
): void {
  const { filters, item, name, read, ...documentation } = endpoint;
  endpoints.serve(operationId, {
    ...documentation,
    query: z.strictObject(filters),
    answer: [
      z.object({ data: z.array(item).describe('All records.') }).openapi(name),
      'All records that match all filters.',
    ],
    run: async (query, context) => ({
      data: await read(context.get('viewer'), query as z.output<z.ZodObject<Filters>>),
    }),
  });
}

type ListQuery = z.output<z.ZodObject<typeof pageParameters>> & Partial<z.output<z.ZodObject<typeof orderParameters>>>;

type PageQuery<Where> = ReturnType<typeof pageQuery<Where, unknown>>;

interface ListOf<Filter, Where, Row, Item> {
  /** The list's name in cursors. The GraphQL list with this name accepts the same cursors. */
  readonly name: string;
  readonly where: (viewer: Viewer, filter: Filter) => Where | Promise<Where>;
  readonly rows: (page: PageQuery<Where>) => Promise<Row[]>;
  readonly count: (query: { readonly where: Where; readonly take: number }) => Promise<number>;
  readonly record: (row: Row) => Item;
}

/** Defines a list of one kind of row. `extra` reads the additional fields that its records need. */
export function rowList<N extends Noun, Filter, More extends object, Item>(
  database: Database,
  noun: N,
  list: Pick<ListOf<Filter, Where<N>, SnapshotRows[N] & More, Item>, 'where' | 'record'> & { extra?: Extra<More> },
): ListOf<Filter, Where<N>, SnapshotRows[N] & More, Item> {
  return {
    ...list,
    name: noun,
    rows: (page) => readRows(database, noun, page, list.extra),
    count: (query) => countRows(database, noun, query),
  };
}

/** Reads a page. Throws INVALID_INPUT for a cursor from a different list. */
async function readPage<Filter, Where, Row extends OrderedRow, Item>(
  list: ListOf<Filter, Where, Row, Item>,
  { viewer, cursors }: Pick<RestEnvironment['Variables'], 'viewer' | 'cursors'>,
  query: Filter & ListQuery,
): Promise<{ data: Item[]; hasMore: boolean; nextCursor?: string; totalCount?: number }> {
  const { limit: size, cursor, sortOrder: read = 'desc', orderBy = 'CREATED' } = query;
  const order: RowOrder<unknown> = rowOrders[orderBy];
  const position = cursor === undefined ? undefined : cursors.read(list.name, viewer.platformId, cursor);
  const key = position === undefined ? undefined : order.keyOf(position);
  if (cursor !== undefined && key === undefined) throw invalid('the cursor belongs to another list', ['cursor']);
  const bound = key === undefined ? undefined : read === 'asc' ? { gt: key } : { lt: key };
  const where = await list.where(viewer, query);
  const rows = await list.rows(pageQuery(where, { size, backward: false, read, bound, beyond: undefined }, order));
  const pageRows = rows.slice(0, size);
  const last = pageRows.at(-1);
  const hasMore = rows.length > size;
  // A list that fits on one page needs no count.
  const totalCount = hasMore || bound ? await countUnlessLong(list, where) : pageRows.length;
  return {
    data: pageRows.map(list.record),
    hasMore,
    ...(hasMore && last && { nextCursor: cursors.write(list.name, viewer.platformId, order.textOf(last)) }),
    ...(totalCount !== undefined && { totalCount }),
  };
}

async function countUnlessLong<Where>(
  { name, count }: Pick<ListOf<never, Where, never, unknown>, 'name' | 'count'>,
  where: Where,
): Promise<number | undefined> {
  const key = JSON.stringify([name, where], (_name, value) => (typeof value === 'bigint' ? `${value}n` : value));
  if (longLists.has(key)) return undefined;
  const total = await count({ where, take: maxCount + 1 });
  if (total <= maxCount) return total;
  longLists.set(key, true);
  return undefined;
}

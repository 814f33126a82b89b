import { brandWithType } from '@pothos/core';
import { queryFromInfo } from '@pothos/plugin-prisma';
import { assertObjectType, type GraphQLResolveInfo, getNamedType, isAbstractType } from 'graphql';
import { oncePer } from '../../../core/once-per.ts';
import { pairsOf } from '../../../infra/database/conditions.ts';
import type { PrismaClient } from '../../../infra/database/generated/client/client.ts';
import { fieldName } from '../../../infra/database/rows.ts';
import type { Context } from '../context.ts';
import { parsePage } from '../paging.ts';
import { modelOf, rowsOf, variantOf } from './derive.ts';
import type { ManyOptions } from './kinds.ts';
import { requireRelation } from './paths.ts';
import { knownUuid } from './plan.ts';
import { type KeyRun, keyIn, type PageRead } from './reads.ts';
import type { Requirement } from './sql.ts';

/**
 * Implements stock execution: graphql-js executes the document, and fields read rows through Prisma, with the selection
 * that the Prisma plug-in derives. It is only for tests and development, because it sends one statement per parent row.
 */

type Row = Readonly<Record<string, unknown>>;

/** The part of Prisma's model delegates that stock execution uses, in a form that fits all models. */
interface Delegate {
  findFirst(args: object): Promise<Row | null>;
  findFirstOrThrow(args: object): Promise<Row>;
  findMany(args: object): Promise<Row[]>;
  count(args: object): Promise<number>;
}

function delegateIn(prisma: PrismaClient, model: string): Delegate {
  const name = model.charAt(0).toLowerCase() + model.slice(1);
  // Prisma has a delegate with this name for each model.
  return prisma[name as 'customer'] as unknown as Delegate;
}

const delegateOf = ({ payments }: Context, model: string) => delegateIn(payments.database.prisma, model);

/**
 * Converts a condition for Prisma. Inserts the current time, because Prisma cannot refer to the statement's time.
 * Escapes LIKE wildcards, because Prisma does not.
 */
function forPrisma<Where>(where: Where): Where {
  if (where === 'now') return new Date() as Where;
  if (Array.isArray(where)) return where.map(forPrisma) as Where;
  if (Object.getPrototypeOf(where ?? 0) !== Object.prototype) return where;
  const written = Object.entries(where as object).map(([key, value]) =>
    key === 'startsWith' ? [key, String(value).replace(/[\\%_]/g, '\\$&')] : [key, forPrisma(value)],
  );
  return Object.fromEntries(written) as Where;
}

function whereBelow(model: string | undefined, name: string, row: Row): Record<string, unknown> | undefined {
  const pairs = pairsOf(requireRelation(model, name)).map(([here, there]) => [there, row[here]] as const);
  return pairs.some(([, value]) => value === null) ? undefined : Object.fromEntries(pairs);
}

/** Reads the rows that a path of relations leads to, in the order given by `orderBy`. */
export async function stockRows(
  path: readonly string[],
  { orderBy, only, visible }: ManyOptions,
  row: Row,
  context: Context,
  info: GraphQLResolveInfo,
): Promise<Row[]> {
  let [rows, model]: [Row[], string | undefined] = [[row], modelOf(info.parentType)];
  for (const [position, name] of path.entries()) {
    const of = model;
    const { type } = requireRelation(of, name);
    const isLast = position === path.length - 1;
    // The document's selection applies only to the rows that the field returns.
    const isShown = isLast && modelOf(getNamedType(info.returnType)) === type;
    const order = orderBy[position];
    const below = rows.map(async (one) => {
      const where = whereBelow(of, name, one);
      if (!where) return [];
      return delegateOf(context, type).findMany({
        ...(isShown && queryFromInfo({ context, info })),
        where: {
          AND: [
            where,
            only && isLast ? { [only[0]]: { in: only[1] } } : {},
            visible && isLast ? visible(context.viewer) : {},
          ],
        },
        ...(order !== undefined && { orderBy: { [order]: 'asc' } }),
      });
    });
    rows = (await Promise.all(below)).flat();
    model = type;
  }
  return rows;
}

/** Reads the row with the given public id if it has one of the given types and the caller may see it. */
export async function stockNode(id: string, types: readonly string[], context: Context, info: GraphQLResolveInfo) {
  const uuid = knownUuid(id, types);
  if (uuid === undefined) return null;
  const [typeName = ''] = id.split(':', 1);
  const type = assertObjectType(info.schema.getType(typeName));
  const { model, visible } = rowsOf(type);
  const [column, value] = variantOf(type) ?? [];
  const row = await delegateOf(context, model).findFirst({
    ...queryFromInfo({ context, info, ...(isAbstractType(getNamedType(info.returnType)) && { typeName }) }),
    where: { AND: [{ id: uuid }, visible(context.viewer), column === undefined ? {} : { [column]: value }] },
  });
  // `typeName` is the name of a schema type, but the compiler knows only the model types.
  if (row) brandWithType(row, typeName as never);
  return row;
}

/** Reads a page of a list. If `relations` are given, the page covers only the rows that they lead to from `row`. */
export async function stockPage(
  read: PageRead,
  relations: readonly string[],
  row: Row | undefined,
  args: Readonly<Record<string, unknown>>,
  context: Context,
  info: GraphQLResolveInfo,
) {
  const { viewer, payments } = context;
  const key = read.key(args);
  const required: Requirement[] = [];
  const { cursors } = payments;
  const run: KeyRun = { viewer, cursors, require: (one) => void required.push(one) };
  // The cast is safe, because a parsed key is used only with the order for which it was parsed.
  const page = parsePage(
    { sortOrder: key.sortOrder, ...args },
    (cursor, at) => keyIn(read, key, run, cursor, at) as never,
  );
  for (const one of required) if (!(await one.holds(payments.database.pool))) throw one.refusal();
  const model = modelOf(info.parentType);
  const below = relations.map((name) => (row ? whereBelow(model, name, row) : undefined));
  const where = forPrisma({
    AND: [relations.length > 0 ? { OR: below } : {}, read.within?.(args) ?? {}, read.where(viewer, args)],
  });
  const delegate = delegateOf(context, read.model);
  const rows = await delegate.findMany({
    ...queryFromInfo({ context, info, paths: [[{ name: 'edges' }, { name: 'node' }], [{ name: 'nodes' }]] }),
    where: { AND: [where, page.bound ? key.within(page.bound) : {}] },
    orderBy: key.columns.map((column) => ({ [fieldName(column)]: page.read })),
    take: page.size + 1,
  });
  const shown = rows.slice(0, page.size);
  if (page.backward) shown.reverse();
  const edges = shown.map((node) => ({ node, cursor: cursors.write(read.list, viewer.platformId, key.textOf(node)) }));
  const hasMore = rows.length > page.size;
  const hasBeyond = async () =>
    page.beyond !== undefined && (await delegate.count({ where: { AND: [where, key.within(page.beyond)] } })) > 0;
  return {
    edges,
    pageInfo: {
      hasNextPage: page.backward ? await hasBeyond() : hasMore,
      hasPreviousPage: page.backward ? hasMore : await hasBeyond(),
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    totalCount: await delegate.count({ where }),
  };
}

/**
 * Returns a client that finds unique rows one by one. Otherwise, Prisma would batch the lookups and use only one
 * caller's platform.
 */
export const unbatched = oncePer((prisma: PrismaClient) => {
  const flat = ({ where, ...args }: { readonly where: object }) => {
    // Prisma represents a two-column key as an object.
    const { platformId_id: key, platformId_sequence: place, ...rest } = where as Record<string, object>;
    return { ...args, where: { ...key, ...place, ...rest } };
  };
  return prisma.$extends({
    query: {
      $allModels: {
        findUnique: ({ model, args }) => delegateIn(prisma, model).findFirst(flat(args)),
        findUniqueOrThrow: ({ model, args }) => delegateIn(prisma, model).findFirstOrThrow(flat(args)),
      },
    },
  });
});

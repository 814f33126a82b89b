import { GraphQLError } from 'graphql';
import { cursors } from '../setup/cursors.ts';

/** The paging of lists as the documents of the schema say, over all rows of a list in memory. */

export interface PageArgs {
  readonly first?: number | null;
  readonly after?: string | null;
  readonly last?: number | null;
  readonly before?: string | null;
}

/** How the rows of a list are known by their cursors. Keys are in the order of the list, or in the opposite order. */
export interface Cursors<Row, Key extends string | bigint> {
  readonly keyOf: (row: Row) => Key;
  readonly cursorOf: (row: Row) => string;
  /** The key in a cursor of this list, or undefined for any other text. */
  readonly read: (cursor: string) => Key | undefined;
}

interface Wanted<Key> {
  readonly size: number;
  /** The last ones between the cursors, instead of the first ones. */
  readonly fromEnd: boolean;
  readonly after: Key | undefined;
  readonly before: Key | undefined;
}

export function invalidInput(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'INVALID_INPUT' } });
}

/**
 * The rules of paging arguments: sizes are 0 to 100, 20 without one; `first` does not go with `last`. Without either, `before`
 * alone asks for the rows right before it.
 * @throws GraphQLError INVALID_INPUT
 */
function wanted<Key extends string | bigint>(args: PageArgs, read: (cursor: string) => Key | undefined): Wanted<Key> {
  const isGiven = (name: 'first' | 'last' | 'after' | 'before') => args[name] !== null && args[name] !== undefined;
  if (isGiven('first') && isGiven('last')) throw invalidInput('use either first or last, not both');
  const size = args.first ?? args.last ?? 20;
  if (size < 0 || size > 100) throw invalidInput('a page has 0 to 100 rows');
  const fromEnd = isGiven('last') || (isGiven('before') && !isGiven('first') && !isGiven('after'));
  const [after, before] = [args.after, args.before].map((cursor) => {
    if (cursor === null || cursor === undefined) return undefined;
    const key = read(cursor);
    if (key === undefined) throw invalidInput('not a cursor of this list');
    return key;
  });
  return { size, fromEnd, after, before };
}

/** A page of a list. `rows`: all of them, in the order of the list. */
export function pageOf<Row, Key extends string | bigint>(
  rows: readonly Row[],
  args: PageArgs,
  order: 'ASC' | 'DESC',
  { keyOf, cursorOf, read }: Cursors<Row, Key>,
) {
  const { size, fromEnd, after, before } = wanted(args, read);
  const isLater = (a: Key, b: Key) => (order === 'ASC' ? a > b : a < b);
  const isPastStart = (row: Row) => after === undefined || isLater(keyOf(row), after);
  const isBeforeEnd = (row: Row) => before === undefined || isLater(before, keyOf(row));
  const between = rows.filter((row) => isPastStart(row) && isBeforeEnd(row));
  const shown = fromEnd ? between.slice(Math.max(0, between.length - size)) : between.slice(0, size);
  const edges = shown.map((node) => ({ node, cursor: cursorOf(node) }));
  const hasMore = between.length > size;
  return {
    edges,
    nodes: shown,
    totalCount: rows.length,
    pageInfo: {
      hasNextPage: fromEnd ? !rows.every(isBeforeEnd) : hasMore,
      hasPreviousPage: fromEnd ? hasMore : !rows.every(isPastStart),
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
}

/** The cursors of a list of rows in the order of their last changes: by the millisecond, then by the id. */
export function changeCursors(list: string, platformId: string) {
  const keyOf = (row: { readonly id: string; readonly updatedAt: Date }) =>
    `${String(row.updatedAt.getTime()).padStart(14, '0')}:${row.id}`;
  const textOf = (key: string) => key.replace(/^0+/, '');
  return {
    keyOf,
    cursorOf: (row: { readonly id: string; readonly updatedAt: Date }) =>
      cursors.write(list, platformId, textOf(keyOf(row))),
    read(cursor: string) {
      const [ms = '', id] = cursors.read(list, platformId, cursor)?.split(':') ?? [];
      return id === undefined ? undefined : `${ms.padStart(14, '0')}:${id}`;
    },
  };
}

/** The cursors of an account's entries: by its version after each. */
export function entryCursors(platformId: string) {
  const keyOf = (row: { readonly accountVersion: number | null }) => BigInt(row.accountVersion ?? 0);
  return {
    keyOf,
    cursorOf: (row: { readonly accountVersion: number | null }) =>
      cursors.write('LedgerEntry', platformId, String(keyOf(row))),
    read(cursor: string) {
      const version = cursors.read('LedgerEntry', platformId, cursor);
      return version === undefined ? undefined : BigInt(version);
    },
  };
}

/** The cursors of a list of rows in the order of their ids. */
export function idCursors(list: string, platformId: string) {
  return {
    keyOf: (row: { readonly id: string }) => row.id,
    cursorOf: (row: { readonly id: string }) => cursors.write(list, platformId, row.id),
    read(cursor: string) {
      const id = cursors.read(list, platformId, cursor);
      return id?.includes(':') ? undefined : id;
    },
  };
}

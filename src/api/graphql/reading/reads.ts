import { type GraphQLField, getNamedType, getNullableType, isEnumType, isListType } from 'graphql';
import { type KeyBound, type OrderedRow, type RowOrder, rowOrders } from '../../../core/paging.ts';
import type { Viewer } from '../../../domain/access/caller.ts';
import type { Prisma } from '../../../infra/database/generated/client/client.ts';
import { columnName, fieldName } from '../../../infra/database/rows.ts';
import type { CursorArgument } from '../paging.ts';
import { Concatenation, isShared, literal, Part, quoted, type Run, type Sql } from './sql.ts';

/** Defines how a plan reads fields. A field's `read` writes SQL. Without it, graphql-js executes the document. */

export type Model = Prisma.ModelName;

/** The SQL expressions from which a value is computed. `row` is the alias of a table's row, `json` a jsonb value. */
export type Env = Readonly<Record<string, string>>;

/** How a field is read, and what it costs if that is more than usual for its kind. */
export type Read = {
  readonly costs?: Costs;
  /** The number of ways to find the rows of a list or a sum, if there are several. */
  readonly ways?: number;
} /** A scalar or an enum: JSON, of type text or json, or an SQL null. */ & (
  | { readonly kind: 'leaf'; readonly sql: (env: Env, args: ArgumentsOf) => Sql }
  /** An object built from the same row. Null if `unless` is true. */
  | { readonly kind: 'value'; readonly env: (env: Env) => Env; readonly unless?: (env: Env) => Sql }
  /** A list of objects built from the rows of a query. `from` is the query's FROM clause and order. */
  | { readonly kind: 'values'; readonly from: (env: Env, alias: string, args: ArgumentsOf) => Rows }
  /** Another row, or null: `from` is the FROM clause with its conditions. */
  | { readonly kind: 'row'; readonly from: (env: Env, alias: string, args: ArgumentsOf) => Sql }
  /** A row of the first given type for which one exists, or null if there is none. */
  | { readonly kind: 'rowOf'; readonly types: Readonly<Record<string, (env: Env, alias: string) => Sql>> }
  /** A page of rows. `list` is the list's name in cursors; `where` selects the visible rows that match the filter. */
  | {
      readonly kind: 'page';
      readonly list: string;
      readonly model: Model;
      /** Returns the order of the rows, which may depend on the field's arguments. */
      readonly key: (args: Readonly<Record<string, unknown>>) => PageKey;
      readonly where: (viewer: Viewer, args: Readonly<Record<string, unknown>>) => object;
      /** The condition that `of` derives from the arguments, as a Prisma filter, for stock execution. */
      readonly within?: (args: Readonly<Record<string, unknown>>) => object;
      /** Finds the rows that belong to the parent, in one or more ways (database/list-rows.ts). */
      readonly of?: (env: Env, alias: string, args: ArgumentsOf) => readonly Sql[];
    }
  /** A row of one of the given types, or a list of such rows. Their public ids are in the arguments or in the run. */
  | { readonly kind: 'node'; readonly types: readonly string[]; readonly idsFromRun?: true }
);

export type PageRead = Extract<Read, { kind: 'page' }>;

export interface PageKey {
  readonly columns: readonly string[];
  readonly text: (row: string) => string;
  readonly textOf: (row: Readonly<Record<string, unknown>>) => string;
  /** Returns the key for the position in a cursor, or undefined if the position belongs to a different order. */
  readonly of: (position: string, run: KeyRun, argument: CursorArgument) => unknown;
  readonly within: (bound: KeyBound<never>) => object;
  /** The sort order if no argument sets one. If undefined, the newest rows come first. */
  readonly sortOrder?: 'ASC' | 'DESC';
}

export type KeyRun = Pick<Run, 'viewer' | 'cursors' | 'require'>;

/** Returns the key in a cursor, or undefined if the cursor belongs to a different list or order. */
export function keyIn({ list }: PageRead, key: PageKey, run: KeyRun, cursor: string, argument: CursorArgument) {
  const position = run.cursors.read(list, run.viewer.platformId, cursor);
  return position === undefined ? undefined : key.of(position, run, argument);
}

function orderedBy<Key>({ fields, keyOf, textOf, within }: RowOrder<Key>, text: PageKey['text']): PageKey {
  // The rows of every list that uses this order have the order's columns.
  const textOfRow: PageKey['textOf'] = (row) => textOf(row as unknown as OrderedRow);
  return { columns: fields.map(columnName), text, textOf: textOfRow, of: keyOf, within };
}

/** Orders a list's rows by creation time. */
export const byId = orderedBy(rowOrders.CREATED, (row) => `${row}.id`);

/** Orders a list's rows by the time of their latest change. */
export const byChange = orderedBy(
  rowOrders.UPDATED,
  (row) => `(extract(epoch from ${row}.updated_at) * 1000)::bigint::text || ':' || ${row}.id`,
);

/** Returns a sort order on a single integer column, for use as a pagination key. */
export const byNumber = (column: string, key: Pick<PageKey, 'of' | 'sortOrder'>): PageKey => ({
  ...key,
  columns: [column],
  text: (row) => `${row}.${column}`,
  textOf: (row) => String(row[fieldName(column)]),
  within: (bound) => ({ [fieldName(column)]: bound }),
});

export type ArgumentsOf = (run: Run) => Readonly<Record<string, unknown>>;

export interface Rows {
  readonly from: Sql;
  readonly orderBy: string;
  readonly env: Env;
  /** SQL that is false if rows are missing because a change is not sequenced yet. The read is then repeated. */
  readonly isComplete?: string;
}

/** How a type's variants are distinguished, and who may see its rows. */
export interface TypeRead {
  /** The condition under which a viewer may see a row. If a type has one, its rows can be read by id. */
  readonly visible?: (viewer: Viewer) => object;
  /** For an abstract type: the location of the discriminator, and the type for each of its values. */
  readonly variants?: { readonly by: string; readonly types: Readonly<Record<string, string>> };
}

/** Creates the read of a scalar or an enum from an SQL expression that returns JSON, of type text or json, or null. */
export const leaf = (sql: (env: Env, args: ArgumentsOf) => Sql): Read => ({ kind: 'leaf', sql });

/** The JSON for text or a list. */
const escaped = (expression: string): Sql => [`to_json(${expression})`];

const plain = (expression: string): Sql => [`${expression}::text`];

/** Returns SQL that renders a timestamp as a JSON string in UTC, with milliseconds. */
export function instant(expression: string): string {
  return `to_char(${expression} at time zone 'UTC', '"\\""YYYY-MM-DD"T"HH24:MI:SS.MS"Z\\""')`;
}

const scalars: Readonly<Record<string, (column: string) => Sql>> = {
  Int: plain,
  Float: plain,
  Boolean: plain,
  String: escaped,
  BigInt: quoted,
  Decimal: (column) => quoted(`trim_scale(${column})`),
  DateTime: (column) => [instant(column)],
  Date: (column) => quoted(`${column}::date`),
};

/** Returns the read of a field that exposes a column or a member of a JSON value. */
export function exposedRead(field: GraphQLField<unknown, unknown>, name: string): Read {
  const type = getNamedType(field.type);
  const isList = isListType(getNullableType(field.type));
  const jsonOf = isList ? escaped : isEnumType(type) ? quoted : scalars[type.name];
  if (!jsonOf) throw new Error(`no plan reads the scalar ${type.name} of ${field.name}`);
  return leaf(({ row, json }) =>
    json === undefined ? jsonOf(`${row}.${columnName(name)}`) : [`(${json} -> ${literal(name)})::text`],
  );
}

/** Returns the parts of a read's SQL that do not depend on a run. */
export function plainReadText(read: Read, row = 'r'): string {
  const env: Env = { row };
  const none = () => ({});
  switch (read.kind) {
    case 'leaf':
      return plainText(read.sql(env, none));
    case 'value':
      return [...Object.values(read.env(env)), plainText(read.unless?.(env) ?? [])].join(' ');
    case 'values': {
      const { from, orderBy } = read.from(env, 'x', none);
      return `${plainText(from)} ${orderBy}`;
    }
    case 'row':
      return plainText(read.from(env, 'x', none));
    case 'rowOf':
      return plainText(Object.values(read.types).flatMap((from) => from(env, 'x')));
    default:
      // Lists and nodes are not computed from the row.
      return '';
  }
}

/** Omits the pieces that depend on a run. */
function plainText(sql: Sql): string {
  return sql
    .map((piece) => {
      if (typeof piece === 'string') return piece;
      if (piece instanceof Part) return plainText(piece.sql);
      if (piece instanceof Concatenation) return plainText(piece.expression);
      return isShared(piece) ? plainText(piece.shared) : '';
    })
    .join(' ');
}

/** Why a read costs more than a column, where the kind of read does not make that clear (derive.ts). */
export type Costs = 'rows' | 'legs' | 'past' | 'read' | 'all' | 'sums';

import { type GraphQLField, getNullableType, isListType } from 'graphql';
import type { Viewer } from '../../access/viewer.ts';
import { conditionsOf, tableOf } from '../../database/conditions.ts';
import type { Prisma } from '../../database/generated/client/client.ts';
import { literal, type Piece, type Run, type Sql, sql } from './sql.ts';

/**
 * How the fields of the schema are read: each says which SQL makes its answer, as JSON in text. A field that says nothing is
 * resolved in JavaScript, and so is a document that asks for it.
 */

/** The tables whose rows are read. */
export type Model = Prisma.ModelName;

/** What a value is made from, by name: SQL expressions. `row`: the alias of a table's row. `json`: a value of type jsonb. */
export type Env = Readonly<Record<string, string>>;

export type Read =
  /** A scalar or an enum: JSON as text, or SQL's null. */
  | { readonly kind: 'leaf'; readonly sql: (env: Env, args: ArgumentsOf) => Sql }
  /** An object made of the same row. Null where `unless` holds. */
  | { readonly kind: 'value'; readonly env: (env: Env) => Env; readonly unless?: (env: Env) => Sql }
  /** A list of objects made from the rows of a query: `rows` are what stands behind "from", with their order. */
  | { readonly kind: 'values'; readonly from: (env: Env, alias: string) => Rows; readonly unless?: (env: Env) => Sql }
  /** Another row, or null: `from` is what stands behind "from", with its conditions. */
  | { readonly kind: 'row'; readonly from: (env: Env, alias: string) => Sql }
  /** A row of one of these types, or null: of the first that has one. */
  | { readonly kind: 'rowOf'; readonly types: Readonly<Record<string, (env: Env, alias: string) => Sql>> }
  /** A page of rows. `list` names its cursors; `where`: those that the caller may see and asks for. */
  | {
      readonly kind: 'page';
      readonly list: string;
      readonly model: Model;
      /** What its rows are in the order of, where that is not their id. */
      readonly key?: PageKey;
      readonly where: (viewer: Viewer, args: Readonly<Record<string, unknown>>) => object;
      /** Only the rows that belong to this one. */
      readonly of?: (env: Env, alias: string) => Sql;
    }
  /** The row behind a public id, of one of these types, or those behind a list of ids: by the field's arguments, or a list that the run is given. */
  | { readonly kind: 'node'; readonly types: readonly string[]; readonly isGivenIds?: true; readonly maxIds?: number };

/** How a connection is read. */
export type PageRead = Extract<Read, { kind: 'page' }>;

/** A column that rows come in the order of. */
export interface PageKey {
  readonly column: string;
  /** What a cursor says of it; undefined where it is none of this list. */
  readonly of: (platformId: string, cursor: string) => unknown;
  readonly sortOrder: 'ASC' | 'DESC';
}

/** The arguments of the field that is read, when the plan is run. */
export type ArgumentsOf = (run: Run) => Readonly<Record<string, unknown>>;

export interface Rows {
  /** What stands behind "from" and before "order by": with its conditions. */
  readonly from: Sql;
  readonly orderBy: string;
  readonly env: Env;
  /** An aggregate that says whether all is there: otherwise the rest is waited for. */
  readonly isComplete?: string;
}

/** What a type says of its values: of which table they are rows, or which of its types a value of an abstract one is. */
export interface TypeRead {
  readonly model?: Model;
  /** The prefix of public ids and the rows that are of this type, where several types share a table. */
  readonly only?: (alias: string) => Sql;
  /** What makes a row of it visible. */
  readonly visible?: (viewer: Viewer) => object;
  readonly variants?: (env: Env) => readonly { readonly type: string; readonly when: string }[];
}

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** How the field is read. */
    read?: Read;
    /** The column, or the member of a JSON value, that the field shows. */
    pothosExposedField?: string;
    /** What the schema's file says of the field. */
    pothosOptions?: { readonly authScopes?: unknown };
  }
}

/** For a field's options: `...reads(…)`. */
export function reads(read: Read): { readonly extensions: { readonly read: Read } } {
  return { extensions: { read } };
}

/** For a type's options. */
export function typeReads(read: TypeRead): { readonly extensions: { readonly read: TypeRead } } {
  return { extensions: { read } };
}

const column = (env: Env, name: string) => `${env.row}.${name}`;

/** JSON text of a value that needs no escaping: ids, digits, names of enums. */
const quoted = (expression: string) => `'"' || ${expression} || '"'`;

export const leaf = {
  /** Text, whatever is in it. */
  text: (name: string): Read => ({ kind: 'leaf', sql: (env) => [`to_json(${column(env, name)})::text`] }),
  /** A list, as JSON writes it. */
  json: (name: string): Read => ({ kind: 'leaf', sql: (env) => [`to_json(${column(env, name)})::text`] }),
  /** A word of the database's own: an enum's, a currency's code. */
  enumValue: (name: string): Read => ({ kind: 'leaf', sql: (env) => [quoted(column(env, name))] }),
  /** A number or a boolean, as JSON writes it. */
  plain: (name: string): Read => ({ kind: 'leaf', sql: (env) => [`${column(env, name)}::text`] }),
  /** A whole number as a string of digits. */
  digits: (name: string): Read => ({ kind: 'leaf', sql: (env) => [quoted(column(env, name))] }),
  /** A decimal without zeros at its end. */
  decimal: (name: string): Read => ({ kind: 'leaf', sql: (env) => [quoted(`trim_scale(${column(env, name)})`)] }),
  /** A moment: RFC 3339 in UTC with milliseconds. */
  instant: (name: string): Read => ({ kind: 'leaf', sql: (env) => [instant(column(env, name))] }),
  date: (name: string): Read => ({ kind: 'leaf', sql: (env) => [quoted(`${column(env, name)}::date`)] }),
  /** A public id. */
  id: (type: string, name = 'id'): Read => ({
    kind: 'leaf',
    sql: (env) => [`'"${type}:' || ${column(env, name)} || '"'`],
  }),
  /** Any expression of SQL that is JSON as text. */
  of: (make: (env: Env, args: ArgumentsOf) => Sql): Read => ({ kind: 'leaf', sql: make }),
  /** A member of a JSON value; null where it is missing. */
  member: (name: string): Read => ({ kind: 'leaf', sql: (env) => [member(env.json ?? '', name)] }),
} as const;

/** Text in base64 for addresses (RFC 4648, 5), without padding. */
export function base64Url(expression: Sql): Sql {
  return sql`translate(encode(convert_to(${expression}, 'UTF8'), 'base64'), E'+/=\\n', '-_')`;
}

export function instant(expression: string): string {
  return `to_char(${expression} at time zone 'UTC', '"\\""YYYY-MM-DD"T"HH24:MI:SS.MS"Z\\""')`;
}

function member(json: string, name: string): string {
  return `(${json} -> ${literal(name)})::text`;
}

/** A member of a JSON value that is an object again. */
export const memberObject = (name: string): Read => ({
  kind: 'value',
  env: (env) => ({ json: `(${env.json} -> ${literal(name)})` }),
  unless: (env) => [`coalesce(jsonb_typeof(${env.json} -> ${literal(name)}), 'null') = 'null'`],
});

/** A column of type jsonb that is an object, or null. */
export const jsonObject = (name: string): Read => ({
  kind: 'value',
  env: (env) => ({ json: column(env, name) }),
  unless: (env) => [`coalesce(jsonb_typeof(${column(env, name)}), 'null') = 'null'`],
});

/** A list inside of JSON: `expression` makes the jsonb array from the environment. */
export const jsonList = (expression: (env: Env) => string): Read => ({
  kind: 'values',
  from: (env, alias) => ({
    from: [`jsonb_array_elements(${expression(env)}) with ordinality as ${alias}(value, place)`],
    orderBy: `${alias}.place`,
    env: { json: `${alias}.value` },
  }),
});

/**
 * What stands behind "from" for the row that a column (or an expression) refers to, of the same platform. Whoever may see
 * this row may see it, unless `visible` says who may.
 */
export function referredRow(
  model: Model,
  column: string | ((env: Env) => string),
  visible?: (viewer: Viewer) => object,
): (env: Env, alias: string) => Sql {
  return (env, alias) => {
    const id = typeof column === 'string' ? `${env.row}.${column}` : column(env);
    const row = `${tableOf(model)} ${alias} where ${alias}.platform_id = ${env.row}.platform_id and ${alias}.id = ${id}`;
    return visible ? sql`${row} and ${(run) => conditionsOf(model, alias, visible(run.viewer), run)}` : [row];
  };
}

/** That row, or null. */
export const toOne = (...reference: Parameters<typeof referredRow>): Read => ({
  kind: 'row',
  from: referredRow(...reference),
});

/**
 * A page of a table's rows: of those that the caller may see, the ones that the field's `filter` wants, where it has one.
 * Its cursors have the name of the table.
 */
export const pageOf = <Filter>(
  model: Model,
  visible: (viewer: Viewer) => object,
  matching: (viewer: Viewer, filter: Filter) => object = () => ({}),
): PageRead => ({
  kind: 'page',
  list: model,
  model,
  where: (viewer, args) => ({ AND: [visible(viewer), matching(viewer, args.filter as Filter)] }),
});

/** For `of` of a page: only the rows of the same platform whose column refers to this one. */
export const referringBy =
  (column: string) =>
  ({ row }: Env, alias: string): Sql => [
    `${alias}.platform_id = ${row}.platform_id and ${alias}.${column} = ${row}.id`,
  ];

/** An object of the same environment. */
export const sameRow: Read = { kind: 'value', env: (env) => env };

/** The fields that follow from what the types of a field are, where it only shows a column or a member. */
export function exposedRead(field: GraphQLField<unknown, unknown>, scalar: string, column: string | undefined): Read {
  const name = field.extensions.pothosExposedField ?? field.name;
  const byColumn = (): Read => {
    if (column === undefined) throw new Error(`${field.name} shows ${name}, which is no column`);
    if (isListType(getNullableType(field.type))) return leaf.json(column);
    switch (scalar) {
      case 'Int':
      case 'Float':
      case 'Boolean':
        return leaf.plain(column);
      case 'String':
        return leaf.text(column);
      case 'BigInt':
        return leaf.digits(column);
      case 'Decimal':
        return leaf.decimal(column);
      case 'DateTime':
        return leaf.instant(column);
      case 'Date':
        return leaf.date(column);
      default:
        return leaf.enumValue(column);
    }
  };
  return {
    kind: 'leaf',
    sql: (env, args) => {
      if (env.json !== undefined) return [member(env.json, name)];
      const read = byColumn();
      return read.kind === 'leaf' ? read.sql(env, args) : [];
    },
  };
}

export { type Piece, type Sql, sql };

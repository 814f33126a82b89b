import {
  type ArgBuilder,
  type FieldKind,
  type InputFieldMap,
  type ObjectRef,
  RootFieldBuilder,
  type SchemaTypes,
  type TypeParam,
} from '@pothos/core';
import type { GraphQLResolveInfo } from 'graphql';
import { type Money, money, requiredCurrency } from '../../../core/currencies.ts';
import { type IdType, publicId } from '../../../core/ids.ts';
import type { Viewer } from '../../../domain/access/caller.ts';
import { fieldsOfModel, joinOf, tableOf } from '../../../infra/database/conditions.ts';
import { columnName } from '../../../infra/database/rows.ts';
import type { Context } from '../context.ts';
import { ifVisible, inJson, isNull, type MadeRead, type ManyOptions, rowAt, rowsBelow, rowThere } from './kinds.ts';
import * as paths from './paths.ts';
import { type Env, leaf, type PageRead } from './reads.ts';
import { literal, quoted, type Sql, sql } from './sql.ts';
import { stockNode, stockPage, stockRows } from './stock.ts';

/**
 * Adds the domain's field methods to Pothos's field builders. Each method creates a field with a resolver and declares
 * how a statement reads the field (derive.ts).
 */

type Visible = (viewer: Viewer) => object;

type Name<Row> = keyof Row & string;
type Column<Row, Value> = { [Name in keyof Row]-?: [Row[Name]] extends [Value] ? Name : never }[keyof Row] & string;

/** A column, a column of a related row, or a member of a JSON value. */
type PathTo<Row, Value> =
  | Column<Row, Value>
  | readonly [string, string, ...string[]]
  | Exclude<paths.Path, paths.Steps>;

interface Described {
  readonly description: string;
}

interface Options extends Described {
  readonly nullable?: boolean | { readonly list: boolean; readonly items: boolean };
}

export interface RowList<Types extends SchemaTypes> {
  readonly connection: ObjectRef<Types, unknown>;
  readonly read: PageRead;
  readonly args: (t: ArgBuilder<Types>) => InputFieldMap;
}

interface PageOptions<Types extends SchemaTypes> extends Options {
  /** The relations that lead to the rows; by default, the page covers all of the list's rows. */
  readonly of?: readonly string[];
  readonly authScopes?: Types['AuthScopes'];
}

/** The `prismaNode` options for a type whose rows have ids. Each such type must declare who may see its rows. */
export const node = (visible: Visible, description = "The object's public id: its type, a colon and a UUID.") => ({
  id: { resolve: (row: { readonly id: string }) => row.id, description },
  // The plug-in's unique-filter type differs for each model, but every node model has this key.
  findUnique: (uuid: string, { viewer }: { readonly viewer: Viewer }) =>
    ({ platformId_id: { platformId: viewer.platformId, id: uuid }, AND: [visible(viewer)] }) as never,
  nullable: true as const,
  extensions: { read: { visible } },
});

/** The options for a field that has its own resolver and can also be read by a statement. Usage: `...made(…)`. */
export const made = (read: MadeRead) => ({ extensions: { made: read } });

/** The options for an abstract type whose values are distinguished by one of their columns or members. */
export const variantsBy = <Row>(by: keyof Row & string, types: Readonly<Record<string, string>>) => ({
  // These are names of schema types. The compiler knows only the names of models.
  resolveType: (row: Row) => types[String(row[by])] as never,
  extensions: { read: { variants: { by, types } } },
});

declare global {
  export namespace PothosSchemaTypes {
    export interface RootFieldBuilder<Types extends SchemaTypes, ParentShape, Kind extends FieldKind = FieldKind> {
      /**
       * Columns that the schema shows under their own names, each with its description. Their types are those of the
       * data model, whose enums have the same names as in the schema.
       */
      columns<Names extends Name<ParentShape>>(
        descriptions: { readonly [Column in Names]: string },
      ): {
        readonly [Column in Names]: FieldRef<Types, unknown, Kind>;
      };
      /** An amount of money with its currency. Null if either is null. */
      money(
        amount: PathTo<ParentShape, bigint | string | null>,
        currency: PathTo<ParentShape, string | null>,
        options: Options & { readonly seen?: readonly [relation: string, visible: Visible] },
      ): FieldRef<Types, Money, Kind>;
      currency(code: PathTo<ParentShape, string | null>, options: Options): FieldRef<Types, unknown, Kind>;
      /** A value built from several columns. It is null if the first column is. */
      value<Value extends object>(
        type: ObjectRef<Types, Value>,
        parts: { readonly [Name in keyof Value & string]: paths.Steps },
        options: Options,
      ): FieldRef<Types, Value, Kind>;
      /** The content of a JSON column, as the domain wrote it. */
      json(
        path: Name<ParentShape> | readonly [Name<ParentShape>, ...string[]],
        type: TypeParam<Types>,
        options: Options,
      ): FieldRef<Types, unknown, Kind>;
      /** The members of a JSON object as a list of names and values, in the object's order or sorted by name. */
      entries<Key extends string, Value extends string>(
        column: Name<ParentShape>,
        type: ObjectRef<Types, { [Part in Key | Value]: string }>,
        parts: readonly [name: Key, value: Value],
        options: Options & { readonly isSorted?: boolean },
      ): FieldRef<Types, unknown, Kind>;
      /** The row itself, as a value of another type whose fields may need other rows. Null if column `nullIf` is. */
      sameRow(
        type: TypeParam<Types>,
        options: Options & { readonly nullIf?: Name<ParentShape>; readonly needsOthers?: true },
      ): FieldRef<Types, ParentShape, Kind>;
      /** The public id of an object of the given `type`, built from a uuid column or from several columns. */
      publicId(
        type: IdType,
        column: Column<ParentShape, string | null> | readonly Name<ParentShape>[],
        options: Options,
      ): FieldRef<Types, unknown, Kind>;
      /** A column that is nullable in the table, but never null in rows of this type. */
      required(column: Name<ParentShape>, type: TypeParam<Types>, options: Options): FieldRef<Types, unknown, Kind>;
      /** A column, or a member of a JSON value, that may be null. */
      optional(column: Name<ParentShape>, type: TypeParam<Types>, options: Described): FieldRef<Types, unknown, Kind>;
      /** The row that one or more relations lead to, if the caller may see it. */
      seen(
        relation: string | readonly string[],
        type: TypeParam<Types>,
        visible: Visible,
        options: Described,
      ): FieldRef<Types, never, Kind>;
      /** The rows that a relation leads to. A second relation is followed from each of these rows. */
      many(
        relations: string | readonly string[],
        type: ObjectRef<Types, unknown>,
        options: Options & ManyOptions,
      ): FieldRef<Types, never, Kind>;
      page(list: RowList<Types>, options: PageOptions<Types>): FieldRef<Types, never, Kind>;
      /** The row whose public id is given as an argument, if the caller may see it. */
      byId(
        type: TypeParam<Types>,
        types: readonly IdType[],
        options: { readonly word: string; readonly id?: string },
      ): FieldRef<Types, never, Kind>;
      /** The result of a domain query. Stock execution also runs the query, unless `resolve` is given. */
      fromQuery(
        type: TypeParam<Types>,
        read: MadeRead,
        options: Options & { readonly args?: InputFieldMap; readonly resolve?: StockResolver },
      ): FieldRef<Types, never, Kind>;
    }
  }
}

type Row = Readonly<Record<string, unknown>>;

type Words = PothosSchemaTypes.RootFieldBuilder<SchemaTypes, Row>;

/** The arguments of a method declared above. */
type Given<Name extends keyof Words> = Words[Name] extends (...given: infer Arguments) => unknown ? Arguments : never;

/**
 * The part of a field builder that the field methods need. It is used in place of Pothos's builder types, because the
 * compiler cannot infer those through shared methods.
 */
interface Builder {
  field(options: object): never;
  expose(column: string, options: object): never;
  /** The model of the type's rows, if this is one of the Prisma plug-in's builders. */
  readonly model?: string;
  readonly arg: ArgBuilder<SchemaTypes> & { id(options: object): never };
}

/** Creates a field that can be resolved from its row. */
function ofRow(t: Builder, type: unknown, made: MadeRead, options: Options, resolve: (row: Row) => unknown) {
  return t.field({ ...options, type, resolve, extensions: { made } });
}

/** The resolver for stock execution. */
type StockResolver = (row: Row, args: Row, context: Context, info: GraphQLResolveInfo) => unknown;

/** Creates a field that a statement reads even if its row is available. Stock execution uses `resolve`, if given. */
function ofOthers(t: Builder, type: unknown, made: MadeRead, options: Options, resolve?: StockResolver) {
  return t.field({ ...options, type, resolve, extensions: { made, isOnlyPlanned: true } });
}

/** The condition under which a row's amount is hidden: the caller may not see the row that the relation leads to. */
function isHidden(model: string | undefined, [relation, visible]: readonly [string, Visible], { row = '' }: Env): Sql {
  const { relationFromFields = [] } = paths.requireRelation(model, relation);
  const column = columnName(relationFromFields.at(-1) ?? '');
  return sql`${row}.${column} is null or not exists (select from ${rowThere(model, [relation], visible)({ row }, 'a')})`;
}

/** The rows that a relation leads to. A second relation is followed from each of these rows. */
const rowsAt =
  ([first = '', second]: readonly string[], { orderBy, only, visible, completeBy }: ManyOptions): MadeRead =>
  ({ model }) => {
    const relation = paths.requireRelation(model, first);
    return {
      kind: 'values',
      from: ({ row = '' }, alias) => {
        const near = second === undefined ? alias : `${alias}${first.charAt(0)}`;
        const further = second === undefined ? undefined : paths.requireRelation(relation.type, second);
        const shown = further ?? relation;
        const joined = further ? ` join ${tableOf(further.type)} ${alias} on ${joinOf(further, near, alias)}` : '';
        const some = only && ` and ${alias}.${columnName(only[0])} in (${only[1].map(literal).join(', ')})`;
        const from = `${tableOf(relation.type)} ${near}${joined} where ${joinOf(relation, row, near)}${some ?? ''}`;
        return {
          from: ifVisible(from, shown.type, alias, visible),
          orderBy: orderBy.map((column, at) => `${at === 0 ? near : alias}.${columnName(column)}`).join(', '),
          env: { row: alias },
          ...(completeBy !== undefined && {
            isComplete: `count(*) filter (where ${alias}.${columnName(completeBy)} >= ${row}.${columnName(completeBy)}) > 0`,
          }),
        };
      },
    };
  };

const selectOf = ([step = '', ...further]: readonly string[]): object => ({
  [step]: further.length === 0 || { select: selectOf(further) },
});

const words = {
  columns(this: Builder, descriptions: Readonly<Record<string, string>>) {
    const fields = fieldsOfModel(this.model ?? '');
    const shown = Object.entries(descriptions).map(([name, description]) => {
      const { type = '', isList = false, isRequired = false } = fields.get(name) ?? {};
      return [name, this.expose(name, { type: isList ? [type] : type, nullable: !isRequired, description })];
    });
    return Object.fromEntries(shown);
  },
  money(this: Builder, ...[amount, currency, { seen, ...options }]: Given<'money'>) {
    const read: MadeRead = ({ model }) => {
      const [amountAt, code] = [paths.textAt(model, amount), paths.textAt(model, currency)];
      const number = (env: Env) => (paths.isMember(amount, env) ? `${amountAt(env)}::bigint` : amountAt(env));
      return {
        kind: 'value',
        env: (env) => ({ amount: number(env), currency: code(env) }),
        unless: (env) => (seen ? isHidden(model, seen, env) : [`${number(env)} is null or ${code(env)} is null`]),
      };
    };
    const moneyOf = (row: Row) => {
      const [number, code] = [paths.valueAt(row, amount), paths.valueAt(row, currency)];
      return number === null || code === null ? null : money(BigInt(number as bigint | string), String(code));
    };
    if (!seen) return ofRow(this, 'Money', read, options, moneyOf);
    const [relation, visible] = seen;
    return ofOthers(this, 'Money', read, options, async (row, _args, ...rest) => {
      const [shown] = await stockRows([relation], { orderBy: [], visible }, row, ...rest);
      return shown ? moneyOf(row) : null;
    });
  },
  currency(this: Builder, ...[code, options]: Given<'currency'>) {
    const read: MadeRead = ({ model }) => ({ kind: 'value', env: (env) => ({ code: paths.textAt(model, code)(env) }) });
    // Makes Prisma select the related row's column together with the row.
    const select = Array.isArray(code) && this.model && paths.relationOf(this.model, code[0]) && selectOf(code);
    return ofRow(this, 'Currency', read, { ...options, ...(select && { select }) }, (row) =>
      requiredCurrency(String(paths.valueAt(row, code))),
    );
  },
  value(this: Builder, ...[type, parts, options]: Given<'value'>) {
    const all = Object.entries<paths.Steps>(parts);
    const read: MadeRead = ({ model }) => {
      const textOf = (path: paths.Steps) => (paths.isJson(model, path) ? paths.jsonAt : paths.textAt)(model, path);
      const env = (of: Env) => Object.fromEntries(all.map(([name, path]) => [name, textOf(path)(of)]));
      // The first part is a JSON column.
      return { kind: 'value', env, unless: (of) => isNull(Object.values(env(of))[0] ?? '') };
    };
    return ofRow(this, type, read, options, (row) => {
      const values = all.map(([name, path]) => [name, paths.valueAt(row, path)] as const);
      return values[0]?.[1] === null ? null : Object.fromEntries(values);
    });
  },
  json(this: Builder, ...[path, type, options]: Given<'json'>) {
    const nothing = Array.isArray(type) ? [] : null;
    return ofRow(this, type, inJson(path), options, (row) => paths.valueAt(row, path) ?? nothing);
  },
  entries(this: Builder, ...[column, type, [name, value], { isSorted = false, ...options }]: Given<'entries'>) {
    const read: MadeRead = () => ({
      kind: 'values',
      from: ({ row }, alias) => ({
        from: [`jsonb_each(${row}.${columnName(column)}) with ordinality as ${alias}(${name}, ${value}, position)`],
        orderBy: isSorted ? `${alias}.${name} collate "C"` : `${alias}.position`,
        env: { json: `jsonb_build_object('${name}', ${alias}.${name}, '${value}', ${alias}.${value})` },
      }),
    });
    return ofRow(this, [type], read, options, (row) => {
      const entries = Object.entries(Object(row[column]));
      if (isSorted) entries.sort(([a], [b]) => (a < b ? -1 : 1));
      return entries.map(([key, content]) => ({ [name]: key, [value]: content }));
    });
  },
  sameRow(this: Builder, ...[type, { nullIf, needsOthers, ...options }]: Given<'sameRow'>) {
    const read: MadeRead = () => ({
      kind: 'value',
      env: (env) => env,
      ...(nullIf !== undefined && { unless: ({ row }: Env) => [`${row}.${columnName(nullIf)} is null`] }),
    });
    // Copies the row: Pothos has marked a node's row with the node's type, but this field returns a different type.
    const shown = (row: Row) => (nullIf !== undefined && row[nullIf] === null ? null : { ...row });
    return (needsOthers ? ofOthers : ofRow)(this, type, read, options, shown);
  },
  publicId(this: Builder, ...[type, of, options]: Given<'publicId'>) {
    const columns = paths.stepsOf(of);
    const read: MadeRead = () =>
      leaf(({ row }) => {
        const parts = columns.map((column) => `${row}.${columnName(column)}`);
        return quoted(parts.join(" || '.' || "), `${type}:`);
      });
    return ofRow(this, 'ID', read, options, (row) => {
      const parts = columns.map((column) => row[column]);
      return parts.includes(null) ? null : publicId(type, parts.join('.'));
    });
  },
  required(this: Builder, ...[column, type, options]: Given<'required'>) {
    return this.expose(column, { ...options, type });
  },
  optional(this: Builder, ...[column, type, options]: Given<'optional'>) {
    return this.expose(column, { ...options, type, nullable: true });
  },
  seen(this: Builder, ...[relations, type, visible, options]: Given<'seen'>) {
    const path = paths.stepsOf(relations);
    return ofOthers(this, type, rowAt(path, visible), { ...options, nullable: true }, async (row, _args, ...rest) => {
      const [found] = await stockRows(path, { orderBy: [], visible }, row, ...rest);
      return found;
    });
  },
  many(this: Builder, ...[relations, type, options]: Given<'many'>) {
    const path = paths.stepsOf(relations);
    return ofOthers(this, [type], rowsAt(path, options), options, (row, _args, ...rest) =>
      stockRows(path, options, row, ...rest),
    );
  },
  page(this: Builder, ...[{ connection, read, args }, { of = [], ...options }]: Given<'page'>) {
    const below: MadeRead = ({ model }) =>
      of.length === 0 || read.of ? read : { ...read, ways: of.length, of: rowsBelow(model, of) };
    // The list is declared for this schema's builder. `Builder` stands for the builder of any schema.
    const all = { ...options, args: args(this.arg as never) } as Options;
    return ofOthers(this, connection, below, all, (row, ...rest) => stockPage(read, of, row, ...rest));
  },
  byId(this: Builder, ...[type, types, { word, id }]: Given<'byId'>) {
    const named = id ?? `The id of the ${word} (${types.map((one) => `\`${one}:…\``).join(' or ')}).`;
    const options = {
      description: `The ${word} with this id; null if it does not exist or the caller may not see it.`,
      nullable: true,
      args: { id: this.arg.id({ required: true, description: named }) },
    };
    const stock: StockResolver = (_root, args, ...rest) => stockNode(String(args.id), types, ...rest);
    return ofOthers(this, type, () => ({ kind: 'node', types }), options, stock);
  },
  fromQuery(this: Builder, ...[type, read, { resolve, ...options }]: Given<'fromQuery'>) {
    return ofOthers(this, type, read, options, resolve);
  },
};

Object.assign(RootFieldBuilder.prototype, words);

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
import type { Viewer } from '../../../domain/access/viewer.ts';
import type { Context } from '../context.ts';
import {
  currencyAt,
  entriesOf,
  inJson,
  type MadeRead,
  type ManyOptions,
  madeOf,
  moneyAt,
  nullWhile,
  pageBelow,
  publicIdOf,
  rowAt,
  rowsAt,
  sameRowUnless,
} from '../reading/kinds.ts';
import { type Path, relationOf, type Steps, valueAt } from '../reading/paths.ts';
import { exposedRead, type PageRead } from '../reading/reads.ts';
import { stockNode, stockPage, stockRow, stockRows } from '../reading/stock.ts';

/**
 * Adds the domain's field methods to those of Pothos' field builders. Each method creates a field with a resolver and
 * declares its source, so that derive.ts knows how a statement reads it.
 */

type Visible = (viewer: Viewer) => object;

type Name<Row> = keyof Row & string;
type Column<Row, Value> = { [Name in keyof Row]-?: [Row[Name]] extends [Value] ? Name : never }[keyof Row] & string;

/** A column, a column of a row that a relation leads to, or a member of JSON. */
type PathTo<Row, Value> = Column<Row, Value> | readonly [string, string, ...string[]] | Exclude<Path, Steps>;

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

/** The options for `prismaNode` of a type whose rows have ids. Each such type must declare who may see its rows. */
export const node = (visible: Visible, description = 'The public id of the object: its type, a colon and a UUID.') => ({
  id: { resolve: (row: { readonly id: string }) => row.id, description },
  // The plug-in's unique-filter type differs for each model, but every node model has this key.
  findUnique: (uuid: string, { viewer }: { readonly viewer: Viewer }) =>
    ({ platformId_id: { platformId: viewer.platformId, id: uuid }, AND: [visible(viewer)] }) as never,
  nullable: true as const,
  extensions: { read: { visible } },
});

/** The options of a field that has its own resolver and can also be read by a statement: `...made(…)`. */
export const made = (read: MadeRead) => ({ extensions: { made: read } });

/** The options of an abstract type whose values are distinguished by one of their columns or members. */
export const variantsBy = <Row>(by: keyof Row & string, types: Readonly<Record<string, string>>) => ({
  // These are names of the schema's types; the compiler knows only the names of models.
  resolveType: (row: Row) => types[String(row[by])] as never,
  extensions: { read: { variants: { by, types } } },
});

declare global {
  export namespace PothosSchemaTypes {
    export interface RootFieldBuilder<Types extends SchemaTypes, ParentShape, Kind extends FieldKind = FieldKind> {
      /** An amount of money with its currency: null if either is null. */
      money(
        amount: PathTo<ParentShape, bigint | string | null>,
        currency: PathTo<ParentShape, string | null>,
        options: Options & { readonly seen?: readonly [relation: string, visible: Visible] },
      ): FieldRef<Types, Money, Kind>;
      currency(code: PathTo<ParentShape, string | null>, options: Options): FieldRef<Types, unknown, Kind>;
      /** A value built from several columns; null if the first of them is null. */
      value<Value extends object>(
        type: ObjectRef<Types, Value>,
        parts: { readonly [Name in keyof Value & string]: Steps },
        options: Options,
      ): FieldRef<Types, Value, Kind>;
      /** The content of a JSON column, in the form written by the domain. */
      json(
        path: Name<ParentShape> | readonly [Name<ParentShape>, ...string[]],
        type: TypeParam<Types>,
        options: Options,
      ): FieldRef<Types, unknown, Kind>;
      /** The members of a JSON object as a list of names and values: in the object's order, or sorted by name. */
      entries<Key extends string, Value extends string>(
        column: Name<ParentShape>,
        type: ObjectRef<Types, { [Part in Key | Value]: string }>,
        parts: readonly [name: Key, value: Value],
        options: Options & { readonly isSorted?: boolean },
      ): FieldRef<Types, unknown, Kind>;
      /** The same row, presented as another type, whose fields may need other rows; null if a column is null. */
      sameRow(
        type: TypeParam<Types>,
        options: Options & { readonly nullIf?: Name<ParentShape>; readonly needsOthers?: true },
      ): FieldRef<Types, ParentShape, Kind>;
      /** A public id of a type, from a uuid column or from several columns. */
      publicId(
        type: IdType,
        column: Column<ParentShape, string | null> | readonly Name<ParentShape>[],
        options: Options,
      ): FieldRef<Types, unknown, Kind>;
      /** A column that is nullable in the table, but never null in rows of this type. */
      required(column: Name<ParentShape>, type: TypeParam<Types>, options: Options): FieldRef<Types, unknown, Kind>;
      /** A column, or a member of a JSON value, that may be null. */
      optional(column: Name<ParentShape>, type: TypeParam<Types>, options: Described): FieldRef<Types, unknown, Kind>;
      /** Text that is null while another column has a certain value. */
      nullWhile<Other extends Name<ParentShape>>(
        other: readonly [column: Other, value: ParentShape[Other] & string],
        column: Column<ParentShape, string>,
        options: Described,
      ): FieldRef<Types, unknown, Kind>;
      /** The row that one or more relations lead to, if the caller may see it. */
      seen(
        relation: string | readonly string[],
        type: TypeParam<Types>,
        visible: Visible,
        options: Described,
      ): FieldRef<Types, never, Kind>;
      /** All rows that a relation leads to. With a second relation, all rows that it leads to from those rows. */
      many(
        relations: string | readonly string[],
        type: ObjectRef<Types, unknown>,
        options: Options & ManyOptions,
      ): FieldRef<Types, never, Kind>;
      page(list: RowList<Types>, options: PageOptions<Types>): FieldRef<Types, never, Kind>;
      /** The row with the public id that the caller sends, if the caller may see it. */
      byId(
        type: TypeParam<Types>,
        types: readonly IdType[],
        options: { readonly word: string; readonly id?: string },
      ): FieldRef<Types, never, Kind>;
      /** The result of a domain query. A stock execution runs it, too, unless `resolve` is given. */
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

/** The part of a field builder that the methods need. The compiler cannot infer Pothos' types through shared methods. */
interface Builder {
  field(options: object): never;
  /** The model of the type's rows, if this is a builder of the Prisma plug-in. */
  readonly model?: string;
  readonly arg: ArgBuilder<SchemaTypes> & { id(options: object): never };
}

/** Creates a field that can be resolved from its row. */
function ofRow(t: Builder, type: unknown, made: MadeRead, options: Options, resolve: (row: Row) => unknown) {
  return t.field({ ...options, type, resolve, extensions: { made } });
}

/** The resolver for stock execution. */
type StockResolver = (row: Row, args: Row, context: Context, info: GraphQLResolveInfo) => unknown;

/** Creates a field that a statement reads even below an available row and, without `resolve`, in a stock execution. */
function ofOthers(t: Builder, type: unknown, made: MadeRead, options: Options, resolve?: StockResolver) {
  return t.field({ ...options, type, resolve, extensions: { made, isOnlyPlanned: true } });
}

const listOf = (steps: string | readonly string[]) => (typeof steps === 'string' ? [steps] : steps);

const selectOf = ([step = '', ...further]: readonly string[]): object => ({
  [step]: further.length === 0 || { select: selectOf(further) },
});

const words = {
  money(this: Builder, ...[amount, currency, { seen, ...options }]: Given<'money'>) {
    const moneyOf = (row: Row) => {
      const [number, code] = [valueAt(row, amount), valueAt(row, currency)];
      return number === null || code === null ? null : money(BigInt(number as bigint | string), String(code));
    };
    if (seen) {
      const [relation, visible] = seen;
      const stock: StockResolver = async (row, _args, ...rest) =>
        (await stockRow([relation], visible, row, ...rest)) ? moneyOf(row) : null;
      return ofOthers(this, 'Money', moneyAt(amount, currency, { relation, visible }), options, stock);
    }
    return ofRow(this, 'Money', moneyAt(amount, currency), options, moneyOf);
  },
  currency(this: Builder, ...[code, options]: Given<'currency'>) {
    // Values behind a relation are selected with the row.
    const select = Array.isArray(code) && this.model && relationOf(this.model, code[0]) && selectOf(code);
    return ofRow(this, 'Currency', currencyAt(code), { ...options, ...(select && { select }) }, (row) =>
      requiredCurrency(String(valueAt(row, code))),
    );
  },
  value(this: Builder, ...[type, parts, options]: Given<'value'>) {
    return ofRow(this, type, madeOf(parts), options, (row) => {
      const entries = Object.entries<Steps>(parts).map(([part, path]) => [part, valueAt(row, path)] as const);
      return entries[0]?.[1] === null ? null : Object.fromEntries(entries);
    });
  },
  json(this: Builder, ...[path, type, options]: Given<'json'>) {
    return ofRow(this, type, inJson(path), options, (row) => valueAt(row, path) ?? (Array.isArray(type) ? [] : null));
  },
  entries(this: Builder, ...[column, type, parts, { isSorted = false, ...options }]: Given<'entries'>) {
    return ofRow(this, [type], entriesOf(column, parts, isSorted), options, (row) => {
      const entries = Object.entries(Object(row[column])).map(([key, value]) => ({
        [parts[0]]: key,
        [parts[1]]: value,
      }));
      return isSorted ? entries.sort((a, b) => (String(a[parts[0]]) < String(b[parts[0]]) ? -1 : 1)) : entries;
    });
  },
  sameRow(this: Builder, ...[type, { nullIf, needsOthers, ...options }]: Given<'sameRow'>) {
    // A copy, because Pothos marks a row that was read as a node with the node's type, which is not in the union.
    const shown = (row: Row) => (nullIf !== undefined && row[nullIf] === null ? null : { ...row });
    return (needsOthers ? ofOthers : ofRow)(this, type, sameRowUnless(nullIf), options, shown);
  },
  publicId(this: Builder, ...[type, of, options]: Given<'publicId'>) {
    const columns = listOf(of);
    const idOf = (row: Row) => {
      const parts = columns.map((column) => row[column]);
      return parts.includes(null) ? null : publicId(type, parts.join('.'));
    };
    return ofRow(this, 'ID', publicIdOf(type, columns), options, idOf);
  },
  required(this: Builder, ...[column, type, options]: Given<'required'>) {
    const notNull = (row: Row) => {
      if (row[column] === null) throw new Error(`a row of this type has no ${column}`);
      return row[column];
    };
    return ofRow(this, type, ({ field }) => exposedRead(field, column), options, notNull);
  },
  optional(this: Builder, ...[column, type, options]: Given<'optional'>) {
    const read: MadeRead = ({ field }) => exposedRead(field, column);
    return ofRow(this, type, read, { ...options, nullable: true }, (row) => row[column]);
  },
  nullWhile(this: Builder, ...[other, column, options]: Given<'nullWhile'>) {
    const shown = (row: Row) => (row[other[0]] === other[1] ? null : row[column]);
    return ofRow(this, 'String', nullWhile(other, column), { ...options, nullable: true }, shown);
  },
  seen(this: Builder, ...[relations, type, visible, options]: Given<'seen'>) {
    const path = listOf(relations);
    return ofOthers(this, type, rowAt(path, visible), { ...options, nullable: true }, (row, _args, ...rest) =>
      stockRow(path, visible, row, ...rest),
    );
  },
  many(this: Builder, ...[relations, type, { orderBy, only, visible, completeBy, ...options }]: Given<'many'>) {
    const rows = { orderBy, ...(only && { only }), ...(visible && { visible }), ...(completeBy && { completeBy }) };
    const path = listOf(relations);
    return ofOthers(this, [type], rowsAt(path, rows), options, (row, _args, ...rest) =>
      stockRows(path, rows, row, ...rest),
    );
  },
  page(this: Builder, ...[{ connection, read, args }, { of = [], ...options }]: Given<'page'>) {
    // The list was declared for this schema, whose types are unknown to a builder of an arbitrary schema.
    const all = { ...options, args: args(this.arg as never) } as Options;
    return ofOthers(this, connection, pageBelow(read, of), all, (row, ...rest) => stockPage(read, of, row, ...rest));
  },
  byId(this: Builder, ...[type, types, { word, id }]: Given<'byId'>) {
    const named = id ?? `The id of the ${word}: ${types.map((one) => `${one}:…`).join(' or ')}`;
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

import { type GraphQLField, type GraphQLOutputType, getNullableType, isLeafType, isListType } from 'graphql';
import type { Cursors } from '../../../core/cursors.ts';
import type { Viewer } from '../../../domain/access/viewer.ts';
import { fieldsOfModel, tableOf } from '../../../infra/database/conditions.ts';
import * as enums from '../../../infra/database/generated/client/enums.ts';
import { columnName, reviveByType } from '../../../infra/database/rows.ts';
import { computedPlaceholder } from './finish.ts';
import { joinOf, relationOf } from './paths.ts';
import { instant, leaf, type Read } from './reads.ts';
import { literal } from './sql.ts';

/**
 * Defines how fields with their own `resolve` are read. While the answer is completed, the resolver computes the value
 * from the columns in the field's `select`, or from the JSON value that contains the field. No second definition in SQL
 * is needed.
 */

/** The columns that a field selects from its own row and from related rows. */
export interface Select {
  readonly [name: string]: true | { readonly select: Select };
}

/** The part of the context that a computed field's resolver receives: the caller and the instance's cursors. */
interface Known {
  readonly viewer: Viewer;
  readonly payments: { readonly cursors: Cursors };
}

/** A computed field's resolver, which is synchronous. */
type Resolve = (row: unknown, args: object, context: Known) => unknown;

type Field = GraphQLField<unknown, unknown>;

/** Names the function (prisma/functions) that computes the same as `resolve`: `...alsoInDatabase('account_name')`. */
export const alsoInDatabase = (sqlFunction: string) => ({ extensions: { sqlFunction } }) as const;

/** Writes SQL that selects columns as JSON. Integers and decimals become text: parsing would round JSON numbers. */
function selectedJson(model: string, select: Select, row: string): string {
  const pairs = Object.entries(select).map(([name, selected]) => {
    const relation = relationOf(model, name);
    if (relation && selected !== true) {
      const there = `${row}${name.charAt(0)}`;
      const json = selectedJson(relation.type, selected.select, there);
      return `${literal(name)}, (select ${json} from ${tableOf(relation.type)} ${there} where ${joinOf(relation, row, there)})`;
    }
    const type = fieldsOfModel(model).get(name)?.type;
    if (type === undefined || relation) throw new Error(`${model} has no column ${name}`);
    const text = type === 'BigInt' || type === 'Decimal' ? '::text' : '';
    return `${literal(name)}, ${row}.${columnName(name)}${text}`;
  });
  return `json_build_object(${pairs.join(', ')})`;
}

function reviverFor(model: string, select: Select): (json: unknown) => unknown {
  const steps = Object.entries(select).flatMap(([name, selected]) => {
    const relation = relationOf(model, name);
    if (relation && selected !== true) return [[name, reviverFor(relation.type, selected.select)] as const];
    const revive = reviveByType[fieldsOfModel(model).get(name)?.type ?? ''];
    return revive ? [[name, revive] as const] : [];
  });
  return (json) => {
    // No other answer uses this object.
    const row = json as Record<string, unknown> | null;
    if (row) for (const [name, revive] of steps) if (row[name] !== null) row[name] = revive(row[name]);
    return row;
  };
}

function serializerOf(type: GraphQLOutputType): (value: unknown) => unknown {
  const nullable = getNullableType(type);
  const one = isListType(nullable)
    ? (value: unknown) => (value as readonly unknown[]).map(serializerOf(nullable.ofType))
    : isLeafType(nullable)
      ? (value: unknown) => nullable.serialize(value)
      : undefined;
  if (!one) throw new Error(`${type} is not a scalar`);
  return (value) => (value === null || value === undefined ? null : one(value));
}

/**
 * Derives the read of a computed field of a row: from its SQL function, or from the columns that its resolver needs.
 */
export function computedOfRow(model: string, field: Field, select: Select, resolve: Resolve): Read {
  const { sqlFunction } = field.extensions;
  if (sqlFunction) {
    const columns = Object.keys(select).map(columnName);
    const isMoment = String(getNullableType(field.type)) === 'DateTime';
    return leaf(({ row }) => {
      const value = `${sqlFunction}(${columns.map((one) => `${row}.${one}`).join(', ')})`;
      return [isMoment ? instant(value) : `to_json(${value})::text`];
    });
  }
  return (
    tabulated(model, field, select, resolve) ??
    placeholder(field, resolve, reviverFor(model, select), (row) => selectedJson(model, select, row))
  );
}

/** Derives the read of a computed field of a value that is not a row. Its resolver receives the value. */
export const computedOfValue = (field: Field, resolve: Resolve): Read =>
  placeholder(field, resolve, (value) => value, undefined);

function placeholder(
  field: Field,
  resolve: Resolve,
  revive: (json: unknown) => unknown,
  ofRow: ((row: string) => string) | undefined,
): Read {
  const serialize = serializerOf(field.type);
  return leaf((env, args) =>
    computedPlaceholder([ofRow?.(env.row ?? '') ?? env.json ?? ''], (run) => {
      const given = args(run);
      const known: Known = { viewer: run.viewer, payments: run };
      return run.note((json: unknown) => serialize(resolve(revive(json), given, known)));
    }),
  );
}

/** Derives the read of a field that uses no column, or one enum column, by computing all its values in advance. */
function tabulated(model: string, field: Field, select: Select, resolve: Resolve): Read | undefined {
  const [name, ...more] = Object.keys(select);
  if (more.length > 0 || resolve.length > 1) return undefined;
  const serialize = serializerOf(field.type);
  // The compiler does not know that a resolver with one parameter needs no further arguments.
  const jsonFor = (row: object) => literal(JSON.stringify(serialize(resolve(row, {}, undefined as unknown as Known))));
  if (name === undefined) {
    const constant = jsonFor({});
    return leaf(() => [`${constant}::text`]);
  }
  const of = fieldsOfModel(model).get(name);
  if (of?.kind !== 'enum') return undefined;
  const values: readonly string[] = Object.values(enumsByName.get(of.type) ?? {});
  const valuesByJson = Map.groupBy(values, (value) => jsonFor({ [name]: value }));
  return leaf(({ row }) => {
    const cases = Array.from(
      valuesByJson,
      ([json, values]) => `when ${row}.${columnName(name)} in (${values.map(literal).join(', ')}) then ${json}`,
    );
    return [`case ${cases.join(' ')} end`];
  });
}

const enumsByName = new Map<string, object>(Object.entries(enums));

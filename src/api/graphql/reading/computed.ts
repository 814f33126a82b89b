import { type GraphQLField, type GraphQLOutputType, getNullableType, isLeafType, isListType } from 'graphql';
import { fieldsOfModel, joinOf, tableOf } from '../../../infra/database/conditions.ts';
import * as enums from '../../../infra/database/generated/client/enums.ts';
import { columnName, reviveByType } from '../../../infra/database/rows.ts';
import type { Context } from '../context.ts';
import { computedPlaceholder } from './finish.ts';
import { relationOf } from './paths.ts';
import { instant, leaf, type Read } from './reads.ts';
import { literal } from './sql.ts';

/**
 * Defines how fields with their own `resolve` are read. Once the database has sent its response, the resolver computes
 * the value from the columns in the field's `select`, or from the JSON value that contains the field.
 */

export interface Select {
  readonly [name: string]: true | { readonly select: Select };
}

/** A computed field's resolver, which is synchronous. */
type Resolve = (row: unknown, args: object, context: Context) => unknown;

type Field = GraphQLField<unknown, unknown>;

/** Names the SQL function that computes the same value as `resolve`. Usage: `...alsoInDatabase('account_name')`. */
export const alsoInDatabase = (sqlFunction: string) => ({ extensions: { sqlFunction } }) as const;

interface SelectedColumns {
  readonly json: (row: string) => string;
  readonly revive: (json: unknown) => unknown;
}

function selectColumns(model: string, select: Select): SelectedColumns {
  const parts = Object.entries(select).map(([name, selected]) => {
    const relation = relationOf(model, name);
    if (relation && selected !== true) {
      const { json, revive } = selectColumns(relation.type, selected.select);
      const jsonBelow = (row: string) => {
        const there = `${row}${name.charAt(0)}`;
        return `(select ${json(there)} from ${tableOf(relation.type)} ${there} where ${joinOf(relation, row, there)})`;
      };
      return { name, json: jsonBelow, revive };
    }
    const type = fieldsOfModel(model).get(name)?.type;
    if (type === undefined || relation) throw new Error(`${model} has no column ${name}`);
    // Written as text, because parsing the JSON would round these numbers.
    const text = type === 'BigInt' || type === 'Decimal' ? '::text' : '';
    return { name, json: (row: string) => `${row}.${columnName(name)}${text}`, revive: reviveByType[type] };
  });
  return {
    json: (row) => `json_build_object(${parts.map(({ name, json }) => `${literal(name)}, ${json(row)}`).join(', ')})`,
    revive: (json) => {
      // No other response uses the object, so it can be modified in place.
      const row = json as Record<string, unknown> | null;
      for (const { name, revive } of parts) if (row && revive && row[name] !== null) row[name] = revive(row[name]);
      return row;
    },
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

/** Reads a computed field of a row, either with its SQL function or from the columns that its resolver needs. */
export function computedOfRow(model: string, field: Field, select: Select, resolve: Resolve): Read {
  const { sqlFunction } = field.extensions;
  if (sqlFunction) {
    const columns = Object.keys(select).map(columnName);
    const isMoment = String(getNullableType(field.type)) === 'DateTime';
    return leaf(({ row }) => {
      const value = `${sqlFunction}(${columns.map((one) => `${row}.${one}`).join(', ')})`;
      return [isMoment ? instant(value) : `to_json(${value})`];
    });
  }
  return tabulated(model, field, select, resolve) ?? placeholder(field, resolve, selectColumns(model, select));
}

/** Reads a computed field of a value that is not a row. The field's resolver receives that value. */
export const computedOfValue = (field: Field, resolve: Resolve): Read => placeholder(field, resolve);

function placeholder(field: Field, resolve: Resolve, columns?: SelectedColumns): Read {
  const serialize = serializerOf(field.type);
  const revive = columns?.revive ?? ((json) => json);
  return leaf((env, args) =>
    computedPlaceholder([columns?.json(env.row ?? '') ?? env.json ?? ''], (run) => {
      const given = args(run);
      return run.note((json: unknown) => serialize(resolve(revive(json), given, run.context)));
    }),
  );
}

/** Reads a field that uses no column, or one enum column, by computing all its possible values in advance. */
function tabulated(model: string, field: Field, select: Select, resolve: Resolve): Read | undefined {
  const [name, ...more] = Object.keys(select);
  if (more.length > 0 || resolve.length > 1) return undefined;
  const serialize = serializerOf(field.type);
  // The compiler does not know that a resolver with one parameter needs no further arguments.
  const jsonFor = (row: object) =>
    literal(JSON.stringify(serialize(resolve(row, {}, undefined as unknown as Context))));
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

import { type GraphQLField, getNamedType, getNullableType, isLeafType, isListType } from 'graphql';
import { currencies } from '../../../core/currencies.ts';
import type { Viewer } from '../../../domain/access/caller.ts';
import { visiblePolicies } from '../../../domain/access/visible.ts';
import { conditionsOf, joinOf, tableOf } from '../../../infra/database/conditions.ts';
import { oneOfFew } from '../../../infra/database/list-rows.ts';
import { columnName } from '../../../infra/database/rows.ts';
import { formattedPlaceholder } from './finish.ts';
import { jsonAt, referringColumn, requireRelation, type Steps, textAt } from './paths.ts';
import { type Env, leaf, type Read } from './reads.ts';
import { literal, quoted, type Sql, sql } from './sql.ts';

/** Defines reads that several field methods (words.ts) or schema files share. */

export interface FieldOf {
  /** The model of the type that has the field. It is undefined for a value type and for the query type. */
  readonly model: string | undefined;
  readonly field: GraphQLField<unknown, unknown>;
}

export type MadeRead = (of: FieldOf) => Read;

type Visible = (viewer: Viewer) => object;

/** The items of a list. `list` returns SQL for their values and positions. */
const eachOf = (list: (env: Env, alias: string) => string): Extract<Read, { kind: 'values' }> => ({
  kind: 'values',
  from: (env, alias) => ({ from: [list(env, alias)], orderBy: `${alias}.position`, env: { json: `${alias}.value` } }),
});

export const isNull = (json: string): Sql => [`coalesce(jsonb_typeof(${json}), 'null') = 'null'`];

/** Reads the value at a path in JSON: text, an object or a list, depending on the field's type. */
export const inJson =
  (path: Steps): MadeRead =>
  ({ model, field }) => {
    const json = jsonAt(model, path);
    if (isLeafType(getNamedType(field.type))) return leaf((env) => [`${json(env)}::text`]);
    if (!isListType(getNullableType(field.type)))
      return { kind: 'value', env: (env) => ({ json: json(env) }), unless: (env) => isNull(json(env)) };
    return eachOf(
      (env, alias) =>
        `jsonb_array_elements(coalesce(nullif(${json(env)}, 'null'), '[]')) with ordinality as ${alias}(value, position)`,
    );
  };

/** Reads a list column by looking up its values in a domain table. Values without an entry are omitted. */
export const fromTable =
  (column: string, table: ReadonlyMap<string, object>): MadeRead =>
  () =>
    eachOf(
      ({ row }, alias) =>
        `(select ${jsonOf(Object.fromEntries(table))} -> c.name as value, c.position from unnest(${row}.${columnName(column)}) with ordinality as c(name, position)) ${alias} where ${alias}.value is not null`,
    );

const jsonOf = (value: unknown) =>
  `${literal(JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? String(one) : one)))}::jsonb`;

/** Writes the FROM clause for the row at the end of a chain of relations. Without `visible`, anyone may see the row. */
export function rowThere(
  model: string | undefined,
  path: readonly string[],
  visible?: Visible,
): (env: Env, alias: string) => Sql {
  const before = path.slice(0, -1);
  const near = before.reduce((at, step) => requireRelation(at, step).type, model);
  const last = requireRelation(near, path.at(-1) ?? '');
  const { type, relationFromFields: own = [] } = last;
  return ({ row = '' }, alias) => {
    // The path to the last relation's foreign key is built from a list, so the compiler cannot check it.
    const join =
      before.length === 0
        ? joinOf(last, row, alias)
        : `${alias}.platform_id = ${row}.platform_id and ${alias}.id = ${textAt(model, [...before, own.at(-1) ?? ''] as never)({ row })}`;
    return ifVisible(`${tableOf(type)} ${alias} where ${join}`, type, alias, visible);
  };
}

/** Limits a FROM clause to the rows that the caller may see. */
export const ifVisible = (from: string, model: string, alias: string, visible: Visible | undefined): Sql =>
  visible ? sql`${from} and ${(run) => conditionsOf(model, alias, visible(run.viewer), run)}` : [from];

export const rowAt =
  (path: readonly string[], visible?: Visible): MadeRead =>
  ({ model }) => ({ kind: 'row', from: rowThere(model, path, visible) });

export const meets =
  (where: object): MadeRead =>
  ({ model = '' }) =>
    leaf(({ row = '' }) => [(run) => `(${conditionsOf(model, row, where, run)})::text`]);

/** The single row of the field's model that the caller may see. */
export const rowSeen =
  (visible: Visible): MadeRead =>
  ({ field }) => {
    const model = getNamedType(field.type).extensions.pothosPrismaModel as string;
    return {
      kind: 'row',
      from: (_env, alias) =>
        sql`${tableOf(model)} ${alias} where ${(run) => conditionsOf(model, alias, visible(run.viewer), run)}`,
    };
  };

export interface ManyOptions {
  /** The columns to sort by: a column of the first relation, followed by one of the second relation, if any. */
  readonly orderBy: readonly string[];
  /** Limits the list to rows in which the given column has one of the given enum values. */
  readonly only?: readonly [column: string, values: readonly string[]];
  readonly visible?: Visible;
  /** The list counts as complete if one of its rows has at least the parent row's value in the given column. */
  readonly completeBy?: string;
}

/** Finds the rows that are related to a row by at least one of the given relations. */
export function rowsBelow(
  model: string | undefined,
  relations: readonly string[],
): (env: Env, alias: string) => readonly Sql[] {
  const columns = relations.map((name) => referringColumn(requireRelation(model, name)));
  return ({ row }, alias) =>
    columns.map((column) => [`${alias}.platform_id = ${row}.platform_id and ${oneOfFew(alias, column, `${row}.id`)}`]);
}

const currencyOf = (property: 'name' | 'symbol' | 'decimals'): Read => {
  const cases = currencies.map((one) => `when ${literal(one.code)} then ${literal(JSON.stringify(one[property]))}`);
  return leaf((env) => [`case ${env.code} ${cases.join(' ')} end`]);
};

/** SQL that maps each currency code to the currency's smallest unit, expressed in major units, such as 0.01. */
const smallestUnit = currencies
  .map(
    ({ code, decimals }) => `when ${literal(code)} then ${decimals === 0 ? '1' : `0.${'1'.padStart(decimals, '0')}`}`,
  )
  .join(' ');

/** The reads of the value types whose fields can be computed in SQL alone. */
export const valueFields: Readonly<Record<string, Readonly<Record<string, Read>>>> = {
  Currency: {
    code: leaf((env) => quoted(env.code ?? '')),
    name: currencyOf('name'),
    symbol: currencyOf('symbol'),
    decimals: currencyOf('decimals'),
  },
  Money: {
    amount: leaf((env) => quoted(env.amount ?? '')),
    currency: { kind: 'value', env: (env) => ({ code: env.currency ?? '' }) },
    decimal: leaf((env) => quoted(`${env.amount} * case ${env.currency} ${smallestUnit} end`)),
    formatted: leaf((env, args) => [
      (run) => formattedPlaceholder(env.amount ?? '', env.currency ?? '', run.note(args(run).locale ?? 'en')),
    ]),
  },
};

/** A policy's limits, each with its current usage as computed by a database function. */
export const limitsOf: MadeRead = () => ({
  ...eachOf(
    ({ row }, alias) =>
      `jsonb_array_elements(limits_of(${row}.platform_id, ${row}.id)) with ordinality as ${alias}(value, position)`,
  ),
  // The policy stores its usage, so a whole window's payments rarely have to be added up.
  costs: 'past',
});

/** A payment's reconciliation reference, which is null while the payment is CREATED. */
export const referenceOf: MadeRead = () =>
  leaf(({ row }) => [`case when ${row}.status <> 'CREATED' then to_json(${row}.reference) end`]);

/** The row's policy, if the viewer may see it. */
export const policyOf: MadeRead = () => ({
  kind: 'row',
  from: ({ row = '' }, alias) =>
    ifVisible(`${tableOf('Policy')} ${alias} where ${alias}.subject_id = ${row}.id`, 'Policy', alias, visiblePolicies),
});

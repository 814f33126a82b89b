import {
  columnOf,
  fieldsOfModel,
  joinOf,
  type ModelField,
  pairsOf,
  tableOf,
} from '../../../infra/database/conditions.ts';
import { columnName } from '../../../infra/database/rows.ts';
import type { Env } from './reads.ts';
import { literal } from './sql.ts';

/** Writes the SQL joins for the data model's relations. */

/** Returns a model's relation with the given name, or undefined if there is none. */
export function relationOf(model: string, name: string): ModelField | undefined {
  const field = fieldsOfModel(model).get(name);
  return field?.kind === 'object' ? field : undefined;
}

/** Returns a model's relation with the given name. @throws Error if there is none */
export function requireRelation(model: string | undefined, name: string): ModelField {
  const relation = model === undefined ? undefined : relationOf(model, name);
  if (!relation) throw new Error(`${model} has no relation ${name}`);
  return relation;
}

/** Returns the column in a relation's rows that refers back to the parent row. */
export function referringColumn(relation: ModelField): string {
  return columnName(pairsOf(relation).at(-1)?.[1] ?? '');
}

/** The location of a value: a column, a column of a related row, or a member of a JSON value. */
export type Steps = string | readonly [string, ...string[]];

interface FirstOf {
  readonly firstOf: readonly string[];
}

export type Path = Steps | FirstOf;

/** Creates a path to the first of the given columns that is not null. */
export const firstOf = (...columns: readonly string[]): FirstOf => ({ firstOf: columns });

const isChoice = (path: Path): path is FirstOf => typeof path === 'object' && 'firstOf' in path;

export const stepsOf = (path: string | readonly string[]): readonly string[] =>
  typeof path === 'string' ? [path] : path;

/** Returns the value at a path within an object, or null if a step is missing. */
export function valueAt(value: unknown, path: Path): unknown {
  if (isChoice(path)) return path.firstOf.map((one) => valueAt(value, one)).find((one) => one !== null) ?? null;
  // Every value along a path, except the last, is an object.
  return stepsOf(path).reduce<unknown>((at, step) => (at as Record<string, unknown> | null)?.[step] ?? null, value);
}

/** Returns the SQL for the value at a path, as text if it is in a JSON value. */
export function textAt(model: string | undefined, path: Path): (env: Env) => string {
  if (isChoice(path)) return (env) => `coalesce(${path.firstOf.map((one) => textAt(model, one)(env)).join(', ')})`;
  return (env) => at(model, stepsOf(path), env, '->>');
}

/**
 * Returns a function that writes the SQL for the JSON at a path. That function throws an Error if the model has neither
 * a column nor a relation with the name of the first step.
 */
export function jsonAt(model: string | undefined, path: Steps): (env: Env) => string {
  return (env) => at(model, stepsOf(path), env, '->');
}

/** Returns whether a path leads to a member of a JSON value or to a column of a related row. */
export const isMember = (path: Path, env: Env): boolean =>
  !isChoice(path) && (env.json !== undefined || (typeof path !== 'string' && path.length > 1));

function at(model: string | undefined, [head, ...rest]: readonly string[], env: Env, last: '->' | '->>'): string {
  if (head === undefined) throw new Error('a path has a step');
  if (env.row !== undefined) {
    const relation = model === undefined ? undefined : relationOf(model, head);
    if (relation) return columnThere(env.row, relation, rest);
    if (model !== undefined && columnOf(model, head) === undefined) throw new Error(`${model} has no ${head}`);
    return members(`${env.row}.${columnName(head)}`, rest, last);
  }
  const value = env[head];
  return value === undefined ? members(env.json ?? '', [head, ...rest], last) : members(value, rest, last);
}

function columnThere(row: string, relation: ModelField, [column = '', ...rest]: readonly string[]): string {
  const alias = `${row}${relation.name.charAt(0)}`;
  const further = relationOf(relation.type, column);
  const value = further ? columnThere(alias, further, rest) : `${alias}.${columnName(column)}`;
  return `(select ${value} from ${tableOf(relation.type)} ${alias} where ${joinOf(relation, row, alias)})`;
}

function members(base: string, steps: readonly string[], last: '->' | '->>'): string {
  if (steps.length === 0) return base;
  const [end = '', ...before] = steps.toReversed();
  return `(${[base, ...before.toReversed().map((step) => `-> ${literal(step)}`), `${last} ${literal(end)}`].join(' ')})`;
}

/** Returns whether the first step of a path is a JSON column. */
export function isJson(model: string | undefined, path: Steps): boolean {
  const [head = ''] = stepsOf(path);
  return model !== undefined && fieldsOfModel(model).get(head)?.type === 'Json';
}

import { columnOf, fieldsOfModel, type ModelField, tableOf } from '../../../infra/database/conditions.ts';
import { columnName } from '../../../infra/database/rows.ts';
import type { Env } from './reads.ts';
import { joinOf, relationOf } from './relations.ts';
import { literal } from './sql.ts';

/** Where a value lies: a column, or a column of the row that a relation leads to, or a member of a JSON value. */
export type Steps = string | readonly [string, ...string[]];

/** The first of several values that is not null. */
export interface FirstOf {
  readonly firstOf: readonly string[];
}

export type Path = Steps | FirstOf;

export const firstOf = (...columns: readonly string[]): FirstOf => ({ firstOf: columns });

const isChoice = (path: Path): path is FirstOf => typeof path === 'object' && 'firstOf' in path;

const stepsOf = (path: Steps): readonly string[] => (typeof path === 'string' ? [path] : path);

/** Returns the value at a path of a row, or of a value made from one. */
export function valueAt(value: unknown, path: Path): unknown {
  if (isChoice(path)) return path.firstOf.map((one) => valueAt(value, one)).find((one) => one !== null) ?? null;
  // Whatever has members is an object.
  return stepsOf(path).reduce<unknown>((at, step) => (at as Record<string, unknown> | null)?.[step] ?? null, value);
}

/** Returns SQL of what lies at a path, as text where it is in a JSON value. */
export function textAt(model: string | undefined, path: Path): (env: Env) => string {
  if (isChoice(path)) return (env) => `coalesce(${path.firstOf.map((one) => textAt(model, one)(env)).join(', ')})`;
  return (env) => at(model, stepsOf(path), env, '->>');
}

/** Returns SQL of the JSON value at a path. */
export function jsonAt(model: string | undefined, path: Steps): (env: Env) => string {
  return (env) => at(model, stepsOf(path), env, '->');
}

/** Tells whether text at a path is a member of a JSON value. */
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

/** Writes a column of the row that a relation leads to. */
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

/** Tells whether a path of a row begins with a column of JSON. */
export function isJson(model: string | undefined, path: Steps): boolean {
  const [head = ''] = stepsOf(path);
  return model !== undefined && fieldsOfModel(model).get(head)?.type === 'Json';
}

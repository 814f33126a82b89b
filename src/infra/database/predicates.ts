import { LRUCache } from 'lru-cache';
import { fieldsOfModel, type ModelField, type Where } from './conditions.ts';
import { asPlatform } from './connections/platform-scope.ts';
import { type Noun, readRows } from './read-rows.ts';

// Compiles conditions in the form of Prisma's `where` to a function that tests a row in memory. This is the counterpart
// of conditions.ts for past versions of rows. It refuses conditions that cannot be decided from the row alone.

type Row = Readonly<Record<string, unknown>>;

/** Finds a row of the same platform that another row refers to. Undefined if there is none. */
export type FindRow = (model: string, id: string) => Row | undefined;

/** A test of whether a row meets conditions. `find` finds the rows that `references` lists. */
export interface Predicate {
  readonly matches: (row: Row, find: FindRow) => boolean;
  /** The fields that refer to other rows whose fields the conditions also test. */
  readonly references: readonly Reference[];
}

/** A field with the id of a row of another model. */
export interface Reference {
  readonly field: string;
  readonly model: string;
}

/** Reports a condition that cannot be decided from a past version of a row alone. */
export class NotFollowable extends Error {
  constructor(model: string, field: string) {
    super(`a condition on ${field} of ${model} depends on more than the row`);
    this.name = 'NotFollowable';
  }
}

/** The fields of referenced rows that never change (guard_account), so their current values are also the past ones. */
const unchanging: Readonly<Record<string, readonly string[]>> = {
  Account: ['id', 'platformId', 'kind', 'currency', 'customerId'],
  Customer: ['id', 'platformId', 'platformCustomerId', 'customerType'],
};

type Test = (row: Row, find: FindRow) => boolean;

/** Compiles the conditions for a model's rows. @throws NotFollowable if they cannot be decided from the row alone */
export function predicateOf(model: string, where: object): Predicate {
  const references = new Map<string, Reference>();
  const test = allOf(model, where as Where, references);
  return { matches: test, references: [...references.values()] };
}

/** Returns whether a condition obviously matches no row, such as an empty `in`. */
export function matchesNone(where: object): boolean {
  return Object.entries(where).some(([name, condition]) => {
    if (name === 'AND') return [condition].flat().some((part) => matchesNone(part as Where));
    if (name === 'OR') return (condition as Where[]).every(matchesNone);
    return isObject(condition) && Array.isArray(condition.in) && condition.in.length === 0;
  });
}

function allOf(model: string, where: Where, references: Map<string, Reference>): Test {
  const tests = Object.entries(where).flatMap(([name, condition]): Test[] => {
    if (condition === undefined) return [];
    if (name === 'AND') return [condition].flat().map((part) => allOf(model, part as Where, references));
    if (name === 'OR') {
      const parts = (condition as Where[]).map((part) => allOf(model, part, references));
      return [(row, find) => parts.some((part) => part(row, find))];
    }
    const field = fieldsOfModel(model).get(name);
    if (!field) throw new Error(`the model ${model} has no field ${name}`);
    if (field.kind !== 'object') return [ofValue(model, field, condition)];
    return [ofReferred(model, field, condition as Where, references)];
  });
  return (row, find) => tests.every((test) => test(row, find));
}

function ofReferred(model: string, field: ModelField, where: Where, references: Map<string, Reference>): Test {
  const idField = field.relationFromFields?.at(-1);
  if (idField === undefined) throw new NotFollowable(model, field.name);
  const changing = Object.keys(where).find((name) => !unchanging[field.type]?.includes(name));
  if (changing !== undefined) throw new NotFollowable(model, `${field.name}.${changing}`);
  const test = allOf(field.type, where, references);
  references.set(idField, { field: idField, model: field.type });
  return (row, find) => {
    const id = row[idField];
    const referred = typeof id === 'string' ? find(field.type, id) : undefined;
    return referred !== undefined && test(referred, find);
  };
}

function ofValue(model: string, field: ModelField, condition: unknown): Test {
  const { name } = field;
  if (condition === null) return (row) => row[name] === null;
  if (!isObject(condition)) return equalTo(model, field, condition);
  const tests = Object.entries(condition).flatMap(([operator, value]): Test[] => {
    if (value === undefined) return [];
    switch (operator) {
      case 'in': {
        // Prisma's filters allow only a list here.
        const values = (value as unknown[]).map((one) => equalTo(model, field, one));
        return [(row, find) => values.some((test) => test(row, find))];
      }
      case 'startsWith':
        if (typeof value !== 'string') break;
        return [(row) => typeof row[name] === 'string' && row[name].startsWith(value)];
      case 'not': {
        const isEqual: Test = value === null ? () => false : equalTo(model, field, value);
        // As in SQL, a comparison with null is unknown, so null does not match.
        return [(row, find) => row[name] !== null && !isEqual(row, find)];
      }
      case 'gt':
      case 'gte':
      case 'lt':
      case 'lte':
        return [compared(model, field, value, orders[operator])];
    }
    throw new NotFollowable(model, name);
  });
  return (row, find) => tests.every((test) => test(row, find));
}

const orders = {
  gt: (order: number) => order > 0,
  gte: (order: number) => order >= 0,
  lt: (order: number) => order < 0,
  lte: (order: number) => order <= 0,
} as const;

function equalTo(model: string, field: ModelField, value: unknown): Test {
  if (value instanceof Date) return compared(model, field, value, (order) => order === 0);
  const isPlain = ['string', 'boolean', 'bigint', 'number'].includes(typeof value);
  if (!isPlain || field.type === 'Decimal' || field.type === 'Json') throw new NotFollowable(model, field.name);
  const { name } = field;
  return (row) => row[name] === value;
}

/** Compares times, numbers and UUIDs as Postgres does. The order of other strings depends on the collation. */
function compared(model: string, field: ModelField, value: unknown, holds: (order: number) => boolean): Test {
  const { name, type } = field;
  const isId = name === 'id' || name.endsWith('Id');
  const isOrdered =
    (type === 'DateTime' && value instanceof Date) ||
    type === 'BigInt' ||
    type === 'Int' ||
    (type === 'String' && isId);
  if (!isOrdered) throw new NotFollowable(model, name);
  const right = comparable(value);
  return (row) => {
    const left = row[name];
    if (left === null || left === undefined) return false;
    const of = comparable(left);
    return holds(of < right ? -1 : of > right ? 1 : 0);
  };
}

function comparable(value: unknown): number | bigint | string {
  return value instanceof Date ? value.getTime() : (value as number | bigint | string);
}

function isObject(value: unknown): value is Where {
  return typeof value === 'object' && value !== null && !(value instanceof Date);
}

const maxRows = 20_000;

/** Caches the unchanging fields of the rows that predicates refer to, so that each row is read once. */
export class ReferredRows {
  readonly #database: Parameters<typeof readRows>[0];
  // As in core/bounded-cache.ts, which database modules are not allowed to import.
  readonly #known = new LRUCache<string, Row>({ maxSize: maxRows, sizeCalculation: () => 1 });

  constructor(database: Parameters<typeof readRows>[0]) {
    this.#database = database;
  }

  /** Reads the rows that these rows refer to, and returns a function that finds them. */
  async of(platformId: string, references: readonly Reference[], rows: readonly Row[]): Promise<FindRow> {
    for (const { model, field } of references) {
      const ids = new Set(rows.map((row) => row[field]).filter((id) => typeof id === 'string'));
      const missing = [...ids].filter((id) => !this.#known.has(keyOf(model, id)));
      // Rows of models with followed events refer only to rows of other such models.
      if (missing.length > 0) await this.#read(platformId, model as Noun, missing);
    }
    return (model, id) => this.#known.get(keyOf(model, id));
  }

  async #read(platformId: string, model: Noun, ids: readonly string[]): Promise<void> {
    const where = { platformId, id: { in: [...ids] } };
    const rows: readonly Row[] = await asPlatform(platformId, () => readRows(this.#database, model, { where }));
    for (const row of rows) {
      const fields = (unchanging[model] ?? []).map((name) => [name, row[name]] as const);
      this.#known.set(keyOf(model, String(row.id)), Object.fromEntries(fields));
    }
  }
}

const keyOf = (model: string, id: string) => `${model}:${id}`;

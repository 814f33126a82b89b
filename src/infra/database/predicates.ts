import { LRUCache } from 'lru-cache';
import { fieldsOfModel, type ModelField, type Where } from './conditions.ts';
import { asPlatform } from './connections/platform-scope.ts';
import { type Noun, readRows } from './read-rows.ts';

// Compiles conditions, written like Prisma's `where`, into a function that tests a row in memory: the counterpart
// of conditions.ts for past versions of rows. Conditions that cannot be evaluated from the row alone are refused.

type Row = Readonly<Record<string, unknown>>;

/** Finds a referenced row, which belongs to the same platform. Returns undefined if there is none. */
export type FindRow = (model: string, id: string) => Row | undefined;

/** Tests whether a row meets conditions. `find` must find the rows that the `references` point to. */
export interface Predicate {
  readonly matches: (row: Row, find: FindRow) => boolean;
  /** The fields that refer to other rows whose fields the conditions also test. */
  readonly references: readonly Reference[];
}

/** A field that holds the id of another model's row. */
export interface Reference {
  readonly field: string;
  readonly model: string;
}

/** Reports a condition that cannot be evaluated from a past version of a row alone. */
export class NotFollowable extends Error {
  constructor(model: string, field: string) {
    super(`a condition on ${field} of ${model} depends on more than the row`);
    this.name = 'NotFollowable';
  }
}

/** The fields of referenced rows whose past values equal the current ones (guard_account, apply_owner_changes). */
const unchanging: Readonly<Record<string, readonly string[]>> = {
  Account: ['id', 'platformId', 'kind', 'currency', 'customerId'],
  Customer: ['id', 'platformId', 'platformCustomerId', 'customerType'],
};

type Test = (row: Row, find: FindRow) => boolean;

/** Compiles conditions on a model's rows. @throws NotFollowable if a row alone is not enough to evaluate them */
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
  const operators = isObject(condition) ? condition : { equals: condition };
  const tests = Object.entries(operators).flatMap(([operator, value]): Test[] => {
    if (value === undefined) return [];
    const test = comparisons[operator]?.(field, value);
    if (!test) throw new NotFollowable(model, name);
    return [(row) => test(row[name])];
  });
  return (row, find) => tests.every((test) => test(row, find));
}

type TestValue = (value: unknown) => boolean;

/** Creates each operator's test. Returns undefined if values cannot be compared here as Postgres would. */
const comparisons: Readonly<Record<string, (field: ModelField, operand: unknown) => TestValue | undefined>> = {
  equals: equalTo,
  in(field, operands) {
    // Prisma's filters allow only a list here.
    const tests = (operands as unknown[]).map((one) => equalTo(field, one));
    return tests.includes(undefined) ? undefined : (value) => tests.some((test) => test?.(value));
  },
  startsWith: (_field, start) =>
    typeof start === 'string' ? (value) => typeof value === 'string' && value.startsWith(start) : undefined,
  not(field, operand) {
    const isEqual = operand === null ? () => false : equalTo(field, operand);
    // As in SQL, a comparison with null is unknown, so null does not match.
    return isEqual && ((value) => value !== null && !isEqual(value));
  },
  gt: (field, operand) => compared(field, operand, (order) => order > 0),
  gte: (field, operand) => compared(field, operand, (order) => order >= 0),
  lt: (field, operand) => compared(field, operand, (order) => order < 0),
  lte: (field, operand) => compared(field, operand, (order) => order <= 0),
};

function equalTo(field: ModelField, operand: unknown): TestValue | undefined {
  if (operand instanceof Date) return compared(field, operand, (order) => order === 0);
  const isPlain = ['string', 'boolean', 'bigint', 'number'].includes(typeof operand);
  return isPlain && field.type !== 'Decimal' && field.type !== 'Json' ? (value) => value === operand : undefined;
}

/** Compares times, numbers and UUIDs as Postgres does. The order of other strings depends on the collation. */
function compared({ name, type }: ModelField, operand: unknown, accepts: (order: number) => boolean) {
  const isOrdered = type === 'DateTime' ? operand instanceof Date : type === 'BigInt' || type === 'Int';
  const isId = type === 'String' && (name === 'id' || name.endsWith('Id'));
  if (!isOrdered && !isId) return undefined;
  const right = comparable(operand);
  return (value: unknown) => {
    if (value === null || value === undefined) return false;
    const left = comparable(value);
    return accepts(left < right ? -1 : left > right ? 1 : 0);
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
  // Sized as in core/bounded-cache.ts, which database modules are not allowed to import.
  readonly #known = new LRUCache<string, Row>({ maxSize: maxRows, sizeCalculation: () => 1 });

  constructor(database: Parameters<typeof readRows>[0]) {
    this.#database = database;
  }

  /** Reads the rows that `rows` refer to, and returns a function that finds them. */
  async of(platformId: string, references: readonly Reference[], rows: readonly Row[]): Promise<FindRow> {
    for (const { model, field } of references) {
      const ids = new Set(rows.map((row) => row[field]).filter((id) => typeof id === 'string'));
      const missing = [...ids].filter((id) => !this.#known.has(keyOf(model, id)));
      // The cast is safe because the models whose events can be followed refer only to one another.
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

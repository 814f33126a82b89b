import type { Planning } from './connections/read-scope.ts';
import { getDatamodel } from './generated/pothos.ts';
import { columnName } from './rows.ts';

// Compiles conditions to SQL. Conditions, such as filters and visibility rules, are written like Prisma's `where`.
// Throws for an unsupported condition.

/** The parameters and table aliases of one statement under construction. */
export class Binding {
  readonly values: unknown[] = [];
  planning: Planning;
  aliases = 0;

  /** Adds a parameter and returns its placeholder, such as `$3`. */
  bind(value: unknown): string {
    return `$${this.values.push(value)}`;
  }

  alias(): string {
    this.aliases += 1;
    return `f${this.aliases}`;
  }

  /** Builds an uncorrelated subquery. Its aliases start again at `f1`, so that equal subqueries have equal text. */
  writeApart(write: () => void): void {
    const aliases = this.aliases;
    this.aliases = 0;
    try {
      write();
    } finally {
      this.aliases = Math.max(aliases, this.aliases);
    }
  }
}

/** Fields that are compared by range, or in which a few values are very common. A generic plan might read all rows. */
const uneven: ReadonlySet<string> = new Set(
  `Transaction.status Transaction.type Transaction.failureReason Transaction.sentCurrency Transaction.receivedCurrency
  Transaction.updatedAt Quote.status Customer.kycStatus Customer.searchName Customer.updatedAt Account.status Account.accountType
  Account.beneficiaryVerificationStatus`.split(/\s+/),
);

/** Selective fields: each value matches few of a platform's rows. With a condition on one of them, any plan is fast. */
const narrow: ReadonlySet<string> = new Set(['id', 'customerId', 'transactionId', 'endpointId', 'reference']);

interface Found {
  uneven: boolean;
  narrow: boolean;
}

type Model = ReturnType<typeof getDatamodel>['datamodel']['models'][string];

/** A model's field: a column or, if its kind is `object`, a relation to the model that `type` names. */
export type ModelField = Model['fields'][number];

const keys: Readonly<Record<string, Model>> = getDatamodel().datamodel.models;
const models: ReadonlyMap<string, ReadonlyMap<string, ModelField>> = new Map(
  Object.entries(keys).map(([name, { fields }]) => [name, new Map(fields.map((field) => [field.name, field]))]),
);

export function fieldsOfModel(model: string): ReadonlyMap<string, ModelField> {
  return models.get(model) ?? new Map();
}

export function tableOf(model: string): string {
  return `"${columnName(model.charAt(0).toLowerCase() + model.slice(1))}"`;
}

/** Returns the name of a field's column, or undefined if the field is a relation or unknown. */
export function columnOf(model: string, field: string): string | undefined {
  const found = models.get(model)?.get(field);
  return found && found.kind !== 'object' ? columnName(found.name) : undefined;
}

export type Where = Readonly<Record<string, unknown>>;

/** The fields and operators whose enum values are written as literals: parameters would rule out partial indexes. */
export const literalNames: ReadonlySet<string> = new Set(['kind', 'not']);

/** Compiles conditions on a model's rows to SQL. `isNarrow`: true if the query's other conditions match few rows. */
export function conditionsOf(model: string, alias: string, where: object, binds: Binding, isNarrow = false): string {
  const found: Found = { uneven: false, narrow: isNarrow };
  const text = conditions(model, alias, where as Where, binds, found).join(' and ') || 'true';
  if (found.uneven && !found.narrow) binds.planning = 'anew';
  return text;
}

// In Prisma's types, AND takes conditions or a list of them, OR and `in` take lists, and a relation takes conditions.
function conditions(model: string, alias: string, where: Where, binds: Binding, found: Found): string[] {
  return Object.entries(where).flatMap(([name, condition]): string[] => {
    if (condition === undefined) return [];
    if (name === 'AND')
      return [condition].flat().flatMap((part) => conditions(model, alias, part as Where, binds, found));
    if (name === 'OR') {
      // The OR is narrow only if all its branches are.
      const any: Found = { uneven: false, narrow: true };
      const parts = (condition as Where[]).map((part) => {
        const one: Found = { uneven: false, narrow: false };
        const text = conditions(model, alias, part, binds, one).join(' and ') || 'true';
        any.uneven ||= one.uneven;
        any.narrow &&= one.narrow;
        return `(${text})`;
      });
      found.uneven ||= any.uneven;
      found.narrow ||= any.narrow;
      return [parts.length > 0 ? `(${parts.join(' or ')})` : 'false'];
    }
    const field = fieldOf(model, name);
    if (field.kind !== 'object') {
      found.uneven ||= uneven.has(`${model}.${name}`);
      found.narrow ||= narrow.has(name) && typeof condition === 'string';
      return comparisons(`${alias}.${columnName(name)}`, field, condition, binds);
    }
    const related = binds.alias();
    const join = joinOf(field, alias, related);
    return [
      `exists (select from ${tableOf(field.type)} ${related} where ${join} and ${conditionsOf(field.type, related, condition as Where, binds, true)})`,
    ];
  });
}

function fieldOf(model: string, name: string): ModelField {
  const field = models.get(model)?.get(name);
  if (!field) throw new Error(`the model ${model} has no field ${name}`);
  return field;
}

function comparisons(left: string, field: ModelField, condition: unknown, binds: Binding): string[] {
  if (condition === null) return [`${left} is null`];
  if (typeof condition !== 'object' || condition instanceof Date)
    return [`${left} = ${literalNames.has(field.name) ? literal(field, condition) : binds.bind(condition)}`];
  return Object.entries(condition).flatMap(([operator, value]: [string, unknown]) => {
    if (value === undefined) return [];
    switch (operator) {
      case 'in': {
        const values = [...new Set(value as readonly unknown[])];
        return [values.length > 0 ? `${left} in (${values.map((one) => binds.bind(one)).join(', ')})` : 'false'];
      }
      case 'not':
        if (value === null) return [`${left} is not null`];
        return [`${left} <> ${literal(field, value)}`];
      case 'has':
        return [`${binds.bind(value)} = any (${left})`];
      case 'startsWith':
        return startsWith(left, binds.bind(value));
      case 'gt':
      case 'gte':
      case 'lt':
      case 'lte':
        return [`${left} ${orders[operator]} ${binds.bind(value)}`];
    }
    throw new Error(`a read does not support the condition ${operator} on ${field.name}`);
  });
}

function literal(field: ModelField, value: unknown): string {
  if (field.kind === 'enum' && typeof value === 'string' && /^\w+$/.test(value)) return `'${value}'`;
  throw new Error(`a read does not support the value ${value} for ${field.name}`);
}

const orders = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

function startsWith(left: string, value: string): string[] {
  return [`${left} >= ${value}::text`, `${left} < ${value}::text || U&'\\+10FFFF'`];
}

/** The fields by which other models refer to a model's rows: its primary key or, for a view, its unique index. */
function keyOf(model: string): readonly string[] {
  const { fields, primaryKey, uniqueIndexes } = keys[model] ?? {};
  return (
    (primaryKey ?? uniqueIndexes?.[0])?.fields ?? (fields ?? []).filter(({ isId }) => isId).map(({ name }) => name)
  );
}

type ColumnPairs = readonly (readonly [here: string, there: string])[];

const pairsByRelation = new Map<ModelField, ColumnPairs>();

/** Returns the pairs of columns on which a relation joins: the row's own column, and the related row's column. */
export function pairsOf(relation: ModelField): ColumnPairs {
  const pairs = pairsByRelation.get(relation) ?? findPairs(relation);
  pairsByRelation.set(relation, pairs);
  return pairs;
}

function findPairs(relation: ModelField): ColumnPairs {
  const { type, relationName, relationFromFields: own = [] } = relation;
  if (own.length > 0) return own.map((field, position) => [field, keyOf(type)[position] ?? '']);
  const back = [...fieldsOfModel(type).values()].find(
    (other) => other.relationName === relationName && (other.relationFromFields ?? []).length > 0,
  );
  if (!back) throw new Error(`the data model does not say how ${relation.name} is joined`);
  return pairsOf(back).map(([here, there]) => [there, here]);
}

/** Returns the condition that joins a row to its related row. `row` and `there` are their aliases. */
export function joinOf(relation: ModelField, row: string, there: string): string {
  let join = '';
  for (const [from, to] of pairsOf(relation))
    join += `${join && ' and '}${there}.${columnName(to)} = ${row}.${columnName(from)}`;
  return join;
}

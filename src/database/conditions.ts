import { getDatamodel } from './generated/pothos.ts';
import { columnName } from './rows.ts';

// Compiles conditions in the form of Prisma's `where`, as filters and visibility write them, to SQL. An unknown
// condition throws.

/** The parameters and the table aliases of one statement while it is composed. */
export class Binding {
  readonly values: unknown[] = [];
  #aliases = 0;

  /** Adds a value to the parameters and returns its placeholder in the text, such as `$3`. */
  bind(value: unknown): string {
    return `$${this.values.push(value)}`;
  }

  /** Returns a table alias that is new in this statement. */
  alias(): string {
    this.#aliases += 1;
    return `f${this.#aliases}`;
  }
}

export type Binds = Pick<Binding, 'bind' | 'alias'>;

/** A field of a model: a column, or (of kind `object`) a relation to another model, `type`. */
export interface ModelField {
  readonly name: string;
  readonly kind: string;
  readonly type: string;
  readonly relationName?: string | undefined;
  readonly relationFromFields?: readonly string[] | undefined;
}

const models: ReadonlyMap<string, ReadonlyMap<string, ModelField>> = new Map(
  Object.entries(getDatamodel().datamodel.models).map(([name, { fields }]) => [
    name,
    new Map(fields.map((field) => [field.name, field])),
  ]),
);

/** Returns the fields of a model by their names. */
export function fieldsOfModel(model: string): ReadonlyMap<string, ModelField> {
  return models.get(model) ?? new Map();
}

/** Returns the table of a model, quoted. */
export function tableOf(model: string): string {
  return `"${columnName(model.charAt(0).toLowerCase() + model.slice(1))}"`;
}

/** Returns the column of a model's field; undefined for a relation or an unknown field. */
export function columnOf(model: string, field: string): string | undefined {
  return models.get(model)?.get(field)?.kind === 'object'
    ? undefined
    : models.get(model)?.has(field)
      ? columnName(field)
      : undefined;
}

type Where = Readonly<Record<string, unknown>>;

/**
 * Compiles the conditions that rows of a model must meet to SQL; 'true' where there are none.
 * @throws Error for a field or an operator that it does not know
 */
export function conditionsOf(model: string, alias: string, where: object, binds: Binds): string {
  return conditions(model, alias, where as Where, binds).join(' and ') || 'true';
}

function conditions(model: string, alias: string, where: Where, binds: Binds): string[] {
  return Object.entries(where).flatMap(([name, condition]): string[] => {
    if (condition === undefined) return [];
    if (name === 'AND') return [condition].flat().flatMap((part) => conditions(model, alias, part as Where, binds));
    if (name === 'OR') {
      const parts = (condition as Where[]).map((part) => `(${conditionsOf(model, alias, part, binds)})`);
      return [parts.length > 0 ? `(${parts.join(' or ')})` : 'false'];
    }
    const field = fieldOf(model, name);
    if (field.kind !== 'object') return comparisons(`${alias}.${columnName(name)}`, field, condition, binds);
    const related = binds.alias();
    const join = joinOf(model, alias, field, related);
    return [
      `exists (select from ${tableOf(field.type)} ${related} where ${join} and ${conditionsOf(field.type, related, condition as Where, binds)})`,
    ];
  });
}

function fieldOf(model: string, name: string): ModelField {
  const field = models.get(model)?.get(name);
  if (!field) throw new Error(`${model} has no ${name}`);
  return field;
}

function comparisons(left: string, field: ModelField, condition: unknown, binds: Binds): string[] {
  if (condition === null) return [`${left} is null`];
  if (typeof condition !== 'object' || condition instanceof Date) return [`${left} = ${binds.bind(condition)}`];
  return Object.entries(condition).flatMap(([operator, value]: [string, unknown]) => {
    if (value === undefined) return [];
    switch (operator) {
      case 'in': {
        const values = value as readonly unknown[];
        return [values.length > 0 ? `${left} in (${values.map((one) => binds.bind(one)).join(', ')})` : 'false'];
      }
      case 'not':
        if (value === null) return [`${left} is not null`];
        break;
      case 'gt':
        return [`${left} > ${binds.bind(value)}`];
      case 'gte':
        return [`${left} >= ${binds.bind(value)}`];
      case 'lt':
        return [`${left} < ${binds.bind(value)}`];
      case 'lte':
        return [`${left} <= ${binds.bind(value)}`];
    }
    throw new Error(`a read does not know the condition ${operator} on ${field.name}`);
  });
}

/** Returns the condition that joins a row and the one that it refers to: the same platform, and the id. */
function joinOf(model: string, alias: string, field: ModelField, related: string): string {
  const own = field.relationFromFields ?? [];
  const [from, to, names] =
    own.length > 0
      ? [alias, related, own]
      : [
          related,
          alias,
          [...(models.get(field.type)?.values() ?? [])].find((other) => other.relationName === field.relationName)
            ?.relationFromFields ?? [],
        ];
  if (names.length !== 2) throw new Error(`a read does not know how ${model}.${field.name} is joined`);
  return `${to}.platform_id = ${from}.${columnName(names[0] ?? '')} and ${to}.id = ${from}.${columnName(names[1] ?? '')}`;
}

import { getDatamodel } from './generated/pothos.ts';
import { columnName } from './rows.ts';

/** Conditions in Prisma's words, as filters and visibility have them, as SQL: what is not understood throws. */

/** What a statement needs while it is written: its values, and a name for each of its tables. */
export class Binding {
  readonly values: unknown[] = [];
  #aliases = 0;

  /** Makes a parameter of a value, and answers what stands for it in the text: `$3`. */
  bind(value: unknown): string {
    return `$${this.values.push(value)}`;
  }

  /** A name for a table that no other has in this statement. */
  alias(): string {
    this.#aliases += 1;
    return `f${this.#aliases}`;
  }
}

export type Binds = Pick<Binding, 'bind' | 'alias'>;

interface Field {
  readonly name: string;
  readonly kind: string;
  readonly type: string;
  readonly relationName?: string | undefined;
  readonly relationFromFields?: readonly string[] | undefined;
}

const models: ReadonlyMap<string, ReadonlyMap<string, Field>> = new Map(
  Object.entries(getDatamodel().datamodel.models).map(([name, { fields }]) => [
    name,
    new Map(fields.map((field) => [field.name, field])),
  ]),
);

/** The table of a model. */
export function tableOf(model: string): string {
  return `"${columnName(model.charAt(0).toLowerCase() + model.slice(1))}"`;
}

/** The column of a model's field, or undefined where it has none. */
export function columnOf(model: string, field: string): string | undefined {
  return models.get(model)?.get(field)?.kind === 'object'
    ? undefined
    : models.get(model)?.has(field)
      ? columnName(field)
      : undefined;
}

type Where = Readonly<Record<string, unknown>>;

/** The conditions that rows of a model meet; always one at least. */
export function conditionsOf(model: string, alias: string, where: object, to: Binds): string {
  return conditions(model, alias, where as Where, to).join(' and ') || 'true';
}

function conditions(model: string, alias: string, where: Where, to: Binds): string[] {
  return Object.entries(where).flatMap(([name, wanted]): string[] => {
    if (wanted === undefined) return [];
    if (name === 'AND') return [wanted].flat().flatMap((one) => conditions(model, alias, one as Where, to));
    if (name === 'OR') {
      const each = (wanted as Where[]).map((one) => `(${conditionsOf(model, alias, one, to)})`);
      return [each.length > 0 ? `(${each.join(' or ')})` : 'false'];
    }
    const field = fieldOf(model, name);
    if (field.kind !== 'object') return comparisons(`${alias}.${columnName(name)}`, field, wanted, to);
    const below = to.alias();
    const join = joinOf(model, alias, field, below);
    return [
      `exists (select from ${tableOf(field.type)} ${below} where ${join} and ${conditionsOf(field.type, below, wanted as Where, to)})`,
    ];
  });
}

function fieldOf(model: string, name: string): Field {
  const field = models.get(model)?.get(name);
  if (!field) throw new Error(`${model} has no ${name}`);
  return field;
}

function comparisons(left: string, field: Field, wanted: unknown, to: Binds): string[] {
  if (wanted === null) return [`${left} is null`];
  if (typeof wanted !== 'object' || wanted instanceof Date) return [`${left} = ${to.bind(wanted)}`];
  return Object.entries(wanted).flatMap(([operator, value]: [string, unknown]) => {
    if (value === undefined) return [];
    switch (operator) {
      case 'in': {
        const values = value as readonly unknown[];
        return [values.length > 0 ? `${left} in (${values.map((one) => to.bind(one)).join(', ')})` : 'false'];
      }
      case 'not':
        if (value === null) return [`${left} is not null`];
        break;
      case 'gt':
        return [`${left} > ${to.bind(value)}`];
      case 'gte':
        return [`${left} >= ${to.bind(value)}`];
      case 'lt':
        return [`${left} < ${to.bind(value)}`];
      case 'lte':
        return [`${left} <= ${to.bind(value)}`];
    }
    throw new Error(`a read does not know the condition ${operator} on ${field.name}`);
  });
}

/** How a row and what it refers to belong together: by the platform and the id. */
function joinOf(model: string, alias: string, field: Field, below: string): string {
  const own = field.relationFromFields ?? [];
  const [from, to, names] =
    own.length > 0
      ? [alias, below, own]
      : [
          below,
          alias,
          [...(models.get(field.type)?.values() ?? [])].find((other) => other.relationName === field.relationName)
            ?.relationFromFields ?? [],
        ];
  if (names.length !== 2) throw new Error(`a read does not know how ${model}.${field.name} is joined`);
  return `${to}.platform_id = ${from}.${columnName(names[0] ?? '')} and ${to}.id = ${from}.${columnName(names[1] ?? '')}`;
}

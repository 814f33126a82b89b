import { getDatamodel } from './generated/pothos.ts';
import { columnName } from './rows.ts';

/** A query as Prisma takes it, as far as REST's lists and single records go: what is not understood throws. */
export interface Arguments {
  readonly where?: Where;
  readonly select?: Selection;
  readonly include?: Selection;
  readonly orderBy?: Readonly<Record<string, 'asc' | 'desc'>>;
  readonly take?: number;
}

const understood: ReadonlySet<string> = new Set(['where', 'select', 'include', 'orderBy', 'take']);

type Selection = Readonly<Record<string, boolean | Arguments | undefined>>;
type Where = Readonly<Record<string, unknown>>;

/** How a row comes back: its columns in order, and how each becomes what Prisma would have answered. */
export type Shape = readonly Column[];
export type Column =
  | { readonly name: string; readonly as: 'itself' | 'bigint' | 'date' | 'decimal' }
  | { readonly name: string; readonly as: 'row' | 'rows'; readonly shape: Shape }
  /** It is in the conditions, so it is not read. */
  | { readonly name: string; readonly as: 'known'; readonly value: unknown };

export interface SelectStatement {
  /** One row with one column: the rows as a JSON array of arrays, or null where there are none. */
  readonly text: string;
  readonly values: readonly unknown[];
  readonly shape: Shape;
}

interface Field {
  readonly name: string;
  readonly kind: string;
  readonly type: string;
  readonly isList: boolean;
  readonly relationName?: string | undefined;
  readonly relationFromFields?: readonly string[] | undefined;
}

interface Model {
  readonly table: string;
  readonly fields: ReadonlyMap<string, Field>;
  readonly scalars: readonly Field[];
}

const modelsByName: ReadonlyMap<string, Model> = new Map(
  Object.entries(getDatamodel().datamodel.models).map(([name, { fields }]) => [
    name,
    {
      table: `"${snake(name)}"`,
      fields: new Map(fields.map((field) => [field.name, field])),
      scalars: fields.filter((field) => field.kind !== 'object'),
    },
  ]),
);

/** Every noun is referred to by this key (prisma/schema.prisma): a reference across platforms cannot be written. */
const key = ['platformId', 'id'] as const;

/**
 * The statement that reads what `args` asks of a model, with its relations, however deep, in one.
 * @throws Error for a part of Prisma's language that is not understood here: nothing is left out in silence
 */
export function selectStatement(model: string, args: Arguments): SelectStatement {
  const { row, shape, values } = rowOf(modelOf(model), args);
  const statement = new Statement(values);
  const rows = statement.rows(modelOf(model), 't', args, row);
  return { text: `select json_agg(r)::text from (${rows}) s`, values: statement.values, shape };
}

/** The statement that counts what `args` matches, up to its `take`: one row with one column. */
export function countStatement(
  model: string,
  args: Pick<Arguments, 'where' | 'take'>,
): { readonly text: string; readonly values: readonly unknown[] } {
  const statement = new Statement();
  const rows = statement.rows(modelOf(model), 't', args, 'true');
  return { text: `select count(*)::int from (${rows}) s`, values: statement.values };
}

interface Row {
  readonly row: string;
  readonly shape: Shape;
  /** What relations below it are asked with. */
  readonly values: readonly unknown[];
}

function rowOf(model: Model, args: Arguments): Row {
  const statement = new Statement();
  return { ...statement.columns(model, 't', args, platformIn(args.where)), values: statement.values };
}

/**
 * The platform of all rows that match, where the conditions name one: its id, that of every row and of all that belongs to
 * it, is a third of what a row of few columns has, and need not come from the database.
 */
function platformIn(where: Where = {}): string | undefined {
  const pair: Where = Object(where[key.join('_')]);
  const { platformId = pair.platformId, AND } = where;
  if (typeof platformId === 'string') return platformId;
  for (const condition of [AND ?? []].flat()) {
    const found = platformIn(condition as Where);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A statement in the making: its values so far, and how many relations it has named. */
class Statement {
  readonly values: unknown[];
  #aliases = 0;

  /** @param values of what is in the statement already */
  constructor(values: readonly unknown[] = []) {
    this.values = [...values];
  }

  /** What the `select` or `include` asks of a row, as one JSON array. */
  columns(model: Model, alias: string, args: Arguments, platformId?: string): { row: string; shape: Shape } {
    const expressions: string[] = [];
    const shape: Column[] = [];
    const scalar = (field: Field) => {
      if (field.name === 'platformId' && platformId !== undefined) {
        shape.push({ name: field.name, as: 'known', value: platformId });
        return;
      }
      expressions.push(scalarJson(alias, field));
      shape.push({ name: field.name, as: revivalOf(field) });
    };
    if (!args.select) for (const field of model.scalars) scalar(field);
    for (const [name, wanted] of Object.entries(args.select ?? args.include ?? {})) {
      if (wanted === false || wanted === undefined) continue;
      const field = fieldOf(model, name);
      if (field.kind !== 'object') {
        scalar(field);
        continue;
      }
      const relation = this.#relation(model, alias, field, wanted === true ? {} : wanted, platformId);
      expressions.push(relation.row);
      shape.push({ name, as: field.isList ? 'rows' : 'row', shape: relation.shape });
    }
    return { row: `json_build_array(${expressions.join(', ')})`, shape };
  }

  /** The rows that `args` asks for, in its order, each as `row`. */
  rows(model: Model, alias: string, args: Arguments, row: string, joined: readonly string[] = []): string {
    for (const name of Object.keys(args)) if (!understood.has(name)) throw new Error(`a read does not know ${name}`);
    const conditions = [...joined, ...this.#conditions(model, alias, args.where ?? {})];
    const order = Object.entries(args.orderBy ?? {}).map(
      ([name, direction]) => `${column(alias, fieldOf(model, name))} ${direction === 'asc' ? 'asc' : 'desc'}`,
    );
    return [
      `select ${row} as r from ${model.table} ${alias}`,
      conditions.length > 0 && `where ${conditions.join(' and ')}`,
      order.length > 0 && `order by ${order.join(', ')}`,
      // Written out rather than given: the planner must know that a page is short.
      args.take !== undefined && `limit ${Math.trunc(args.take)}`,
    ]
      .filter((part) => part !== false)
      .join(' ');
  }

  #relation(
    model: Model,
    alias: string,
    field: Field,
    args: Arguments,
    platformId?: string,
  ): { row: string; shape: Shape } {
    const target = modelOf(field.type);
    const below = this.#alias();
    const join = joinOf(model, alias, field, target, below);
    const { row, shape } = this.columns(target, below, args, join.withinPlatform ? platformId : undefined);
    const rows = this.rows(target, below, args, row, join.conditions);
    return { row: field.isList ? `(select coalesce(json_agg(r), '[]') from (${rows}) s)` : `(${rows} limit 1)`, shape };
  }

  #conditions(model: Model, alias: string, where: Where): string[] {
    return Object.entries(where).flatMap(([name, wanted]) => {
      if (wanted === undefined) return [];
      if (name === 'AND') return [wanted].flat().flatMap((one) => this.#conditions(model, alias, one as Where));
      if (name === 'OR') return [this.#anyOf(model, alias, wanted as Where[])];
      // The name that Prisma gives to a key of two columns, with both inside.
      if (name === key.join('_')) return this.#conditions(model, alias, wanted as Where);
      const field = fieldOf(model, name);
      if (field.kind === 'object') return [this.#exists(model, alias, field, wanted as Where)];
      return this.#comparison(alias, field, wanted);
    });
  }

  #anyOf(model: Model, alias: string, alternatives: readonly Where[]): string {
    const each = alternatives.map((one) => `(${this.#conditions(model, alias, one).join(' and ') || 'true'})`);
    return each.length > 0 ? `(${each.join(' or ')})` : 'false';
  }

  #exists(model: Model, alias: string, field: Field, where: Where): string {
    const target = modelOf(field.type);
    const below = this.#alias();
    const { conditions: join } = joinOf(model, alias, field, target, below);
    const conditions = [...join, ...this.#conditions(target, below, where)];
    return `exists (select from ${target.table} ${below} where ${conditions.join(' and ')})`;
  }

  #comparison(alias: string, field: Field, wanted: unknown): string[] {
    const left = column(alias, field);
    if (wanted === null) return [`${left} is null`];
    if (typeof wanted !== 'object' || wanted instanceof Date) return [`${left} = ${this.#value(wanted)}`];
    return Object.entries(wanted).flatMap(([operator, value]: [string, unknown]) => {
      if (value === undefined) return [];
      switch (operator) {
        case 'in':
          return [this.#oneOf(left, value as readonly unknown[])];
        case 'not':
          if (value === null) return [`${left} is not null`];
          break;
        case 'gt':
          return [`${left} > ${this.#value(value)}`];
        case 'gte':
          return [`${left} >= ${this.#value(value)}`];
        case 'lt':
          return [`${left} < ${this.#value(value)}`];
        case 'lte':
          return [`${left} <= ${this.#value(value)}`];
      }
      throw new Error(`a read does not know the condition ${operator} on ${field.name}`);
    });
  }

  /** Written out, so that Postgres knows the type of each from its column. */
  #oneOf(left: string, values: readonly unknown[]): string {
    return values.length > 0 ? `${left} in (${values.map((value) => this.#value(value)).join(', ')})` : 'false';
  }

  #value(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  #alias(): string {
    this.#aliases += 1;
    return `t${this.#aliases}`;
  }
}

interface Join {
  readonly conditions: readonly string[];
  /** Whether both rows are the same platform's: a payment between platforms links two. */
  readonly withinPlatform: boolean;
}

function joinOf(model: Model, alias: string, field: Field, target: Model, below: string): Join {
  const [from, to, fields] =
    field.relationFromFields && field.relationFromFields.length > 0
      ? [alias, below, { from: model, names: field.relationFromFields }]
      : [below, alias, backReference(field, target)];
  if (fields.names.length !== key.length) throw new Error(`a read does not know how ${field.name} is joined`);
  const conditions = key.map(
    (name, at) => `${to}.${columnName(name)} = ${column(from, fieldOf(fields.from, fields.names[at] ?? ''))}`,
  );
  return { conditions, withinPlatform: fields.names[0] === key[0] };
}

/** The other end of a relation, where the columns are. */
function backReference(field: Field, target: Model): { from: Model; names: readonly string[] } {
  for (const { relationName, relationFromFields } of target.fields.values()) {
    if (relationName === field.relationName && relationFromFields && relationFromFields.length > 0) {
      return { from: target, names: relationFromFields };
    }
  }
  throw new Error(`a read does not know how ${field.name} is joined`);
}

function modelOf(name: string): Model {
  const model = modelsByName.get(name);
  if (!model) throw new Error(`there is no model ${name}`);
  return model;
}

function fieldOf(model: Model, name: string): Field {
  const field = model.fields.get(name);
  if (!field) throw new Error(`a read does not know ${name} of ${model.table}`);
  return field;
}

function column(alias: string, field: Field): string {
  return `${alias}.${columnName(field.name)}`;
}

/** A column in JSON: what JSON's numbers cannot hold exactly goes as text. */
function scalarJson(alias: string, field: Field): string {
  const exact = field.type === 'BigInt' || field.type === 'Decimal';
  return exact ? `${column(alias, field)}::text` : column(alias, field);
}

function revivalOf(field: Field): 'itself' | 'bigint' | 'date' | 'decimal' {
  switch (field.type) {
    case 'BigInt':
      return 'bigint';
    case 'DateTime':
      return 'date';
    case 'Decimal':
      return 'decimal';
    case 'Bytes':
      throw new Error(`a read does not know the bytes of ${field.name}`);
    default:
      return 'itself';
  }
}

/** `RailOrder` is `rail_order`. */
function snake(name: string): string {
  return columnName(name).slice(1);
}

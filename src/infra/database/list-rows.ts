import { LRUCache } from 'lru-cache';
import { type Binding, conditionsOf, fieldsOfModel, literalNames, tableOf, type Where } from './conditions.ts';
import type { Planning } from './connections/read-scope.ts';
import { columnName, fieldName } from './rows.ts';

// The index on the field that restricts a list (to an account, a customer or a reference) finds the list's rows
// quickly, even if the platform has many rows. Left to itself, Postgres may use another index, such as the one on all
// payments by time, and read it to the end for an account with few payments. To prevent this, the other conditions are
// wrapped in `(…) is true`, and if the index is not in the list's order, the rows are sorted after `offset 0`.

/** Selective fields: each value matches few of a platform's rows. True if the field's index sorts those rows by id. */
const finders: Readonly<Record<string, Readonly<Record<string, boolean>>>> = {
  Account: { customerId: true },
  ClientToken: { ownerId: false },
  Customer: { platformCustomerId: true, umaAddress: false },
  Quote: {
    customer: false,
    customerId: true,
    destinationAccountId: true,
    destinationUmaAddress: true,
    sourceAccountId: true,
    transactionId: false,
  },
  Transaction: {
    customer: false,
    customerId: true,
    destinationAccountId: true,
    destinationUmaAddress: true,
    reference: false,
    sourceAccountId: true,
    sourceUmaAddress: true,
  },
};

/** An entry in a `where`: a field name or `OR`, and its condition. */
type Condition = readonly [name: string, value: unknown];

export interface ListRows {
  readonly model: string;
  readonly alias: string;
  readonly where: object;
  /** SQL conditions that find a parent's rows. Each can use an index in the list's order. */
  readonly below?: readonly string[] | undefined;
  readonly order?:
    | { readonly columns: readonly string[]; readonly read: 'asc' | 'desc'; readonly limit: number }
    | undefined;
}

interface Way {
  readonly found: string;
  readonly rest: string;
  readonly isOrdered: boolean;
  /** The referenced rows, if they are looked up first, and the column that refers to them. */
  readonly through?: { readonly column: string; readonly ids: string } | undefined;
}

/** Writes a comparison that Postgres expects to match few rows, so that it uses the index instead of a table scan. */
export function oneOfFew(alias: string, column: string, value: string): string {
  return `${alias}.${column} = ${value} and ${alias}.${column} between ${value} and ${value}`;
}

interface Written {
  readonly text: string;
  /** The query's parameters. A number is a position in `values`, and a boolean is the value itself. */
  readonly parameters: readonly (number | boolean)[];
  readonly aliases: number;
  readonly planning: Planning;
}

/** Caches the text of queries, because composing it takes longer than the rest of a read. */
// `max` would allocate the whole cache up front (core/bounded-cache.ts).
const written = new LRUCache<string, Written>({ maxSize: 2_000, sizeCalculation: () => 1 });

/** Writes the FROM clause, with all conditions, for the rows of a list. No row occurs twice. */
export function listRows(list: ListRows, binds: Binding): string {
  const { model, alias, below = [], order } = list;
  const conditions = flattened(list.where as Where);
  const values: unknown[] = [];
  const orderKey = order ? `${order.columns} ${order.read} ${order.limit}` : '';
  const [start, before] = [binds.values.length, binds.planning];
  const key = [model, alias, start, binds.aliases, orderKey, ...below, shapeOf(conditions, values)].join('|');
  let query = written.get(key);
  if (query) {
    for (const one of query.parameters) binds.bind(typeof one === 'boolean' ? one : values[one]);
    binds.aliases = query.aliases;
  } else {
    binds.planning = undefined;
    const text = writeRows(list, conditions, binds);
    const parameters = binds.values.slice(start).map((one) => (typeof one === 'boolean' ? one : values.indexOf(one)));
    query = { text, parameters, aliases: binds.aliases, planning: binds.planning };
    if (!parameters.includes(-1)) written.set(key, query);
  }
  binds.planning = query.planning === 'anew' ? 'anew' : (before ?? query.planning);
  return query.text;
}

/** Returns a description of everything that determines the conditions' text, and adds each value to `values` once. */
function shapeOf(conditions: readonly Condition[], values: unknown[]): string {
  let shape = '';
  for (const [name, value] of conditions)
    shape += `${name}:${valueShape(value, values)}${literalNames.has(name) ? String(value) : ''},`;
  return shape;
}

function valueShape(value: unknown, values: unknown[]): string {
  if (value === null || value === undefined || typeof value === 'boolean') return String(value);
  if (typeof value !== 'object' || value instanceof Date) {
    // If equal values were added twice, it would be unclear which of them a parameter stands for.
    const same = values.indexOf(value);
    if (same >= 0) return `=${same}`;
    values.push(value);
    return typeof value;
  }
  if (!Array.isArray(value)) return `{${shapeOf(Object.entries(value), values)}}`;
  const items = value.some((one) => typeof one === 'object') ? value : [...new Set(value)];
  return `[${items.map((one) => valueShape(one, values)).join()}]`;
}

function writeRows(list: ListRows, conditions: readonly Condition[], binds: Binding): string {
  const { model, alias, below = [] } = list;
  // A list of a parent's rows always uses the same index, so one plan serves all parents. Left to itself, Postgres
  // would plan each list again, and planning twenty lists takes ten times as long as running them.
  if (below.length > 0) binds.planning ??= 'once';
  const platform = conditions.find(([name]) => name === 'platformId');
  const { choices, used } = below.length > 0 || !platform ? nothingChosen : choose(model, conditions);
  if (choices.length === 0 && (below.length === 0 || (below.length === 1 && !finders[model]))) {
    const all = [...below, textOf(model, alias, conditions, binds, below.length > 0)];
    return `${tableOf(model)} ${alias} where ${all.join(' and ')}`;
  }
  const platformId = binds.bind(platform?.[1]);
  const own = `${alias}.platform_id = ${platformId}`;
  const ways = [
    ...below.map((found): Way => ({ found, rest: 'true', isOrdered: true })),
    ...choices.map((choice) => wayOf(model, alias, choice, platformId, binds)),
  ];
  const others = conditions.filter((one) => one !== platform && !used.has(one));
  // A customer's few internal accounts have a separate index, in a different order.
  const isInternal = ([name, value]: Condition) => model === 'Account' && name === 'kind' && value === 'INTERNAL';
  const isInIndex = (one: Condition) => one[0] === keyFieldOf(list) || isInternal(one);
  const range = textOf(model, alias, others.filter(isInIndex), binds);
  const unindexed = others.filter((one) => !isInIndex(one));
  const rest = restOf(model, alias, unindexed, platformId, binds);
  const complete = ways.map((way) => ({
    ...way,
    found: `${own} and ${way.found} and ${range}`,
    rest: `${rest} and ${way.rest}`,
    isOrdered: way.isOrdered && !others.some(isInternal),
  }));
  return fromWays(list, own, complete);
}

/** Returns the field whose index can be read from a cursor onward: the order's only field, or else the id. */
function keyFieldOf({ order }: ListRows): string {
  const [column = 'id', ...more] = order?.columns ?? [];
  return more.length === 0 ? fieldName(column) : 'id';
}

function textOf(model: string, alias: string, conditions: readonly Condition[], binds: Binding, isNarrow = true) {
  return conditionsOf(model, alias, { AND: conditions.map((one) => Object.fromEntries([one])) }, binds, isNarrow);
}

/** Writes the remaining conditions. If all listed rows refer to the same row, conditions on it are tested only once. */
function restOf(
  model: string,
  alias: string,
  conditions: readonly Condition[],
  platformId: string,
  binds: Binding,
): string {
  const texts = conditions.map((condition) => {
    const [name, value] = condition;
    const id = idOfNamed(model, condition, conditions);
    if (id !== undefined) return namedRow(model, condition, id, platformId, binds);
    if (name !== 'OR') return textOf(model, alias, [condition], binds);
    const parts = (value as Where[]).map((part) => restOf(model, alias, flattened(part), platformId, binds));
    return parts.length > 0 ? `(${parts.map((part) => `(${part})`).join(' or ')})` : 'false';
  });
  return texts.join(' and ') || 'true';
}

function namedRow(model: string, [name, value]: Condition, id: string, platformId: string, binds: Binding): string {
  const { type } = fieldsOfModel(model).get(name) ?? { type: '' };
  const row = binds.alias();
  const conditions = conditionsOf(type, row, value as Where, binds, true);
  return `exists (select from ${tableOf(type)} ${row} where ${row}.platform_id = ${platformId} and ${row}.id = ${binds.bind(id)} and ${conditions})`;
}

function flattened(where: Where, conditions: Condition[] = []): Condition[] {
  for (const [name, value] of Object.entries(where)) {
    if (name === 'AND') for (const part of [value].flat()) flattened(part as Where, conditions);
    else if (value !== undefined && !conditions.some(([other, same]) => other === name && same === value))
      conditions.push([name, value]);
  }
  return conditions;
}

interface Chosen {
  readonly choices: readonly (readonly Condition[])[];
  readonly used: ReadonlySet<Condition>;
}

const nothingChosen: Chosen = { choices: [], used: new Set() };

/** Chooses the conditions that use an index to find rows: selective ones, or an OR whose branches are all selective. */
function choose(model: string, conditions: readonly Condition[]): Chosen {
  const finds = ([name, value]: Condition) =>
    finders[model]?.[name] !== undefined &&
    (typeof value === 'string' || fieldsOfModel(model).get(name)?.kind === 'object');
  if (conditions.some(([name, value]) => name === 'id' && typeof value === 'string')) return nothingChosen;
  const finding = conditions.filter(finds);
  if (finding.length > 0) {
    const choice = [...finding, ...conditions.filter((one) => idOfNamed(model, one, finding) !== undefined)];
    return { choices: [[...new Set(choice)]], used: new Set(choice) };
  }
  for (const condition of conditions) {
    if (condition[0] !== 'OR') continue;
    const choices = (condition[1] as Where[]).map((part) => flattened(part));
    if (choices.every((choice) => choice.some(finds))) return { choices, used: new Set([condition]) };
  }
  return nothingChosen;
}

/** Returns the id of the related row if another of the list's conditions fixes it; otherwise undefined. */
function idOfNamed(model: string, [name]: Condition, others: readonly Condition[]): string | undefined {
  const idField = fieldsOfModel(model).get(name)?.relationFromFields?.at(-1);
  const value = others.find(([other]) => other === idField)?.[1];
  return typeof value === 'string' ? value : undefined;
}

function wayOf(model: string, alias: string, choice: readonly Condition[], platformId: string, binds: Binding): Way {
  const found: string[] = [];
  const rest: string[] = [];
  let isOrdered = false;
  let through: Way['through'];
  for (const condition of choice) {
    const [name, value] = condition;
    const field = fieldsOfModel(model).get(name);
    if (field?.kind !== 'object') {
      const isOrderedFinder = finders[model]?.[name];
      if (isOrderedFinder === undefined) rest.push(textOf(model, alias, [condition], binds));
      else found.push(oneOfFew(alias, columnName(name), binds.bind(value)));
      isOrdered ||= isOrderedFinder === true;
      continue;
    }
    // The related row is the same for the whole list, so it is looked up only once.
    const id = idOfNamed(model, condition, choice);
    if (id !== undefined) {
      rest.push(namedRow(model, condition, id, platformId, binds));
      continue;
    }
    const related = binds.alias();
    const rows = `${tableOf(field.type)} ${related} where ${related}.platform_id = ${platformId} and ${conditionsOf(field.type, related, value as Where, binds, true)}`;
    const column = columnName(field.relationFromFields?.at(-1) ?? '');
    const ids = `select ${related}.id from ${rows}`;
    if (through || choice.some(([other]) => finders[model]?.[other] && other !== name)) {
      rest.push(`${alias}.${column} = any (array(${ids}))`);
    } else through = { column, ids };
  }
  return { found: found.join(' and ') || 'true', rest: rest.join(' and ') || 'true', isOrdered, through };
}

/** Writes the FROM clause for rows found in one or more ways, in the list's order if the index provides it. */
function fromWays(list: ListRows, own: string, ways: readonly Way[]): string {
  const { alias } = list;
  const [first, ...others] = ways;
  if (first && others.length === 0) return fromWay(list, own, first);
  const page = pageOrder(list);
  const parts = ways.map((way, at) => {
    const before = ways.slice(0, at).map((one) => ` and (${isFoundBy(one, alias)}) is not true`);
    const from = fromWay(list, own, { ...way, rest: `${way.rest}${before.join('')}` });
    return `(select ${alias}.* from ${from}${page})`;
  });
  return `(${parts.join(' union all ')}) ${alias} where true`;
}

function pageOrder({ alias, order }: ListRows): string {
  const by = order?.columns.map((column) => `${alias}.${column} ${order.read}`);
  return order && by ? ` order by ${by.join(', ')} limit ${order.limit}` : '';
}

function fromWay(list: ListRows, own: string, { found, rest, isOrdered, through }: Way): string {
  const { model, alias, order } = list;
  const rows = `${tableOf(model)} ${alias} where ${found}`;
  if (through) {
    const { column, ids } = through;
    const referring = `select ${alias}.* from ${rows} and ${oneOfFew(alias, column, 'o.id')} offset 0`;
    return `(select ${alias}.* from (${ids}) o cross join lateral (${referring}) ${alias} offset 0) ${alias} where ${rest}`;
  }
  const matching = `${rows} and (${rest}) is true`;
  if (order === undefined || (isOrdered && order.columns.length === 1)) return matching;
  // Sorts the ids, and then reads only one page's rows. To sort whole rows, Postgres would first copy each of them.
  const ids = `select ${alias}.id from (select ${alias}.* from ${matching} offset 0) ${alias}${pageOrder(list)}`;
  return `${tableOf(model)} ${alias} where ${own} and ${alias}.id = any (array(${ids}))`;
}

function isFoundBy({ found, rest, through }: Way, alias: string): string {
  const refers = through ? ` and ${alias}.${through.column} = any (array(${through.ids}))` : '';
  return `${found}${refers} and ${rest}`;
}

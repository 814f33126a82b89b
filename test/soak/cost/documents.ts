import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { Choices } from '../../oracle/choices.ts';
import { literal } from '../../oracle/documents.ts';
import type { Material } from '../../oracle/material.ts';
import { valueFor } from '../../oracle/values.ts';
import type { Parents } from '../../setup/plans.ts';

/** A schema field, with a function that writes a document requesting it several times. */
export interface Asked {
  readonly name: string;
  /** Selects the field `times` times, with different arguments, on `rows` rows. */
  readonly document: (times: number, rows: number) => string;
}

type Field = GraphQLField<unknown, unknown>;

/**
 * Writes documents that select each field of each type, along the shortest path, and each list with each filter. Root
 * lists are also selected with two and three filters. For a list below a parent, the parent is the one to which all
 * rows belong.
 */
export function askedFields(schema: GraphQLSchema, material: Material, parents: Parents): Asked[] {
  const asked: Asked[] = [];
  const largest = new Map<string, string>(Object.entries(parents));
  for (const [type, shortest] of waysToTypes(schema, material)) {
    for (const field of Object.values(type.getFields())) {
      const parent = field.args.length > 0 ? largest.get(type.name) : undefined;
      const around: Around = parent
        ? (inner) => `{ node(id: "${parent}") { ... on ${type.name} { ${inner} } } }`
        : shortest;
      for (const { name, argumentsOf } of waysToCall(type, field, material, parents)) {
        const call = (time: number) => `a${time}: ${field.name}${argumentsOf(time)}${below(schema, field)}`;
        asked.push({
          name: `${type.name}.${field.name}${name}`,
          document: (times, rows) =>
            around(Array.from({ length: times }, (_none, time) => call(time)).join(' ')).replace('ROWS', String(rows)),
        });
      }
    }
  }
  return asked;
}

/** Writes the document around a field. ROWS stands for the size of the first list. Lists nested in it have 2 rows. */
type Around = (inner: string) => string;

function waysToTypes(schema: GraphQLSchema, material: Material): Map<GraphQLObjectType, Around> {
  const query = schema.getQueryType();
  if (!query) throw new Error('no query');
  const ways = new Map<GraphQLObjectType, Around>([[query, (inner) => `{ ${inner} }`]]);
  // Types that can be reached only through required arguments, such as an id, come after the others.
  for (const isById of [false, true, false])
    for (const [type, around] of ways) {
      for (const field of Object.values(type.getFields())) {
        if (isById !== field.args.some((arg) => isNonNullType(arg.type))) continue;
        const named = getNamedType(field.type);
        const args = writeArguments(type.name, field, material, 2);
        const call = `${field.name}${around('').includes('first:') ? args : args.replace('first: 2', 'first: ROWS')}`;
        for (const one of isAbstractType(named) ? schema.getPossibleTypes(named) : [named]) {
          if (!isObjectType(one) || ways.has(one)) continue;
          const isFragment = one !== named;
          ways.set(one, (inner) =>
            around(`${call} { ${isFragment ? `__typename ... on ${one.name} { ${inner} }` : inner} }`),
          );
        }
      }
    }
  return ways;
}

/** Yields the ways to select a field: with only its required arguments and, for a list, with each filter and order. */
function* waysToCall(type: GraphQLObjectType, field: Field, material: Material, parents: Parents) {
  const wayOf = (given?: string) => ({
    name: given === undefined ? '' : `(${given})`,
    argumentsOf: (time: number) => writeArguments(type.name, field, material, 1, time, given),
  });
  yield wayOf();
  if (field.args.some(({ name }) => name === 'orderBy')) yield wayOf('orderBy: UPDATED');
  const filter = field.args.find(({ name }) => name === 'filter');
  const filterType = filter && getNullableType(filter.type);
  if (!isInputObjectType(filterType)) return;
  for (const values of filtersOf(filterType, type.name === 'Query', material, parents))
    yield wayOf(`filter: ${literal(values, filterType)}`);
}

/** Yields filters on one field, with each of its values, and on two or three fields, with values from both halves. */
function* filtersOf(type: GraphQLInputObjectType, isRoot: boolean, material: Material, parents: Parents) {
  const fields = Object.values(type.getFields());
  const known: Readonly<Record<string, unknown>> = { customerId: parents.Customer, accountId: parents.ExternalAccount };
  const valueIn = (at: number, half: 0 | 1): Readonly<Record<string, unknown>> => {
    const field = fields[at % fields.length];
    if (!field) return {};
    const value = halves[type.name]?.[field.name]?.[half] ?? known[field.name];
    return { [field.name]: value ?? example(type.name, field.name, field.type, material) };
  };
  for (const [at, { name, type: of }] of fields.entries()) {
    const [older, newer] = halves[type.name]?.[name] ?? [];
    yield valueIn(at, 0);
    if (newer !== undefined) yield valueIn(at, 1);
    if (Array.isArray(older) && Array.isArray(newer)) yield { [name]: [...older, ...newer] };
    if (getNamedType(of).name === 'String')
      for (const value of ['nobody', '$nobody@nowhere.example']) yield { [name]: value };
    if (!isRoot) continue;
    for (let other = at + 1; other < fields.length; other += 1) yield { ...valueIn(at, 0), ...valueIn(other, 1) };
    if (fields.length > 2) yield { ...valueIn(at, 0), ...valueIn(at + 1, 1), ...valueIn(at + 2, 0) };
  }
}

/** Writes the required arguments, the page size, and an argument that makes this call different from the others. */
function writeArguments(
  owner: string,
  field: Field,
  material: Material,
  first: number,
  time?: number,
  given?: string,
): string {
  const written = given === undefined ? [] : [given];
  for (const arg of field.args) {
    if (written.some((one) => one.startsWith(`${arg.name}:`))) continue;
    const value = argumentOf(owner, field, arg, material, first, time);
    if (value !== undefined) written.push(`${arg.name}: ${literal(value, arg.type)}`);
  }
  return written.length === 0 ? '' : `(${written.join(', ')})`;
}

function argumentOf(
  owner: string,
  field: Field,
  { name, type }: GraphQLArgument,
  material: Material,
  first: number,
  time = 0,
): unknown {
  if (name === 'first') return first + time;
  if (name === 'filter' && time > 0 && hasField(type, 'createdAfter'))
    return { createdAfter: new Date(Date.UTC(1990, 0, time)).toISOString() };
  if (name === 'from') return new Date(Date.UTC(1990, 0, 1 + time)).toISOString();
  if (name === 'to') return new Date(Date.UTC(2090, 0, 1 + time)).toISOString();
  if (!isNonNullType(type)) return undefined;
  if (name === 'requestId') return 'nobody';
  return valueFor(`${owner}.${field.name}`, name, type, new Choices([]), material);
}

/** Returns a value that matches some row; for an input object, such a value for each of its fields. */
function example(owner: string, name: string, type: GraphQLInputType, material: Material): unknown {
  const nullable = getNullableType(type);
  if (!isInputObjectType(nullable)) return valueFor(owner, name, type, new Choices([]), material);
  const fields = Object.values(nullable.getFields());
  return Object.fromEntries(
    fields.map((field) => [field.name, example(nullable.name, field.name, field.type, material)]),
  );
}

function hasField(type: GraphQLInputType, name: string): boolean {
  const nullable = getNullableType(type);
  return isInputObjectType(nullable) && nullable.getFields()[name] !== undefined;
}

/** Selects as few fields as possible below a field. */
function below(schema: GraphQLSchema, field: Field): string {
  const type = getNamedType(field.type);
  return isLeafType(type) ? '' : ` { ${least(schema, type)} }`;
}

function least(schema: GraphQLSchema, type: GraphQLNamedType): string {
  if (isInterfaceType(type) && type.getFields().id) return 'id';
  if (!isObjectType(type)) return '__typename';
  const fields = Object.values(type.getFields()).filter(({ args }) => args.length === 0);
  const way = fields.find(({ name }) => name === 'edges' || (name === 'node' && type.name.endsWith('Edge')));
  const field = way ?? fields.find(({ type: of }) => isLeafType(getNamedType(of))) ?? fields[0];
  return field ? `${field.name}${below(schema, field)}` : '__typename';
}

/** A field's value in the older half of the rows, and its value in the newer half. */
type Halves = readonly [older: unknown, newer: unknown];

/**
 * The values that `fillPlatform` gives to rows, by filter type and field. Each value matches half of the rows, so
 * Postgres expects to find a match soon. No row has values from both halves, so with a filter that combines them,
 * Postgres has to examine all rows.
 */
const halves: Readonly<Record<string, Readonly<Record<string, Halves>>>> = {
  TransactionFilter: {
    status: [['COMPLETED'], ['EXPIRED']],
    type: [['INCOMING'], ['OUTGOING']],
    failureReason: [['OFFRAMP_FAILED'], ['QUOTE_EXPIRED']],
    currency: ['USD', 'EUR'],
    amount: [
      { currency: 'USD', min: '0' },
      { currency: 'EUR', min: '0' },
    ],
    executed: [true, false],
  },
  QuoteFilter: { status: [['FAILED'], ['EXPIRED']] },
  CustomerFilter: {
    kycStatus: [['REJECTED'], ['APPROVED']],
    customerType: ['BUSINESS', 'INDIVIDUAL'],
    name: ['Old', 'New'],
  },
  AccountFilter: {
    kind: ['INTERNAL', 'EXTERNAL'],
    currency: ['EUR', 'USD'],
    status: [['UNDER_REVIEW'], ['ACTIVE']],
    accountType: [['PIX'], ['US_ACCOUNT']],
    beneficiaryVerificationStatus: [['NOT_MATCHED'], ['MATCHED']],
  },
  EventFilter: { types: [['KYC_STATUS'], ['CUSTOMER_CHANGE']] },
};

import {
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { mutationName } from '../setup/documents.ts';
import type { Choices } from './choices.ts';
import { type DrawnDocument, moving } from './documents.ts';
import type { Material } from './material.ts';
import { valueFor } from './values.ts';

/** The fields without a value on a platform on which nothing moves, with the reason. */
const withoutValue: Readonly<Record<string, string>> = {
  ...each('no currency of this service requires any fields', [
    'PlatformCurrency.requiredCounterpartyFields',
    'PlatformCurrency.providerRequiredCustomerFields',
    'PlatformCurrency.providerRequiredCounterpartyCustomerFields',
  ]),
  'Event.apiTokenId': 'no token of the scene expires soon',
  ...each('there is no account number: a UMA address, or a payer who is not known yet', [
    'UmaSource.maskedNumber',
    'UmaDestination.maskedNumber',
    'RealtimeFundingSource.maskedNumber',
  ]),
  ...each('what the sandbox names concerns a single payment or account', [
    'BaseWalletInstruction.reference',
    'Layer2WalletInstruction.reference',
    'LightningInstruction.reference',
    'PixInstruction.reference',
    'PolygonWalletInstruction.reference',
    'SolanaWalletInstruction.reference',
    'TronWalletInstruction.reference',
    'UpiInstruction.reference',
  ]),
};

function each(reason: string, fields: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(fields.map((field) => [field, reason]));
}

/**
 * All fields of the object types that a query can reach, as `Type.field`, except fields without a value and those below them.
 */
export function fieldsToSee(schema: GraphQLSchema): readonly string[] {
  return [...waysTo(schema).keys()].flatMap((type) =>
    Object.keys(type.getFields())
      .map((field) => `${type.name}.${field}`)
      .filter((field) => !moving.has(field) && !(field in withoutValue)),
  );
}

/**
 * Returns the entries in the lists of exceptions that are no longer needed: the field was seen with a value, or does
 * not exist.
 */
export function needlessExceptions(schema: GraphQLSchema, seen: ReadonlySet<string>): readonly string[] {
  return [...Object.keys(withoutValue), ...moving].filter((name) => {
    const [typeName = '', field = ''] = name.split('.');
    const type = schema.getType(typeName);
    return seen.has(name) || !isObjectType(type) || !(field in type.getFields());
  });
}

type Field = GraphQLField<unknown, unknown>;
/** The fields that lead to a type, each with the type of the object that has it. */
type Way = readonly { readonly field: Field; readonly on: GraphQLObjectType }[];

/** How many paths to a type are tried. */
const mostWays = 8;

/**
 * Returns the paths from the query to each type, the shortest first; paths through lists before those to a single
 * object.
 */
function waysTo(schema: GraphQLSchema): ReadonlyMap<GraphQLObjectType, readonly Way[]> {
  const query = schema.getQueryType();
  if (!query) throw new Error('the schema has no query');
  const known = new Map<GraphQLObjectType, Way[]>([[query, [[]]]]);
  const queue: { readonly type: GraphQLObjectType; readonly way: Way }[] = [{ type: query, way: [] }];
  for (const { type, way } of queue) {
    const open = Object.values(type.getFields()).filter(({ name }) => !(`${type.name}.${name}` in withoutValue));
    const fields = open.sort((one, other) => Number(isMany(other)) - Number(isMany(one)));
    for (const field of fields) {
      const named = getNamedType(field.type);
      const types = isAbstractType(named) ? schema.getPossibleTypes(named) : isObjectType(named) ? [named] : [];
      for (const next of types) {
        const ways = known.get(next) ?? [];
        if (ways.length >= mostWays || way.some(({ on }) => on === next)) continue;
        const longer = [...way, { field, on: type }];
        known.set(next, [...ways, longer]);
        queue.push({ type: next, way: longer });
      }
    }
  }
  return known;
}

const isMany = ({ name, args }: Field) => name === 'nodes' || args.some((arg) => arg.name === 'first');

/**
 * Writes documents that select the missing fields, by each path to their types: first without optional arguments, later
 * with any of them. Meanwhile the caller can remove fields from `missing` that it has seen.
 */
export function* directedDocuments(
  schema: GraphQLSchema,
  missing: ReadonlySet<string>,
  choices: Choices,
  material: Material,
): Generator<DrawnDocument & { readonly isPlain: boolean }> {
  let turn = 0;
  for (const isPlain of [true, ...Array.from({ length: 9 }, () => false)]) {
    for (const [type, ways] of waysTo(schema)) {
      for (let attempt = 0; attempt < (isPlain ? ways.length : mostWays); attempt++) {
        const way = ways[attempt % ways.length] ?? [];
        const fields = Object.values(type.getFields()).filter(({ name }) => missing.has(`${type.name}.${name}`));
        if (fields.length === 0) break;
        turn += 1;
        yield { ...new DirectedWriter(choices, material, isPlain, turn).document(way, type, fields), isPlain };
      }
    }
  }
}

class DirectedWriter {
  readonly #choices: Choices;
  readonly #material: Material;
  readonly #isPlain: boolean;
  readonly #variables: Record<string, unknown> = {};
  readonly #declared: string[] = [];
  readonly #receipt: Readonly<Record<string, string>>;

  constructor(choices: Choices, material: Material, isPlain: boolean, turn: number) {
    this.#choices = choices;
    this.#material = material;
    this.#isPlain = isPlain;
    const [operation = '', idempotencyKey = ''] = material.keys[turn % material.keys.length] ?? [];
    this.#receipt = { operation: mutationName(operation), idempotencyKey };
  }

  document(way: Way, target: GraphQLObjectType, fields: readonly Field[]): DrawnDocument {
    let selection = fields.map((field) => this.#call(field, target)).join(' ');
    let below = target;
    for (const { field, on } of way.toReversed()) {
      const isFragment = isAbstractType(getNamedType(field.type));
      const inner = isFragment ? `... on ${below.name} { ${selection} }` : selection;
      selection = `${field.name}${this.#arguments(field, on, below)} { ${inner} }`;
      below = on;
    }
    const declared = this.#declared.length > 0 ? `(${this.#declared.join(', ')})` : '';
    return {
      query: `query Directed${declared} { ${selection} }`,
      operationName: 'Directed',
      variables: [this.#variables],
      roots: [way[0]?.field.name ?? ''],
    };
  }

  #call(field: Field, on: GraphQLObjectType): string {
    const call = `${field.name}${this.#arguments(field, on, undefined)}`;
    return isCompositeType(getNamedType(field.type)) ? `${call} { __typename }` : call;
  }

  #arguments(field: Field, on: GraphQLObjectType, next: GraphQLObjectType | undefined): string {
    const written = field.args.flatMap(({ name, type }) => {
      if (name === 'first') return on.name === 'Query' ? 'first: 50' : 'first: 3';
      if (['last', 'after', 'before'].includes(name)) return [];
      if (!isNonNullType(type) && (this.#isPlain || !this.#choices.oneIn(3))) return [];
      if (field.name === 'mutationReceipt') return `${name}: ${this.#variable(type, this.#receipt[name])}`;
      return `${name}: ${this.#variable(type, this.#value(`${on.name}.${field.name}`, name, type, next))}`;
    });
    return written.length > 0 ? `(${written.join(', ')})` : '';
  }

  /** A value that leads to objects of the wanted type. */
  #value(owner: string, name: string, type: GraphQLInputType, next: GraphQLObjectType | undefined): unknown {
    const ids = next && this.#material.ids[next.name];
    if (name === 'ids' && ids) {
      // All ids may exceed the cost limit of an operation: each call has a different part of them.
      const from = this.#isPlain ? 0 : this.#choices.below(ids.length);
      return [...ids.slice(from), ...ids.slice(0, from)].slice(0, this.#isPlain ? 100 : 20);
    }
    if (name === 'id' && owner === 'Query.node' && ids) return this.#choices.oneOf(ids);
    return valueFor(owner, name, type, this.#choices, this.#material);
  }

  #variable(type: GraphQLInputType, value: unknown): string {
    const name = `v${this.#declared.length}`;
    this.#declared.push(`$${name}: ${type}`);
    this.#variables[name] = value;
    return `$${name}`;
  }
}

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

/** The fields that have no value in the scene. */
const withoutValue: ReadonlySet<string> = new Set([
  // None of this service's currencies requires any fields.
  'PlatformCurrency.requiredCounterpartyFields',
  'PlatformCurrency.providerRequiredCustomerFields',
  'PlatformCurrency.providerRequiredCounterpartyCustomerFields',
  // No token in the scene expires soon.
  'Event.apiTokenId',
  // These parties have no account number: they have a UMA address, or the payer is not known yet.
  'UmaSource.maskedNumber',
  'UmaDestination.maskedNumber',
  'RealtimeFundingSource.maskedNumber',
  // These addresses, keys and invoices belong to a single payment or account, so they need no reference.
  'BaseWalletInstruction.reference',
  'Layer2WalletInstruction.reference',
  'LightningInstruction.reference',
  'PixInstruction.reference',
  'PolygonWalletInstruction.reference',
  'SolanaWalletInstruction.reference',
  'TronWalletInstruction.reference',
  'UpiInstruction.reference',
]);

/**
 * Returns the fields of the object types that a query can reach, as `Type.field`. Omits fields that have no value or
 * change between reads, and types that can be reached only through fields without a value.
 */
export function fieldsToSee(schema: GraphQLSchema): readonly string[] {
  return [...waysTo(schema).keys()].flatMap((type) =>
    Object.keys(type.getFields())
      .map((field) => `${type.name}.${field}`)
      .filter((field) => !moving.has(field) && !withoutValue.has(field)),
  );
}

/** Returns the exceptions that are not needed because their fields were seen with a value or do not exist. */
export function needlessExceptions(schema: GraphQLSchema, seen: ReadonlySet<string>): readonly string[] {
  return [...withoutValue, ...moving].filter((name) => {
    const [typeName = '', field = ''] = name.split('.');
    const type = schema.getType(typeName);
    return seen.has(name) || !isObjectType(type) || !(field in type.getFields());
  });
}

type Field = GraphQLField<unknown, unknown>;
/** The path to a type: a list of fields, each with the object type to which it belongs. */
type Way = readonly { readonly field: Field; readonly on: GraphQLObjectType }[];

/** The maximum number of paths that are tried for a type. */
const mostWays = 8;

/**
 * Returns the paths from the query to each type: shortest first, and paths through lists before paths through single
 * objects.
 */
function waysTo(schema: GraphQLSchema): ReadonlyMap<GraphQLObjectType, readonly Way[]> {
  const query = schema.getQueryType();
  if (!query) throw new Error('the schema has no query');
  const known = new Map<GraphQLObjectType, Way[]>([[query, [[]]]]);
  const queue: { readonly type: GraphQLObjectType; readonly way: Way }[] = [{ type: query, way: [] }];
  for (const { type, way } of queue) {
    const open = Object.values(type.getFields()).filter(({ name }) => !withoutValue.has(`${type.name}.${name}`));
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
 * Yields documents that select one missing field each, along the paths to its type. With two missing fields, a document
 * could exceed the cost limit, and neither field would be seen. The first documents have no optional arguments except
 * `first`; later ones contain others at random. The caller can remove fields from `missing` between documents.
 */
export function* directedDocuments(
  schema: GraphQLSchema,
  missing: ReadonlySet<string>,
  choices: Choices,
  material: Material,
): Generator<DrawnDocument & { readonly isPlain: boolean }> {
  const waysByType = [...waysTo(schema)];
  let turn = 0;
  for (const isPlain of [true, ...Array.from({ length: 9 }, () => false)]) {
    for (const [type, ways] of waysByType) {
      for (const field of Object.values(type.getFields())) {
        for (let attempt = 0; attempt < (isPlain ? ways.length : mostWays); attempt++) {
          if (!missing.has(`${type.name}.${field.name}`)) break;
          const way = ways[attempt % ways.length] ?? [];
          turn += 1;
          yield { ...directedDocument(way, type, field, { choices, material, isPlain, turn }), isPlain };
        }
      }
    }
  }
}

function directedDocument(
  way: Way,
  target: GraphQLObjectType,
  wanted: Field,
  { choices, material, isPlain, turn }: { choices: Choices; material: Material; isPlain: boolean; turn: number },
): DrawnDocument {
  const variables: Record<string, unknown> = {};
  const declared: string[] = [];
  const [usedBy = '', idempotencyKey = ''] = material.keys[turn % material.keys.length] ?? [];
  const receipt: Readonly<Record<string, string>> = { operation: mutationName(usedBy), idempotencyKey };

  /** Returns an argument's value. Where possible, it leads to objects of the type `next`. */
  const valueTo = (owner: string, name: string, type: GraphQLInputType, next: GraphQLObjectType | undefined) => {
    if (owner === 'Query.mutationReceipt') return receipt[name];
    const ids = next && material.ids[next.name];
    if (name === 'ids' && ids) {
      // All the ids together could exceed an operation's cost limit, so each document gets only some of them.
      const from = isPlain ? 0 : choices.below(ids.length);
      return [...ids.slice(from), ...ids.slice(0, from)].slice(0, isPlain ? 100 : 20);
    }
    if (name === 'id' && owner === 'Query.node' && ids) return choices.oneOf(ids);
    return valueFor(owner, name, type, choices, material);
  };
  const call = (field: Field, on: GraphQLObjectType, next?: GraphQLObjectType) => {
    const written = field.args.flatMap(({ name, type }) => {
      if (name === 'first') return on.name === 'Query' ? 'first: 50' : 'first: 3';
      if (['last', 'after', 'before'].includes(name)) return [];
      if (!isNonNullType(type) && (isPlain || !choices.oneIn(3))) return [];
      const variable = `v${declared.length}`;
      declared.push(`$${variable}: ${type}`);
      variables[variable] = valueTo(`${on.name}.${field.name}`, name, type, next);
      return `${name}: $${variable}`;
    });
    return written.length > 0 ? `${field.name}(${written.join(', ')})` : field.name;
  };

  let selection = `${call(wanted, target)}${isCompositeType(getNamedType(wanted.type)) ? ' { __typename }' : ''}`;
  let below = target;
  for (const { field, on } of way.toReversed()) {
    const isFragment = isAbstractType(getNamedType(field.type));
    selection = `${call(field, on, below)} { ${isFragment ? `... on ${below.name} { ${selection} }` : selection} }`;
    below = on;
  }
  const head = declared.length > 0 ? `(${declared.join(', ')})` : '';
  return { query: `query Directed${head} { ${selection} }`, operationName: 'Directed', variables: [variables] };
}

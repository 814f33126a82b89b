import {
  assertObjectType,
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isLeafType,
  isObjectType,
} from 'graphql';
import { columnOf } from '../../../infra/database/conditions.ts';
import { isConnection, isSearchArgument } from '../limits/list-sizes.ts';
import { computedOfRow, computedOfValue, type Select } from './computed.ts';
import { inJson, type MadeRead, valueFields } from './kinds.ts';
import { type Costs, exposedRead, leaf, plainReadText, type Read, type TypeRead } from './reads.ts';
import { quoted } from './sql.ts';

type Field = GraphQLField<unknown, unknown>;
type Fields = GraphQLObjectType | GraphQLInterfaceType;

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    read?: Read;
    /** How the field is read, as declared by a method in words.ts. */
    made?: MadeRead;
    costs?: Costs;
    /** The database function that computes the same value as `resolve`, from the columns in `select`. */
    sqlFunction?: string;
    /** The column, or the member of a JSON value, that the field exposes. */
    pothosExposedField?: string;
    pothosOptions?: { readonly authScopes?: unknown; readonly select?: unknown; readonly resolve?: unknown };
    /** Whether graphql-js executes the field, in which case no statement reads it. */
    executed?: true;
  }
}

/** Marks a field of any type as executed by graphql-js. Usage: `...executed`. */
export const executed = { extensions: { executed: true } } as const;

/** Marks a field as executed by graphql-js, with a resolver that sends statements. Usage: `...executedRead`. */
export const executedRead = { extensions: { executed: true, costs: 'read' } } as const;

/** Returns the model of a type's rows. The Prisma plug-in stores it in this undocumented extension. */
export function modelOf(type: GraphQLNamedType): string | undefined {
  return type.extensions.pothosPrismaModel as string | undefined;
}

/** Returns how a type's variants are distinguished, and who may see its rows. */
export function typeReadOf(type: GraphQLNamedType): TypeRead | undefined {
  return type.extensions.read as TypeRead | undefined;
}

/** Returns the model of a type's rows, and who may see them. @throws Error if rows of the type cannot be read by id */
export function rowsOf(type: GraphQLNamedType) {
  const [model, visible] = [modelOf(type), typeReadOf(type)?.visible];
  if (!model || !visible)
    throw new Error(`a field reads rows of ${type}, which has no table, or no rule for who may see its rows`);
  return { model, visible };
}

/** Returns the column and value that identify a type's rows in a table shared by all types of an interface. */
export function variantOf(type: GraphQLObjectType): readonly [column: string, value: string] | undefined {
  for (const { variants } of type.getInterfaces().map((one) => typeReadOf(one) ?? {})) {
    const [value] = Object.entries(variants?.types ?? {}).find(([, name]) => name === type.name) ?? [];
    if (variants && value !== undefined) return [variants.by, value];
  }
  return undefined;
}

/**
 * Derives the reads of all fields from the declarations in the schema files: exposed columns, methods in words.ts,
 * and `select` with `resolve`. Stores them in the fields' extensions.
 * @throws Error for a field that can be neither read nor executed, and for a type whose rows can be read by id although
 *   no rule says who may see them
 */
export function derive(schema: GraphQLSchema): void {
  const types = Object.values(schema.getTypeMap()).filter((type) => isObjectType(type) || isInterfaceType(type));
  const read = new Set<GraphQLNamedType>();
  for (const type of types) if (isObjectType(type) && modelOf(type)) deriveType(schema, type, read);
  for (const type of types) {
    for (const field of Object.values(type.getFields())) {
      deriveMade(type, field);
      if (field.extensions.read && !isInterfaceType(type)) deriveBelow(schema, field, read);
      requireRules(schema, field);
    }
  }
  const query = schema.getQueryType();
  for (const field of Object.values(query?.getFields() ?? {}))
    if (!field.extensions.read && !field.extensions.executed) throw notReadable(`Query.${field.name}`);
  for (const type of types) for (const field of Object.values(type.getFields())) price(schema, type, field);
}

function deriveType(schema: GraphQLSchema, type: GraphQLObjectType, read: Set<GraphQLNamedType>): void {
  if (read.has(type) || isConnection(type)) return;
  read.add(type);
  for (const field of Object.values(type.getFields())) {
    if (field.extensions.executed) continue;
    deriveMade(type, field);
    if (!field.extensions.read) setRead(field, readOf(type, field));
    deriveBelow(schema, field, read);
  }
}

function deriveMade(type: Fields, field: Field): void {
  const made: MadeRead | undefined = field.extensions.made;
  if (made && !field.extensions.read) setRead(field, made({ model: modelOf(type), field }));
}

/** Stores a field's read. graphql-js copies extensions for each type it creates, so no other schema shares them. */
function setRead(field: Field, read: Read): void {
  Object.assign(field.extensions, { read });
}

function deriveBelow(schema: GraphQLSchema, field: Field, read: Set<GraphQLNamedType>): void {
  const type = getNamedType(field.type);
  for (const one of isAbstractType(type) ? schema.getPossibleTypes(type) : [type])
    if (isObjectType(one)) deriveType(schema, one, read);
}

function readOf(type: GraphQLObjectType, field: Field): Read {
  const model = modelOf(type);
  const { pothosExposedField: exposed, pothosOptions: { select, resolve } = {} } = field.extensions;
  const own = valueFields[type.name]?.[field.name];
  if (own) return own;
  if (exposed !== undefined) {
    if (isCompositeType(getNamedType(field.type))) return inJson(exposed)({ model, field });
    if (model !== undefined && columnOf(model, exposed) === undefined)
      throw new Error(`${model} has no column ${exposed}`);
    return exposedRead(field, exposed);
  }
  // A public id, which the relay plug-in derives from the row's own id.
  if (model !== undefined && field.name === 'id' && typeReadOf(type)?.visible)
    return leaf(({ row }) => quoted(`${row}.id`, `${type.name}:`));
  if (typeof resolve !== 'function' || !isLeafType(getNamedType(field.type)))
    throw notReadable(`${type.name}.${field.name}`);
  // The field's builder has checked that the resolver accepts its row or JSON value.
  if (model === undefined) return computedOfValue(field, resolve as never);
  if (typeof select !== 'object' || select === null) throw notReadable(`${type.name}.${field.name}`);
  return computedOfRow(model, field, select as Select, resolve as never);
}

function notReadable(field: string): Error {
  return new Error(
    `no statement can read ${field}: expose a column, use a method in reading/words.ts, or declare \`select\` along with \`resolve\`; mark it as \`executed\` if graphql-js is to resolve it`,
  );
}

function requireRules(schema: GraphQLSchema, { extensions: { read } }: Field): void {
  if (read?.kind !== 'node') return;
  for (const one of read.types) rowsOf(assertObjectType(schema.getType(one)));
}

/**
 * The price of a field, depending on how it is read. A plain field of a row costs 1. `npm run soak -- cost` compares
 * the prices with the time that Postgres takes.
 */
const prices: Readonly<Record<Costs | 'list', number>> = {
  /** A list of a parent's rows. The price is charged once for each way of finding them. */
  list: 80,
  /** Values from other rows or from Postgres functions. The price is charged per query and per row. */
  rows: 10,
  /** Values from other rows, read for each of a payment's legs. */
  legs: 20,
  /** A row as it was after a change, which Postgres reconstructs from the current row and the event. */
  past: 80,
  /** A read with its own plan: a field of the query type, or a field whose resolver sends statements. */
  read: 300,
  /** Counting all matching rows, of which there may be some 30,000. */
  all: 4_000,
  /** Adding up the amounts of all matching rows. */
  sums: 9_000,
};

/**
 * Stores a field's cost per row, excluding its subfields, and the additional cost of finding the rows for a list or
 * sum. A sum examines some 30,000 rows. So does a filtered list, once for each relation that leads to its rows, unless
 * an index contains exactly these rows in order.
 */
function price(schema: GraphQLSchema, type: Fields, { args, extensions }: Field): void {
  const { read } = extensions;
  const isRoot = type === schema.getQueryType();
  const costs = read?.costs ?? extensions.costs;
  // For example, an account's payments are found in two ways: as its outgoing and as its incoming payments.
  const ways = read?.ways ?? 1;
  const ofRead = (one: Read) => (one.kind === 'page' ? prices.list * ways : Math.max(1, queriesOf(one) * prices.rows));
  const search = read &&
    args.some(({ name }) => isSearchArgument(name)) && {
      price: prices.sums * (costs === 'sums' ? 1 : ways),
      isBelow: !isRoot,
    };
  Object.assign(extensions, {
    price: costs ? prices[costs] * ways : !read ? 1 : isRoot ? prices.read : ofRead(read),
    ...(search && { search }),
  });
}

/** Counts the queries that a field needs for each row. A field needs none if the row itself has the value. */
function queriesOf(read: Read): number {
  const own = read.kind === 'leaf' || read.kind === 'value' ? 0 : 1;
  return own + (plainReadText(read).match(/\bselect\b/g)?.length ?? 0);
}

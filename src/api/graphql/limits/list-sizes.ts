/** Computes a document's maximum list sizes and the cost of its arguments and searches, before validation. */
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  getNamedType,
  getNullableType,
  getOperationAST,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type ValueNode,
  valueFromASTUntyped,
} from 'graphql';
import { defaultPageSize } from '../../../core/paging.ts';

export interface SentDocument {
  readonly document: DocumentNode;
  /** The operation whose variable defaults are used, if the document contains several operations. */
  readonly operationName?: string | null | undefined;
  /** The variables as the client sent them, before coercion. */
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
}

/** Larger sizes count as this size, so that the cost stays a meaningful number. Resolvers have far lower limits. */
const maxRows = 1_000_000;

/** Returns whether a type is a connection, that is, has `edges` and `pageInfo`. */
export function isConnection(type: GraphQLNamedType | undefined): boolean {
  if (!isObjectType(type) && !isInterfaceType(type)) return false;
  const { edges, pageInfo } = type.getFields();
  return edges !== undefined && pageInfo !== undefined;
}

type Definition = GraphQLField<unknown, unknown>;

type ArgumentReader = (value: ValueNode) => unknown;

/** Returns a function that reads an argument as sent, before coercion. It inserts the variables' values or defaults. */
export function argumentReader({ document, operationName, variables }: SentDocument): ArgumentReader {
  const sent: Record<string, unknown> = Object.create(null);
  for (const { variable, defaultValue } of getOperationAST(document, operationName)?.variableDefinitions ?? [])
    if (defaultValue) sent[variable.name.value] = valueFromASTUntyped(defaultValue);
  Object.assign(sent, variables);
  return (value) => valueFromASTUntyped(value, sent);
}

interface FieldCost {
  /** The cost of the field itself: its price, the values in its list arguments, and the search for its rows. */
  readonly own: number;
  /** The number of rows for which a list's subfields count; undefined for a short list, which has no size argument. */
  readonly rows: number | undefined;
  readonly isVariable: boolean;
}

export function costOfField(argumentValue: ArgumentReader, field: FieldNode, definition: Definition): FieldCost {
  let own = definition.extensions.price ?? 1;
  let isVariable = false;
  const isPage = isConnection(getNamedType(definition.type));
  const isList = isPage || isListType(getNullableType(definition.type));
  const search: Record<string, unknown> = {};
  const sizes: number[] = [];
  for (const { name, value } of field.arguments ?? []) {
    const type = definition.args.find((arg) => arg.name === name.value)?.type;
    const isSearched = definition.extensions.search && isSearchArgument(name.value);
    const isSize = isPage
      ? name.value === 'first' || name.value === 'last'
      : isList && type && isListType(getNullableType(type));
    if (!type || !(isSize || isSearched || hasList(type))) continue;
    const given = argumentValue(value);
    own += lengthsOfLists(given);
    if (isSearched) search[name.value] = given;
    const size = isSize ? (isPage ? pageSize : listLength)(given) : undefined;
    if (size !== undefined) sizes.push(size);
    isVariable ||= hasVariable(value);
  }
  const rows = sizes.length > 0 ? Math.max(...sizes) : isPage ? defaultPageSize : undefined;
  return { own: own + searchCost(definition, search), rows, isVariable };
}

function lengthsOfLists(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const below = Object.values(value).reduce<number>((sum, one) => sum + lengthsOfLists(one), 0);
  return Array.isArray(value) ? value.length + below : below;
}

function hasVariable(value: ValueNode): boolean {
  if (value.kind === Kind.LIST) return value.values.some(hasVariable);
  if (value.kind === Kind.OBJECT) return value.fields.some((field) => hasVariable(field.value));
  return value.kind === Kind.VARIABLE;
}

const typesWithLists = new WeakMap<GraphQLInputType, boolean>();

function hasList(type: GraphQLInputType): boolean {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return true;
  if (!isInputObjectType(nullable)) return false;
  let known = typesWithLists.get(nullable);
  if (known === undefined) {
    // An input type may refer to itself.
    typesWithLists.set(nullable, false);
    known = Object.values(nullable.getFields()).some((field) => hasList(field.type));
    typesWithLists.set(nullable, known);
  }
  return known;
}

/** Returns a page size, or undefined if the value is not a number. Coercion will refuse such a value. */
const pageSize = (value: unknown) => (typeof value === 'number' ? clampSize(value) : undefined);

/** Returns the length of a list. Coercion turns a value that is not a list into a list of one. */
const listLength = (value: unknown) => clampSize(Array.isArray(value) ? value.length : 1);

/**
 * Limits a size to the range from 1 to `maxRows`. Coercion or the resolver will refuse a negative, fractional or
 * excessive size, but it must not lower the cost or make it NaN. A size of 0 counts as 1, because one row is read in
 * any case.
 */
function clampSize(size: number): number {
  return size >= 1 ? Math.min(Math.ceil(size), maxRows) : 1;
}

/**
 * How the rows that match a field in a list's filter are found:
 *
 * - `one`: an index leads to the row, or the few rows, with the value;
 * - `index`: an index contains the rows with the value (other than false), ordered by creation time;
 * - `created`: the rows form a range when ordered by creation time;
 * - `updated`: the rows form a range when ordered by the time of their last change;
 * - `any`: the field excludes no rows;
 * - `kind`: an index contains a customer's few INTERNAL rows; all other rows are EXTERNAL.
 *
 * Any other field requires a search.
 */
type FoundBy = 'one' | 'index' | 'created' | 'updated' | 'any' | 'kind';

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** The price of the field, excluding its subfields: 1 by default. */
    price?: number;
    /** The cost of searching for the rows. `isBelow`: the list belongs to a parent, which narrows the search. */
    search?: { readonly price: number; readonly isBelow: boolean };
  }
  interface GraphQLInputFieldExtensions {
    foundBy?: FoundBy;
  }
}

/**
 * Returns the extra cost of finding a list's rows by its `filter` and `orderBy` arguments. It is zero if a single index
 * has exactly these rows in this order. Two conditions require a search even if both are selective: Postgres may read
 * all rows that meet one of them to find those that meet the other. A parent counts as a condition, and so does any
 * order other than by creation time.
 */
function searchCost(
  definition: Definition,
  { filter, orderBy }: { readonly filter?: unknown; readonly orderBy?: unknown },
): number {
  const { search } = definition.extensions;
  const given = Object.entries(Object(filter)).filter(([, value]) => value !== null && value !== undefined);
  const isByChange = orderBy === 'UPDATED';
  if (!search || (given.length === 0 && !isByChange)) return 0;
  const fields = fieldsOfFilter(definition);
  const isOfCustomer = search.isBelow || given.some(([name]) => name === 'customerId');
  let conditions = Number(search.isBelow) + Number(isByChange);
  for (const [name, value] of given) {
    const foundBy = fields[name]?.extensions.foundBy;
    if (foundBy === 'one' && !search.isBelow) return 0;
    if (foundBy === 'kind' && isOfCustomer && value === 'INTERNAL') return 0;
    if (foundBy === 'any' || foundBy === (isByChange ? 'updated' : 'created') || (foundBy === 'kind' && isOfCustomer))
      continue;
    const isOneValue = foundBy === 'index' && value !== false && new Set([value].flat()).size <= 1;
    conditions += isOneValue ? 1 : 2;
  }
  return conditions > 1 ? search.price : 0;
}

/** Returns whether an argument selects or orders rows. */
export function isSearchArgument(name: string): boolean {
  return name === 'filter' || name === 'orderBy';
}

function fieldsOfFilter({ args }: Definition) {
  const filter = args.find(({ name }) => name === 'filter');
  const type = filter && getNullableType(filter.type);
  return isInputObjectType(type) ? type.getFields() : {};
}

/** Computes the maximum list sizes of a document and the cost of its arguments, before validation. */
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
import { isSearchArgument, searchCost } from './search-cost.ts';

export interface SentDocument {
  readonly document: DocumentNode;
  /** The operation to run, if there are several: its variable defaults are used. */
  readonly operationName?: string | null | undefined;
  /** As sent by the client, not coerced. */
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
}

interface ListSize {
  readonly rows: number;
  readonly isVariable: boolean;
}

/**
 * The largest size that is counted, so that the cost is a meaningful number. The resolver refuses far smaller sizes.
 */
const maxRows = 1_000_000;

/**
 * Returns a function that computes the size of each list of a document.
 * - A connection (any type with `edges` and `pageInfo`) can have `first` or `last` rows, or the default size.
 * - A list with a list argument (`nodes(ids:)`) has a row for each value. A repeated value counts again: it is read
 *   once, but returned each time. With the largest selection, ten repeats of an id took 1.3 s of CPU and returned
 *   17 MB, and a hundred ids can be sent.
 * - For other lists and for fields that are not lists it returns undefined: such lists are short, and their fields
 *   count once.
 */
export function listSizes(
  argumentValue: ArgumentReader,
): (field: FieldNode, definition: GraphQLField<unknown, unknown>) => ListSize | undefined {
  function sizeOf(
    values: readonly ValueNode[],
    sizeFrom: (value: unknown) => number | undefined,
    defaultSize: number,
  ): ListSize {
    const sizes = values.map((value) => sizeFrom(argumentValue(value))).filter((size) => size !== undefined);
    return {
      rows: sizes.length === 0 ? defaultSize : Math.max(...sizes),
      isVariable: values.some(({ kind }) => kind === Kind.VARIABLE),
    };
  }

  return (field, definition) => {
    const valuesOf = (isSizeArgument: (name: string) => boolean) =>
      (field.arguments ?? []).filter(({ name }) => isSizeArgument(name.value)).map(({ value }) => value);
    if (isConnection(getNamedType(definition.type))) {
      return sizeOf(
        valuesOf((name) => name === 'first' || name === 'last'),
        pageSize,
        defaultPageSize,
      );
    }
    if (!isListType(getNullableType(definition.type))) return undefined;
    const lists = definition.args.filter(({ type }) => isListType(getNullableType(type))).map(({ name }) => name);
    const values = valuesOf((name) => lists.includes(name));
    return values.length === 0 ? undefined : sizeOf(values, listLength, 1);
  };
}

/** Returns whether a type is a connection, which is any type with `edges` and `pageInfo`. */
export function isConnection(type: GraphQLNamedType | undefined): boolean {
  if (!isObjectType(type) && !isInterfaceType(type)) return false;
  const { edges, pageInfo } = type.getFields();
  return edges !== undefined && pageInfo !== undefined;
}

type ArgumentReader = (value: ValueNode) => unknown;

/** Returns a function that reads an argument as it was sent, not coerced; variables have their values or defaults. */
export function argumentReader({ document, operationName, variables }: SentDocument): ArgumentReader {
  const sent: Record<string, unknown> = Object.create(null);
  for (const { variable, defaultValue } of getOperationAST(document, operationName)?.variableDefinitions ?? [])
    if (defaultValue) sent[variable.name.value] = valueFromASTUntyped(defaultValue);
  Object.assign(sent, variables);
  return (value) => valueFromASTUntyped(value, sent);
}

interface OwnCost {
  readonly cost: number;
  readonly isVariable: boolean;
}

/** Returns a function that prices a field: its own price, the values in its list arguments, and its search. */
export function ownCosts(
  argumentValue: ArgumentReader,
): (field: FieldNode, definition: GraphQLField<unknown, unknown>) => OwnCost {
  return (field, definition) => {
    let [cost, isVariable] = [definition.extensions.price ?? 1, false];
    const search: Record<string, unknown> = {};
    for (const { name, value } of field.arguments ?? []) {
      const type = definition.args.find((arg) => arg.name === name.value)?.type;
      const isSearched = definition.extensions.search && isSearchArgument(name.value);
      if (!type || !(isSearched || hasList(type))) continue;
      const given = argumentValue(value);
      cost += lengthsOfLists(given, type);
      if (isSearched) search[name.value] = given;
      isVariable ||= hasVariable(value);
    }
    return { cost: cost + searchCost(definition, search), isVariable };
  };
}

function lengthsOfLists(value: unknown, type: GraphQLInputType): number {
  if (typeof value !== 'object' || value === null || !hasList(type)) return 0;
  const nullable = getNullableType(type);
  if (isListType(nullable))
    return Array.isArray(value) ? sum(value, (one) => 1 + lengthsOfLists(one, nullable.ofType)) : 0;
  if (!isInputObjectType(nullable)) return 0;
  return sum(Object.entries(value), ([name, one]) => {
    const definition = nullable.getFields()[name];
    return definition ? lengthsOfLists(one, definition.type) : 0;
  });
}

function sum<Item>(items: readonly Item[], count: (item: Item) => number): number {
  return items.reduce((total, item) => total + count(item), 0);
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

/** Returns a page size; undefined if the value is not a number, which coercion refuses later. */
const pageSize = (value: unknown) => (typeof value === 'number' ? clampSize(value) : undefined);

/** Counts the values of a list. Coercion turns any other value into a list of one. */
const listLength = (value: unknown) => clampSize(Array.isArray(value) ? value.length : 1);

/**
 * Clamps a size to 1 to `maxRows`. Coercion and the resolver refuse negative, fractional and absurd sizes later; here
 * they must not lower the cost or make it NaN. A size of 0 counts as 1, since one row is read to see if any exists.
 */
function clampSize(size: number): number {
  return size >= 1 ? Math.min(Math.ceil(size), maxRows) : 1;
}

/** Reads from a document how many rows its lists can have at most, before anyone has validated it. */
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  getNamedType,
  getNullableType,
  getOperationAST,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type ValueNode,
} from 'graphql';
import { defaultPageSize } from '../../core/paging.ts';

/** A document as it was sent. */
export interface SentDocument {
  readonly document: DocumentNode;
  /** Of several operations the one to run: its variable defaults are the ones that count. */
  readonly operationName?: string | null | undefined;
  /** As the client sent them, not coerced. */
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
}

/** How many rows a list can have, as far as its arguments say. */
export interface ListSize {
  readonly rows: number;
  /** Whether a variable decides. */
  readonly isVariable: boolean;
}

/** Larger sizes are refused by the resolver; this bound only keeps absurd ones from making the cost meaningless. */
const largestSize = 1_000_000;

/**
 * Makes the reader of a document's list sizes.
 *
 * - A connection, which is any type with `edges` and `pageInfo`, can have `first` or `last` rows, or the default size.
 * - A list with an argument that is a list (`nodes(ids:)`) has a row for each value in it. One that is repeated counts again: it is read once, but
 *   answered each time: ten times what one id may ask for took 1.3 s of the processor and answered 17 MB, and there may be a hundred ids.
 * - For other lists it answers undefined, as for fields that are none: they are short, and what they hold counts once.
 */
export function listSizes(
  request: SentDocument,
): (field: FieldNode, definition: GraphQLField<unknown, unknown>) => ListSize | undefined {
  const given = argumentReader(request);

  function sizeOf(
    values: readonly ValueNode[],
    sizeIn: (value: Given) => number | undefined,
    otherwise: number,
  ): ListSize {
    const sizes = values.map((value) => sizeIn(given(value))).filter((size) => size !== undefined);
    return {
      rows: sizes.length === 0 ? otherwise : Math.max(...sizes),
      isVariable: values.some(({ kind }) => kind === Kind.VARIABLE),
    };
  }

  return (field, definition) => {
    const valuesOf = (isMeant: (name: string) => boolean) =>
      (field.arguments ?? []).filter(({ name }) => isMeant(name.value)).map(({ value }) => value);
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
    return values.length === 0 ? undefined : sizeOf(values, (value) => listLength(value), 1);
  };
}

function isConnection(type: GraphQLNamedType): boolean {
  if (!isObjectType(type) && !isInterfaceType(type)) return false;
  const { edges, pageInfo } = type.getFields();
  return edges !== undefined && pageInfo !== undefined;
}

/** An argument as it was sent, not coerced: written in the document, or the value of a variable. */
type Given = { readonly written: ValueNode | undefined } | { readonly sent: unknown };

/** Of a variable that was not sent it is the default that counts. */
function argumentReader({ document, operationName, variables }: SentDocument): (value: ValueNode) => Given {
  const defaults = new Map(
    getOperationAST(document, operationName)?.variableDefinitions?.map((definition) => [
      definition.variable.name.value,
      definition.defaultValue,
    ]),
  );
  return (value) => {
    if (value.kind !== Kind.VARIABLE) return { written: value };
    const name = value.name.value;
    return variables && Object.hasOwn(variables, name) ? { sent: variables[name] } : { written: defaults.get(name) };
  };
}

/** A page size; undefined for what is no number, which coercion refuses later. */
function pageSize(value: Given): number | undefined {
  if ('sent' in value) return typeof value.sent === 'number' ? bounded(value.sent) : undefined;
  const { written } = value;
  return written?.kind === Kind.INT || written?.kind === Kind.FLOAT ? bounded(Number(written.value)) : undefined;
}

/** How many values a list has; what is no list becomes a list of one when it is coerced. */
function listLength(value: Given): number {
  if ('sent' in value) return bounded(Array.isArray(value.sent) ? value.sent.length : 1);
  return bounded(value.written?.kind === Kind.LIST ? value.written.values.length : 1);
}

/**
 * Negative, fractional and absurd sizes are refused by coercion and the resolver; here they must only not shrink the cost, or make it no number.
 * Nor does a size of 0: one row is read all the same, to see whether there is any.
 */
function bounded(size: number): number {
  return size >= 1 ? Math.min(Math.ceil(size), largestSize) : 1;
}

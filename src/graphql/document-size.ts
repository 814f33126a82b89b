/** Counts what a parsed document asks for, fragments expanded, before anyone has validated it. The limits are in `budget.ts`. */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  isInterfaceType,
  isObjectType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';

/**
 * How large a document is: of each count the largest that one of its operations (or fragments) reaches, used or not. Beyond 2^53 a count is
 * approximate, or infinite.
 */
export interface DocumentSize {
  /** Fields inside fields with fragments expanded, or fragments directly inside fragments, whichever goes deeper. */
  depth: number;
  /** Field selections with fragments expanded. */
  fields: number;
  /** Aliases with fragments expanded, or as written in the whole document, whichever are more. */
  aliases: number;
  /** Directives as written in the whole document. */
  directives: number;
  /** Fields on the root of a mutation with fragments expanded, without `__typename`. */
  mutationFields: number;
  /** Each field 1; what is selected in a connection times its `first` or `last` (or 20), in other lists times 1. */
  cost: number;
}

/** A document that need not be valid yet, and what came with it. */
export interface DocumentRequest {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  /** Of several operations the one to run: its variable defaults are the ones that count. */
  readonly operationName?: string | null | undefined;
  /** As the client sent them, not coerced. */
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
}

/** A document's size, and the first `__schema` or `__type` in it, if any. */
export interface Measure {
  readonly size: DocumentSize;
  readonly schemaField: FieldNode | undefined;
}

/**
 * Of documents whose page sizes are written out: asked again they are the same size, whichever operation is run. What else
 * a client sends with a document is not part of the key: it could be anything, and be kept for as long as the document.
 */
const measured = new WeakMap<DocumentNode, Measure & { readonly schema: GraphQLSchema }>();

/** Measures a document in time linear in what is written: each fragment is counted once, however often it is spread. */
export function measureDocument(request: DocumentRequest): Measure {
  const { schema, document } = request;
  const known = measured.get(document);
  if (known?.schema === schema) return known;
  const { hasVariableSizes, ...measure } = measureAnew(request);
  if (!hasVariableSizes) measured.set(document, { ...measure, schema });
  return measure;
}

function measureAnew(request: DocumentRequest): Measure & { readonly hasVariableSizes: boolean } {
  const { schema, document } = request;
  const pass: Pass = {
    schema,
    fragments: new Map(
      document.definitions
        .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
        .map((definition) => [definition.name.value, definition]),
    ),
    pageSizeOf: pageSizeReader(request),
    hasVariableSizes: false,
    expansions: new Map(),
    aliasesWritten: 0,
    directivesWritten: 0,
    schemaField: undefined,
  };
  const size: DocumentSize = { depth: 0, fields: 0, aliases: 0, directives: 0, mutationFields: 0, cost: 0 };
  for (const definition of document.definitions) {
    let whole = nothing;
    if (definition.kind === Kind.OPERATION_DEFINITION) {
      for (const variable of definition.variableDefinitions ?? []) countDirectives(pass, variable);
      countDirectives(pass, definition);
      whole = expand(pass, definition.selectionSet, schema.getRootType(definition.operation) ?? undefined);
      if (definition.operation === 'mutation') size.mutationFields = Math.max(size.mutationFields, whole.ownFields);
    } else if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      whole = expandFragment(pass, definition);
    } else if ('directives' in definition) {
      countDirectives(pass, definition);
    }
    size.depth = Math.max(size.depth, whole.depth, whole.nestedFragments);
    size.fields = Math.max(size.fields, whole.fields);
    size.aliases = Math.max(size.aliases, whole.aliases);
    size.cost = Math.max(size.cost, whole.cost);
  }
  size.aliases = Math.max(size.aliases, pass.aliasesWritten);
  size.directives = pass.directivesWritten;
  return { size, schemaField: pass.schemaField, hasVariableSizes: pass.hasVariableSizes };
}

/** What a connection returns when neither `first` nor `last` says. */
const defaultPageSize = 20;

/** Page sizes over the domain's 100 are refused by the resolver; this bound only keeps absurd ones from making the cost meaningless. */
const largestPageSize = 1_000_000;

/** What a selection set amounts to with its fragments expanded, relative to where it stands: the same wherever it is spread. */
interface Expansion {
  /** Levels of fields. */
  readonly depth: number;
  /** Fragments directly inside one another, counted from here. */
  readonly leadingFragments: number;
  /** The longest such run anywhere below: fields alone would let fragments nest without end. */
  readonly nestedFragments: number;
  /** Fields of this very level, without `__typename`. */
  readonly ownFields: number;
  readonly fields: number;
  readonly aliases: number;
  readonly cost: number;
}

const nothing: Expansion = {
  depth: 0,
  leadingFragments: 0,
  nestedFragments: 0,
  ownFields: 0,
  fields: 0,
  aliases: 0,
  cost: 0,
};

/** One pass over a document: what it may look up, and what it has met so far. */
interface Pass {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly pageSizeOf: (value: ValueNode) => number | undefined;
  /** Whether one of the page sizes met so far is a variable. */
  hasVariableSizes: boolean;
  /** By definition and not by name, which an invalid document may give twice. Holds `nothing` while a fragment is being counted: that ends a cycle. */
  readonly expansions: Map<FragmentDefinitionNode, Expansion>;
  aliasesWritten: number;
  directivesWritten: number;
  schemaField: FieldNode | undefined;
}

function expand(pass: Pass, selectionSet: SelectionSetNode, parent: GraphQLNamedType | undefined): Expansion {
  const sum = { ...nothing };
  for (const selection of selectionSet.selections) {
    countDirectives(pass, selection);
    const part = expandSelection(pass, selection, parent);
    sum.depth = Math.max(sum.depth, part.depth);
    sum.leadingFragments = Math.max(sum.leadingFragments, part.leadingFragments);
    sum.nestedFragments = Math.max(sum.nestedFragments, part.nestedFragments);
    sum.ownFields += part.ownFields;
    sum.fields += part.fields;
    sum.aliases += part.aliases;
    sum.cost += part.cost;
  }
  return sum;
}

function expandSelection(pass: Pass, selection: SelectionNode, parent: GraphQLNamedType | undefined): Expansion {
  switch (selection.kind) {
    case Kind.FIELD:
      return expandField(pass, selection, parent);
    case Kind.INLINE_FRAGMENT: {
      const condition = selection.typeCondition;
      const type = condition === undefined ? parent : pass.schema.getType(condition.name.value);
      return inFragment(expand(pass, selection.selectionSet, type));
    }
    case Kind.FRAGMENT_SPREAD: {
      const fragment = pass.fragments.get(selection.name.value);
      return fragment === undefined ? nothing : inFragment(expandFragment(pass, fragment));
    }
  }
}

function expandFragment(pass: Pass, fragment: FragmentDefinitionNode): Expansion {
  const known = pass.expansions.get(fragment);
  if (known !== undefined) return known;
  pass.expansions.set(fragment, nothing);
  countDirectives(pass, fragment);
  const expansion = expand(pass, fragment.selectionSet, pass.schema.getType(fragment.typeCondition.name.value));
  pass.expansions.set(fragment, expansion);
  return expansion;
}

function inFragment(inner: Expansion): Expansion {
  const leadingFragments = inner.leadingFragments + 1;
  return { ...inner, leadingFragments, nestedFragments: Math.max(inner.nestedFragments, leadingFragments) };
}

/** A field the type does not have counts like any other, its children with it: validation, which comes later, will say that it is unknown. */
function expandField(pass: Pass, field: FieldNode, parent: GraphQLNamedType | undefined): Expansion {
  const name = field.name.value;
  const alias = field.alias === undefined ? 0 : 1;
  pass.aliasesWritten += alias;
  if (name === '__schema' || name === '__type') pass.schemaField ??= field;
  const definition = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
  const type = definition && getNamedType(definition.type);
  const inner = field.selectionSet === undefined ? nothing : expand(pass, field.selectionSet, type);
  return {
    depth: 1 + inner.depth,
    leadingFragments: 0,
    nestedFragments: inner.nestedFragments,
    ownFields: name === '__typename' ? 0 : 1,
    fields: 1 + inner.fields,
    aliases: alias + inner.aliases,
    cost: 1 + timesCounted(pass, field, type) * inner.cost,
  };
}

/** How many times a field's selection counts: by the page size in a connection, which is any type with `edges` and `pageInfo`, else once. */
function timesCounted(pass: Pass, field: FieldNode, type: GraphQLNamedType | undefined): number {
  if (!isObjectType(type) && !isInterfaceType(type)) return 1;
  const { edges, pageInfo } = type.getFields();
  if (edges === undefined || pageInfo === undefined) return 1;
  const sizes = (field.arguments ?? [])
    .filter((argument) => argument.name.value === 'first' || argument.name.value === 'last')
    .map((argument) => {
      pass.hasVariableSizes ||= argument.value.kind === Kind.VARIABLE;
      return pass.pageSizeOf(argument.value);
    })
    .filter((size) => size !== undefined);
  return sizes.length === 0 ? defaultPageSize : Math.max(...sizes);
}

/** Reads a page size from a literal, a variable's value or its default; undefined for what is no number, which coercion refuses later. */
function pageSizeReader({ document, operationName, variables }: DocumentRequest): Pass['pageSizeOf'] {
  const defaults = new Map(
    getOperationAST(document, operationName)?.variableDefinitions?.map((definition) => [
      definition.variable.name.value,
      definition.defaultValue,
    ]),
  );
  return (value) => {
    if (value.kind !== Kind.VARIABLE) return literalPageSize(value);
    const name = value.name.value;
    if (!variables || !Object.hasOwn(variables, name)) return literalPageSize(defaults.get(name));
    const given = variables[name];
    return typeof given === 'number' ? asPageSize(given) : undefined;
  };
}

function literalPageSize(value: ValueNode | undefined): number | undefined {
  return value?.kind === Kind.INT || value?.kind === Kind.FLOAT ? asPageSize(Number(value.value)) : undefined;
}

/** Negative, fractional and absurd sizes are refused by coercion and the resolver; here they must only not shrink the cost, or make it no number. */
function asPageSize(size: number): number {
  return size >= 1 ? Math.min(Math.ceil(size), largestPageSize) : 1;
}

function countDirectives(pass: Pass, node: { readonly directives?: readonly unknown[] | undefined }): void {
  pass.directivesWritten += node.directives?.length ?? 0;
}

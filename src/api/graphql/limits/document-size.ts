/** Counts a parsed document's selections, with fragments expanded, before validation. The limits are in `budget.ts`. */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isObjectType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import {
  addAlternatives,
  type CostlyField,
  costInFragment,
  costlier,
  dearestCost,
  noCost,
  type SelectionCost,
  type Type,
} from './alternatives.ts';
import { argumentReader, costOfField, isConnection, type SentDocument } from './list-sizes.ts';

/**
 * The size of a document: each count is the largest among its operations and fragments, used or not. Beyond 2^53 a
 * count is approximate or infinite.
 *
 * Client libraries add `__typename` to every selection set. If it has no alias, it does not count towards a document's
 * size. If it is alone in its selection set, however, it counts as a field (at no cost): otherwise fragments that
 * contain nothing else could double one another without end, and code that expands fragments would expand them all.
 */
export interface DocumentSize {
  /** The number of tokens in the document. White space and comments are limited only by the body's maximum size. */
  tokens: number;
  /** The nesting depth of fields with fragments expanded, or of fragments within fragments, whichever is deeper. */
  depth: number;
  fields: number;
  /** The number of aliases, with fragments expanded or as written in the whole document, whichever is larger. */
  aliases: number;
  directives: number;
  /** The number of fields at a mutation's root, with fragments expanded and excluding `__typename`. */
  mutationFields: number;
  /**
   * The price of each field (its extension `price`), plus 1 for each value of a list in its arguments. A list's fields
   * count once for each row that its arguments allow (list-sizes.ts); of fragments on different types only the most
   * expensive type's fields count (alternatives.ts).
   */
  cost: number;
}

interface DocumentRequest extends SentDocument {
  readonly schema: GraphQLSchema;
}

export interface Measure {
  readonly size: DocumentSize;
  /** The most expensive root field; undefined if nothing has a cost. */
  readonly costliest: CostlyField | undefined;
  readonly schemaField: FieldNode | undefined;
}

/** A field whose list size or cost depends on variables. */
type VariableField = readonly [field: FieldNode, definition: GraphQLField<unknown, unknown>];

interface Measured {
  readonly variableFields: readonly VariableField[];
  /** The measures, keyed by the sizes and costs of the variable fields; nothing else in a request affects a measure. */
  readonly measures: Map<string, Measure>;
}

const measured = new WeakMap<DocumentNode, Measured>();

/** The number of cached measures per document. */
const maxMeasures = 20;

/**
 * Measures a document in time linear in its length: each fragment is counted once, however often it is spread. All
 * requests for the same document must have the same schema.
 */
export function measureDocument(request: DocumentRequest): Measure {
  const known = measured.get(request.document);
  const key = known && variableKey(request, known.variableFields);
  const cached = key === undefined ? undefined : known?.measures.get(key);
  if (cached) return cached;
  const { measure, variableFields } = measureAnew(request);
  const measures = known?.measures ?? new Map<string, Measure>();
  if (measures.size < maxMeasures) measures.set(key ?? variableKey(request, variableFields), measure);
  if (!known) measured.set(request.document, { variableFields, measures });
  return measure;
}

function variableKey(request: DocumentRequest, fields: readonly VariableField[]): string {
  if (fields.length === 0) return '';
  const argumentValue = argumentReader(request);
  const keys = fields.map(([field, definition]) => {
    const { own, rows } = costOfField(argumentValue, field, definition);
    return `${own} ${rows}`;
  });
  return keys.join();
}

function measureAnew(request: DocumentRequest) {
  const { schema, document } = request;
  const pass: Pass = {
    schema,
    fragments: new Map(
      document.definitions
        .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
        .map((definition) => [definition.name.value, definition]),
    ),
    argumentValue: argumentReader(request),
    variableFields: [],
    expansions: new Map(),
    aliasesWritten: 0,
    directivesWritten: 0,
    freeTypenames: 0,
    schemaField: undefined,
  };
  const size: DocumentSize = { tokens: 0, depth: 0, fields: 0, aliases: 0, directives: 0, mutationFields: 0, cost: 0 };
  let costliest: CostlyField | undefined;
  for (const definition of document.definitions) {
    let expansion = nothing;
    if (definition.kind === Kind.OPERATION_DEFINITION) {
      for (const variable of definition.variableDefinitions ?? []) countDirectives(pass, variable);
      countDirectives(pass, definition);
      expansion = expand(pass, definition.selectionSet, schema.getRootType(definition.operation) ?? undefined);
      if (definition.operation === 'mutation') size.mutationFields = Math.max(size.mutationFields, expansion.ownFields);
    } else if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      expansion = expandFragment(pass, definition);
    } else if ('directives' in definition) {
      countDirectives(pass, definition);
    }
    size.depth = Math.max(size.depth, expansion.depth, expansion.nestedFragments);
    size.fields = Math.max(size.fields, expansion.fields);
    size.aliases = Math.max(size.aliases, expansion.aliases);
    const dearest = dearestCost(schema, expansion, undefined);
    if (dearest.cost > size.cost) costliest = dearest.costliest;
    size.cost = Math.max(size.cost, dearest.cost);
  }
  // The parser always sets `tokenCount`; it is optional in the type because trees can be built without a parser.
  size.tokens = (document.tokenCount ?? 0) - pass.freeTypenames;
  size.aliases = Math.max(size.aliases, pass.aliasesWritten);
  size.directives = pass.directivesWritten;
  const measure: Measure = { size, costliest, schemaField: pass.schemaField };
  return { measure, variableFields: pass.variableFields };
}

/** The counts of a selection set with fragments expanded, relative to its own level: the same wherever it is spread. */
interface Expansion extends SelectionCost {
  readonly depth: number;
  /** The number of fragments directly inside one another, counted from here. */
  readonly leadingFragments: number;
  /** The longest such chain anywhere below. A limit on fields alone would not bound the nesting of fragments. */
  readonly nestedFragments: number;
  /** The number of fields at this level, excluding `__typename`. */
  readonly ownFields: number;
  readonly fields: number;
  readonly aliases: number;
}

const nothing: Expansion = {
  ...noCost,
  depth: 0,
  leadingFragments: 0,
  nestedFragments: 0,
  ownFields: 0,
  fields: 0,
  aliases: 0,
};

const uncounted: Expansion = { ...nothing, depth: 1 };

/** A field with no subfields. Most fields are of this kind, so they all share this object. */
const leaf: Expansion = { ...uncounted, ownFields: 1, fields: 1, cost: 1 };
const aliasedLeaf: Expansion = { ...leaf, aliases: 1 };

interface Pass {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly argumentValue: ReturnType<typeof argumentReader>;
  readonly variableFields: VariableField[];
  /**
   * Keyed by definition, because an invalid document may use a name twice. While a fragment is being counted, its value
   * is `nothing`, which breaks cycles.
   */
  readonly expansions: Map<FragmentDefinitionNode, Expansion>;
  aliasesWritten: number;
  directivesWritten: number;
  /** The number of uncounted `__typename`s, as written in the whole document. */
  freeTypenames: number;
  schemaField: FieldNode | undefined;
}

function expand(pass: Pass, selectionSet: SelectionSetNode, parent: Type): Expansion {
  const { selections } = selectionSet;
  const sum = { ...nothing };
  const freeTypename = selections.find(isPlainTypename);
  if (freeTypename) {
    pass.freeTypenames += 1;
    if (selections.length === 1) sum.fields = 1;
  }
  for (const selection of selections) {
    countDirectives(pass, selection);
    const part = selection === freeTypename ? uncounted : expandSelection(pass, selection, parent);
    sum.depth = Math.max(sum.depth, part.depth);
    sum.leadingFragments = Math.max(sum.leadingFragments, part.leadingFragments);
    sum.nestedFragments = Math.max(sum.nestedFragments, part.nestedFragments);
    sum.ownFields += part.ownFields;
    sum.fields += part.fields;
    sum.aliases += part.aliases;
    sum.cost += part.cost;
    sum.once += part.once;
    sum.costliest = costlier(sum.costliest, part.costliest);
    sum.alternatives = addAlternatives(sum.alternatives, part.alternatives);
  }
  return sum;
}

function isPlainTypename(selection: SelectionNode): boolean {
  if (selection.kind !== Kind.FIELD || selection.alias) return false;
  // A leaf with subfields is invalid, but its subfields count.
  return selection.name.value === '__typename' && !selection.selectionSet;
}

function expandSelection(pass: Pass, selection: SelectionNode, parent: Type): Expansion {
  switch (selection.kind) {
    case Kind.FIELD:
      return expandField(pass, selection, parent);
    case Kind.INLINE_FRAGMENT: {
      const condition = selection.typeCondition;
      const type = condition === undefined ? parent : pass.schema.getType(condition.name.value);
      return inFragment(pass, expand(pass, selection.selectionSet, type), type, parent);
    }
    case Kind.FRAGMENT_SPREAD: {
      const fragment = pass.fragments.get(selection.name.value);
      if (fragment === undefined) return nothing;
      const type = pass.schema.getType(fragment.typeCondition.name.value);
      return inFragment(pass, expandFragment(pass, fragment), type, parent);
    }
  }
}

function expandFragment(pass: Pass, fragment: FragmentDefinitionNode): Expansion {
  const cached = pass.expansions.get(fragment);
  if (cached !== undefined) return cached;
  pass.expansions.set(fragment, nothing);
  countDirectives(pass, fragment);
  const expansion = expand(pass, fragment.selectionSet, pass.schema.getType(fragment.typeCondition.name.value));
  pass.expansions.set(fragment, expansion);
  return expansion;
}

function inFragment({ schema }: Pass, inner: Expansion, on: Type, parent: Type): Expansion {
  const leadingFragments = inner.leadingFragments + 1;
  const nestedFragments = Math.max(inner.nestedFragments, leadingFragments);
  return { ...inner, ...costInFragment(schema, inner, on, parent), leadingFragments, nestedFragments };
}

const costOfUnknown = { own: 1, rows: undefined, isVariable: false };

/** Counts a field and its children, even if the type does not define the field: validation comes later. */
function expandField(pass: Pass, field: FieldNode, parent: Type): Expansion {
  const name = field.name.value;
  const alias = field.alias === undefined ? 0 : 1;
  pass.aliasesWritten += alias;
  if (name === '__schema' || name === '__type') pass.schemaField ??= field;
  const definition = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
  const { own, rows, isVariable } = definition ? costOfField(pass.argumentValue, field, definition) : costOfUnknown;
  if (definition && isVariable) pass.variableFields.push([field, definition]);
  // In a connection, only the rows repeat.
  const isOnce = definition !== undefined && name !== 'edges' && name !== 'nodes' && isConnection(parent);
  if (field.selectionSet === undefined && name !== '__typename' && own === 1 && !isOnce)
    return alias ? aliasedLeaf : leaf;
  const type = definition && getNamedType(definition.type);
  const inner = field.selectionSet === undefined ? nothing : expand(pass, field.selectionSet, type);
  const below = dearestCost(pass.schema, inner, type);
  const times = rows ?? 1;
  const cost = own + below.once + times * (below.cost - below.once);
  return {
    depth: 1 + inner.depth,
    leadingFragments: 0,
    nestedFragments: inner.nestedFragments,
    ownFields: name === '__typename' ? 0 : 1,
    fields: 1 + inner.fields,
    aliases: alias + inner.aliases,
    cost,
    once: isOnce ? cost : 0,
    costliest: {
      responseKey: field.alias?.value ?? name,
      cost,
      isSized: rows !== undefined || own > 1,
      isOnce,
      times,
      below: below.costliest,
    },
    alternatives: undefined,
  };
}

function countDirectives(pass: Pass, node: { readonly directives?: readonly unknown[] | undefined }): void {
  pass.directivesWritten += node.directives?.length ?? 0;
}

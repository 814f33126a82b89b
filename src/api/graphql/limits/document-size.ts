/** Counts a parsed document's selections, with fragments expanded, before validation. The limits are in `budget.ts`. */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isObjectType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
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
   * expensive type's fields count, because a row has one type.
   */
  cost: number;
}

interface DocumentRequest extends SentDocument {
  readonly schema: GraphQLSchema;
}

export interface Measure {
  readonly size: DocumentSize;
  /** What makes the document expensive; undefined if nothing has a cost. */
  readonly costliest: CostlyPath | undefined;
  readonly schemaField: FieldNode | undefined;
}

/** A list, or a field with its own price, where selecting fewer rows or fields reduces a cost the most. */
export interface CostlyPath {
  readonly path: readonly string[];
  readonly cost: number;
}

interface CostlyField {
  /** The cost of the field with everything below it, if the enclosing selection set is read once. */
  readonly cost: number;
  /** Whether the field occurs once per list, rather than once per row. */
  readonly isOnce: boolean;
  /** Found by following the costliest field as long as it accounts for more than half of the cost above it. */
  readonly found: CostlyPath;
  /** Whether a list, or a field with its own price, was found. */
  readonly isSized: boolean;
}

interface Cost {
  readonly cost: number;
  /** The part of the cost that a list incurs once, rather than for each of its rows. */
  readonly once: number;
  readonly costliest: CostlyField | undefined;
}

/** The costs of a selection set by the type of the row. */
type Costs = ReadonlyMap<string, Cost>;

/** The key of a cost that rows of all types incur. */
const anyType = '*';

const noCost: Cost = { cost: 0, once: 0, costliest: undefined };

/** A type of the schema; undefined if a document names one that does not exist. */
type Type = GraphQLNamedType | undefined;

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
  let costliest: CostlyPath | undefined;
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
    const dearest = dearestOf(expansion.costs);
    if (dearest.cost > size.cost) costliest = dearest.costliest?.found;
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
interface Expansion {
  readonly depth: number;
  /** The number of fragments directly inside one another, counted from here. */
  readonly leadingFragments: number;
  /** The longest such chain anywhere below. A limit on fields alone would not bound the nesting of fragments. */
  readonly nestedFragments: number;
  /** The number of fields at this level, excluding `__typename`. */
  readonly ownFields: number;
  readonly fields: number;
  readonly aliases: number;
  readonly costs: Costs;
}

const nothing: Expansion = {
  depth: 0,
  leadingFragments: 0,
  nestedFragments: 0,
  ownFields: 0,
  fields: 0,
  aliases: 0,
  costs: new Map(),
};

const uncounted: Expansion = { ...nothing, depth: 1 };

/** A field with no subfields. Most fields are of this kind, so they all share this object. */
const leaf: Expansion = {
  ...uncounted,
  ownFields: 1,
  fields: 1,
  costs: new Map([[anyType, { ...noCost, cost: 1 }]]),
};
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
  const costs = new Map(typesIn(pass.schema, parent).map((name) => [name, noCost]));
  const sum = { ...nothing, costs };
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
    for (const [type, cost] of costs) {
      const more = part.costs.get(type) ?? part.costs.get(anyType);
      if (more) costs.set(type, add(cost, more));
    }
  }
  return sum;
}

function typesIn(schema: GraphQLSchema, type: Type): readonly string[] {
  if (isAbstractType(type)) return schema.getPossibleTypes(type).map(({ name }) => name);
  return [isObjectType(type) ? type.name : anyType];
}

function add(one: Cost, other: Cost): Cost {
  const isCostlier = other.costliest && other.costliest.cost > (one.costliest?.cost ?? -1);
  return {
    cost: one.cost + other.cost,
    once: one.once + other.once,
    costliest: isCostlier ? other.costliest : one.costliest,
  };
}

/** Returns the cost of a row of the most expensive type. */
function dearestOf(costs: Costs): Cost {
  return [...costs.values()].reduce((one, other) => (other.cost > one.cost ? other : one), noCost);
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
      return inFragment(expand(pass, selection.selectionSet, type));
    }
    case Kind.FRAGMENT_SPREAD: {
      const fragment = pass.fragments.get(selection.name.value);
      return fragment ? inFragment(expandFragment(pass, fragment)) : nothing;
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

function inFragment(inner: Expansion): Expansion {
  const leadingFragments = inner.leadingFragments + 1;
  return { ...inner, leadingFragments, nestedFragments: Math.max(inner.nestedFragments, leadingFragments) };
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
  const below = dearestOf(inner.costs);
  const times = rows ?? 1;
  const cost = own + below.once + times * (below.cost - below.once);
  const isSized = rows !== undefined || own > 1;
  const costliest = costlyField(field.alias?.value ?? name, below.costliest, { cost, isOnce, times, isSized });
  return {
    depth: 1 + inner.depth,
    leadingFragments: 0,
    nestedFragments: inner.nestedFragments,
    ownFields: name === '__typename' ? 0 : 1,
    fields: 1 + inner.fields,
    aliases: alias + inner.aliases,
    costs: new Map([[anyType, { cost, once: isOnce ? cost : 0, costliest }]]),
  };
}

/** Finds what makes a field expensive: something below it, or the field itself. */
function costlyField(
  responseKey: string,
  below: CostlyField | undefined,
  { times, ...own }: Pick<CostlyField, 'cost' | 'isOnce' | 'isSized'> & { readonly times: number },
): CostlyField {
  const timesBelow = below?.isOnce ? 1 : times;
  if (!below?.isSized || below.cost * timesBelow <= own.cost / 2)
    return { ...own, found: { path: [responseKey], cost: own.cost } };
  const { path, cost } = below.found;
  return { ...own, isSized: true, found: { path: [responseKey, ...path], cost: timesBelow * cost } };
}

function countDirectives(pass: Pass, node: { readonly directives?: readonly unknown[] | undefined }): void {
  pass.directivesWritten += node.directives?.length ?? 0;
}

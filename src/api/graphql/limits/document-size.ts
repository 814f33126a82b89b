/** Counts a parsed document's selections, with fragments expanded, before validation. The limits are in `budget.ts`. */
import {
  type DefinitionNode,
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
  type NamedTypeNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { oncePer } from '../../../core/once-per.ts';
import { argumentReader, costOfField, isConnection, type SentDocument } from './list-sizes.ts';

/**
 * The size of a document. Each count is the largest among its operations and fragments, whether used or not. Beyond
 * 2^53 a count is approximate or infinite.
 *
 * Client libraries add `__typename` to every selection set. Without an alias, it does not count toward a document's
 * size unless it is alone in its selection set. If it is alone, it counts as a field without a cost, because a document
 * could otherwise contain any number of fragments that select nothing else, all of which would have to be expanded.
 */
export interface DocumentSize {
  /** The number of tokens in the document. White space and comments are limited only by the body's maximum size. */
  tokens: number;
  /** The nesting depth of fields with fragments expanded, or of fragments within fragments, whichever is greater. */
  depth: number;
  fields: number;
  /** The number of aliases, with fragments expanded or as written in the whole document, whichever is larger. */
  aliases: number;
  directives: number;
  /** The number of fields at a mutation's root, with fragments expanded and excluding `__typename`. */
  mutationFields: number;
  /**
   * The sum of the fields' prices (their extension `price`), plus 1 for each item of a list in their arguments. A
   * list's fields count once for each row that its arguments allow (list-sizes.ts). If fragments are on different
   * types, only the most expensive type's fields count, because a row has only one type.
   */
  cost: number;
}

export interface Measure {
  readonly size: DocumentSize;
  /** What makes the document expensive; undefined if nothing has a cost. */
  readonly costliest: CostlyPath | undefined;
  readonly schemaField: FieldNode | undefined;
}

/** The list, or the field with its own price, where selecting less would reduce the cost the most. */
export interface CostlyPath {
  readonly path: readonly string[];
  readonly cost: number;
}

interface CostlyField {
  /** The cost of the field with everything below it, if the enclosing selection set is read once. */
  readonly cost: number;
  /** Whether the field occurs once per list, rather than once per row. */
  readonly isOnce: boolean;
  /** The field that the cost comes from, found by following any subfield that makes up over half of the cost. */
  readonly found: CostlyPath;
  /** Whether `found` leads to a list or to a field with its own price. */
  readonly isSized: boolean;
}

interface Cost {
  readonly cost: number;
  /** The part of the cost that a list incurs once, rather than for each of its rows. */
  readonly once: number;
  readonly costliest: CostlyField | undefined;
}

/** The key of a cost that applies to rows of every type. */
const anyType = '*';

const noCost: Cost = { cost: 0, once: 0, costliest: undefined };

interface DocumentRequest extends SentDocument {
  readonly schema: GraphQLSchema;
}

/** The maximum number of cached measures per document. */
const maxMeasures = 20;

/**
 * A document's measures, keyed by the list sizes and costs that depend on variables. Nothing else in a request affects
 * a measure.
 */
const measured = oncePer((_document: DocumentNode, request: DocumentRequest) => {
  const measurement = new Measurement(request);
  const measure = measurement.run();
  const { variableFields } = measurement;
  return { variableFields, measures: new Map([[variableKey(request, variableFields), measure]]) };
});

/**
 * Measures a document in time linear in its length. Each fragment is counted once, however often it is spread. All
 * requests for the same document must have the same schema.
 */
export function measureDocument(request: DocumentRequest): Measure {
  const { variableFields, measures } = measured(request.document, request);
  const key = variableKey(request, variableFields);
  const known = measures.get(key);
  if (known) return known;
  const measure = new Measurement(request).run();
  if (measures.size < maxMeasures) measures.set(key, measure);
  return measure;
}

/** A field whose list size or cost depends on variables. */
type VariableField = readonly [field: FieldNode, definition: GraphQLField<unknown, unknown>];

function variableKey(request: DocumentRequest, fields: readonly VariableField[]): string {
  if (fields.length === 0) return '';
  const argumentValue = argumentReader(request);
  const keys = fields.map(([field, definition]) => {
    const { own, rows } = costOfField(argumentValue, field, definition);
    return `${own} ${rows}`;
  });
  return keys.join();
}

/** A schema type; undefined if a document names a type that does not exist. */
type Type = GraphQLNamedType | undefined;

/** The counts of a selection set with fragments expanded. They do not depend on where the selection set is used. */
interface Expansion {
  readonly depth: number;
  /** The length of the chain of directly nested fragments that starts here. */
  readonly leadingFragments: number;
  /** The length of the longest such chain at any level. A limit on fields alone would not bound these chains. */
  readonly nestedFragments: number;
  /** The number of fields at this level, excluding `__typename`. */
  readonly ownFields: number;
  readonly fields: number;
  readonly aliases: number;
  /** The costs by row type. */
  readonly costs: ReadonlyMap<string, Cost>;
}

const nothing: Expansion = {
  ...{ depth: 0, leadingFragments: 0, nestedFragments: 0, ownFields: 0, fields: 0, aliases: 0 },
  costs: new Map(),
};

const uncounted: Expansion = { ...nothing, depth: 1 };

const costOfUnknown = { own: 1, rows: undefined, isVariable: false };
/** Introspection reads no rows, but a few fields return thousands of values, computed on the service's main thread. */
const costOfIntrospection = { ...costOfUnknown, rows: 100 };

/** One pass through a document. */
class Measurement {
  readonly variableFields: VariableField[] = [];
  readonly #request: DocumentRequest;
  readonly #argumentValue: ReturnType<typeof argumentReader>;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /**
   * Keyed by definition, because an invalid document may use a name twice. While a fragment is being counted, its value
   * is `nothing`, which breaks cycles.
   */
  readonly #expansions = new Map<FragmentDefinitionNode, Expansion>();
  #aliasesWritten = 0;
  #directivesWritten = 0;
  /** The number of uncounted `__typename`s, as written in the whole document. */
  #freeTypenames = 0;
  #schemaField: FieldNode | undefined;

  constructor(request: DocumentRequest) {
    this.#request = request;
    this.#argumentValue = argumentReader(request);
    const fragments = request.document.definitions.filter((one) => one.kind === Kind.FRAGMENT_DEFINITION);
    this.#fragments = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
  }

  run(): Measure {
    const { definitions, tokenCount = 0 } = this.#request.document;
    const expansions = definitions.map((definition) => this.#expandDefinition(definition));
    const mutations = expansions.filter((_expansion, at) => isMutation(definitions[at]));
    const dearest = dearestOf(expansions.map(({ costs }) => dearestOf(costs.values())));
    const most = (counts: readonly number[]) => counts.reduce((one, other) => Math.max(one, other), 0);
    const size: DocumentSize = {
      // The parser always sets `tokenCount`. The type makes it optional, because trees can be built without a parser.
      tokens: tokenCount - this.#freeTypenames,
      depth: most(expansions.map(({ depth, nestedFragments }) => Math.max(depth, nestedFragments))),
      fields: most(expansions.map(({ fields }) => fields)),
      aliases: Math.max(this.#aliasesWritten, most(expansions.map(({ aliases }) => aliases))),
      directives: this.#directivesWritten,
      mutationFields: most(mutations.map(({ ownFields }) => ownFields)),
      cost: dearest.cost,
    };
    return { size, costliest: dearest.costliest?.found, schemaField: this.#schemaField };
  }

  #expandDefinition(definition: DefinitionNode): Expansion {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) return this.#expandFragment(definition);
    this.#countDirectives(definition);
    if (definition.kind !== Kind.OPERATION_DEFINITION) return nothing;
    for (const variable of definition.variableDefinitions ?? []) this.#countDirectives(variable);
    return this.#expand(definition.selectionSet, this.#request.schema.getRootType(definition.operation) ?? undefined);
  }

  #expandFragment(fragment: FragmentDefinitionNode): Expansion {
    const cached = this.#expansions.get(fragment);
    if (cached !== undefined) return cached;
    this.#expansions.set(fragment, nothing);
    this.#countDirectives(fragment);
    const expansion = this.#expand(fragment.selectionSet, this.#typeNamed(fragment.typeCondition));
    this.#expansions.set(fragment, expansion);
    return expansion;
  }

  #typeNamed({ name }: NamedTypeNode): Type {
    return this.#request.schema.getType(name.value);
  }

  #expand({ selections }: SelectionSetNode, parent: Type): Expansion {
    const costs = new Map(this.#typesIn(parent).map((name) => [name, noCost]));
    const sum = { ...nothing, costs };
    const freeTypename = selections.find(isPlainTypename);
    if (freeTypename) {
      this.#freeTypenames += 1;
      if (selections.length === 1) sum.fields = 1;
    }
    for (const selection of selections) {
      this.#countDirectives(selection);
      const part = selection === freeTypename ? uncounted : this.#expandSelection(selection, parent);
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

  #typesIn(type: Type): readonly string[] {
    if (isAbstractType(type)) return this.#request.schema.getPossibleTypes(type).map(({ name }) => name);
    return [isObjectType(type) ? type.name : anyType];
  }

  #expandSelection(selection: SelectionNode, parent: Type): Expansion {
    if (selection.kind === Kind.FIELD) return this.#expandField(selection, parent);
    let inner: Expansion;
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      const { typeCondition, selectionSet } = selection;
      inner = this.#expand(selectionSet, typeCondition ? this.#typeNamed(typeCondition) : parent);
    } else {
      const fragment = this.#fragments.get(selection.name.value);
      if (!fragment) return nothing;
      inner = this.#expandFragment(fragment);
    }
    const leadingFragments = inner.leadingFragments + 1;
    return { ...inner, leadingFragments, nestedFragments: Math.max(inner.nestedFragments, leadingFragments) };
  }

  /** Counts a field and its children even if the type does not define the field, because validation comes later. */
  #expandField(field: FieldNode, parent: Type): Expansion {
    const name = field.name.value;
    const alias = field.alias === undefined ? 0 : 1;
    this.#aliasesWritten += alias;
    const isIntrospection = name === '__schema' || name === '__type';
    if (isIntrospection) this.#schemaField ??= field;
    const definition = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
    const ofUndefined = isIntrospection ? costOfIntrospection : costOfUnknown;
    const { own, rows, isVariable } = definition ? costOfField(this.#argumentValue, field, definition) : ofUndefined;
    if (definition && isVariable) this.variableFields.push([field, definition]);
    // Of a connection's fields, only `edges` and `nodes` count once per row.
    const isOnce = definition !== undefined && name !== 'edges' && name !== 'nodes' && isConnection(parent);
    const inner = field.selectionSet
      ? this.#expand(field.selectionSet, definition && getNamedType(definition.type))
      : nothing;
    const below = dearestOf(inner.costs.values());
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

  #countDirectives(node: { readonly directives?: readonly unknown[] | undefined } | object): void {
    if ('directives' in node) this.#directivesWritten += node.directives?.length ?? 0;
  }
}

const isMutation = (definition: DefinitionNode | undefined) =>
  definition?.kind === Kind.OPERATION_DEFINITION && definition.operation === 'mutation';

function isPlainTypename(selection: SelectionNode): boolean {
  if (selection.kind !== Kind.FIELD || selection.alias) return false;
  // A `__typename` with subfields is invalid, but its subfields must be counted.
  return selection.name.value === '__typename' && !selection.selectionSet;
}

function add(one: Cost, other: Cost): Cost {
  const isCostlier = other.costliest && other.costliest.cost > (one.costliest?.cost ?? -1);
  return {
    cost: one.cost + other.cost,
    once: one.once + other.once,
    costliest: isCostlier ? other.costliest : one.costliest,
  };
}

/** Returns the highest of the given costs, such as the cost of a row of the most expensive type. */
function dearestOf(costs: Iterable<Cost>): Cost {
  return [...costs].reduce((one, other) => (other.cost > one.cost ? other : one), noCost);
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

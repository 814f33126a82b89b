import { type GraphQLNamedType, type GraphQLSchema, isAbstractType, isObjectType } from 'graphql';

/** A type of the schema; undefined if a document names one that does not exist. */
export type Type = GraphQLNamedType | undefined;

interface Cost {
  readonly cost: number;
  /** The part of the cost that a list incurs once, rather than for each of its rows. */
  readonly once: number;
  readonly costliest: CostlyField | undefined;
}

/** The cost of a selection set for every row, and the additional costs for rows of certain object types. */
export interface SelectionCost extends Cost {
  /** The additional costs by object type; undefined if no fragment applies only to certain types. */
  readonly alternatives: ReadonlyMap<string, Cost> | undefined;
}

export const noCost: SelectionCost = { cost: 0, once: 0, costliest: undefined, alternatives: undefined };

/** Adds up the costs of selections for each concrete type. */
export function addAlternatives(
  one: SelectionCost['alternatives'],
  other: SelectionCost['alternatives'],
): SelectionCost['alternatives'] {
  if (!one || !other) return one ?? other;
  const sum = new Map(one);
  for (const [name, cost] of other) sum.set(name, add(sum.get(name) ?? noCost, cost));
  return sum;
}

/** Returns the cost that a fragment on a type adds to the enclosing selection set, whose rows are of type `parent`. */
export function costInFragment(schema: GraphQLSchema, inner: SelectionCost, on: Type, parent: Type): SelectionCost {
  const types = possibleTypes(schema, on);
  // Every row of the parent matches, or the type is unknown.
  if (!types || on === parent || (isAbstractType(on) && isObjectType(parent) && schema.isSubType(on, parent)))
    return inner;
  const alternatives = new Map(types.map((name) => [name, ofType(inner, name)]));
  return { ...noCost, alternatives };
}

/** Returns the cost of a row of the most expensive type: a row has one type, and only that type's fragments apply. */
export function dearestCost(schema: GraphQLSchema, sum: SelectionCost, type: Type): Cost {
  if (!sum.alternatives) return sum;
  const types = possibleTypes(schema, type) ?? [...sum.alternatives.keys()];
  return types.map((name) => ofType(sum, name)).reduce((one, other) => (other.cost > one.cost ? other : one), sum);
}

function possibleTypes(schema: GraphQLSchema, type: Type): readonly string[] | undefined {
  if (isObjectType(type)) return [type.name];
  return isAbstractType(type) ? schema.getPossibleTypes(type).map(({ name }) => name) : undefined;
}

function ofType(sum: SelectionCost, name: string): Cost {
  return add(sum, sum.alternatives?.get(name) ?? noCost);
}

function add(one: Cost, other: Cost): Cost {
  return {
    cost: one.cost + other.cost,
    once: one.once + other.once,
    costliest: costlier(one.costliest, other.costliest),
  };
}

/** The most expensive field of a selection set, and the most expensive field below it. */
export interface CostlyField {
  readonly responseKey: string;
  /** The cost of the field with everything below it, if the enclosing selection set is read once. */
  readonly cost: number;
  /** Whether the field is a list whose arguments determine its maximum number of rows. */
  readonly isSized: boolean;
  /** Whether the field occurs once per list, rather than once per row. */
  readonly isOnce: boolean;
  /** How many times the field's own selection set is counted, except for fields that occur once. */
  readonly times: number;
  readonly below: CostlyField | undefined;
}

export interface CostlyPath {
  readonly path: readonly string[];
  readonly cost: number;
}

/**
 * Finds what makes a document expensive. Follows the costliest field down as long as it accounts for more than half of
 * the cost above it. Returns the last list (or field with its own price) on that path, or the root field if there is
 * none: asking for fewer rows or fields there helps most.
 */
export function costliestPath(root: CostlyField): CostlyPath {
  const path = [root.responseKey];
  let found: CostlyPath = { path: [...path], cost: root.cost };
  let times = 1;
  for (let field = root; ; ) {
    const { below } = field;
    const timesBelow = below?.isOnce ? 1 : field.times;
    if (!below || below.cost * timesBelow <= field.cost / 2) return found;
    times *= timesBelow;
    field = below;
    path.push(field.responseKey);
    if (field.isSized) found = { path: [...path], cost: times * field.cost };
  }
}

/** Returns the more expensive field, or the first one if both cost the same. */
export function costlier(one: CostlyField | undefined, other: CostlyField | undefined): CostlyField | undefined {
  return !one || (other && other.cost > one.cost) ? other : one;
}

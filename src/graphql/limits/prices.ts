import type { GraphQLField } from 'graphql';

/**
 * What a field costs by itself, in fields of a row, by how it is read. `npm run soak -- cost` compares the prices with the
 * processor time that Postgres takes.
 */
const prices = {
  /** A list whose rows are found for each row that has it. */
  values: 5,
  /** A field of the query that a plan reads: a read of its own. */
  root: 25,
  /** A row as it was at a change, which Postgres makes of what has changed since. */
  past: 25,
  /** A field whose resolver sends statements of its own. */
  statements: 100,
  /** All rows that match, however few are answered: some 100,000 of them. */
  all: 5_000,
} as const;

/** How a field is read that costs more than others of its kind. */
export type Costs = 'past' | 'statements' | 'all';

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    costs?: Costs;
  }
  interface GraphQLInputFieldExtensions {
    /** What it costs to find rows by this field: 'all' where no index has them in the order of lists. */
    costs?: Costs;
  }
}

/** Returns what a field costs without what is below it, for each row that has it. */
export function priceOf({ extensions }: GraphQLField<unknown, unknown>, isRoot: boolean): number {
  const { read } = extensions;
  const costs = read?.costs ?? extensions.costs;
  if (costs) return prices[costs];
  if (isRoot && read) return prices.root;
  return read?.kind === 'values' ? prices.values : 1;
}

/** Returns what a field of an input costs where it is given. */
export function inputPrice(costs: Costs | undefined): number {
  return costs ? prices[costs] : 0;
}

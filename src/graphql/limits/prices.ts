import type { GraphQLField } from 'graphql';
import { plainReadText } from '../reading/plain-text.ts';
import type { Read } from '../reading/reads.ts';

/**
 * What a field costs by itself, in fields of a row, by how it is read. `npm run soak -- cost` compares the prices with the
 * processor time that Postgres takes.
 */
const prices = {
  /** What is in other rows, for each query that finds some, or what functions of Postgres make: for each row that has the field. */
  rows: 8,
  /** A row as it was at a change, which Postgres makes of what has changed since. */
  past: 80,
  /** A read of its own, with its own plan: a field of the query, or one whose resolver sends statements. */
  read: 250,
  /** All rows that match, some 30,000: they are counted, or searched where no index finds them. */
  all: 5_000,
  /** The same, and their amounts are added up. */
  sums: 7_500,
} as const;

/** How a field is read, where its kind of read does not say that it costs more than a column. */
export type Costs = keyof typeof prices;

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
  if (!read) return 1;
  return isRoot ? prices.read : Math.max(1, queriesOf(read) * prices.rows);
}

const queries = new WeakMap<Read, number>();

/** Counts the queries by which a field is read, for each row that has it: none where it is made of that row. */
function queriesOf(read: Read): number {
  let count = queries.get(read);
  if (count === undefined) {
    const own = read.kind === 'leaf' || read.kind === 'value' ? 0 : 1;
    count = own + (plainReadText(read).match(/\bselect\b/g)?.length ?? 0);
    queries.set(read, count);
  }
  return count;
}

/** Returns what a field of an input costs where it is given. */
export function inputPrice(costs: Costs | undefined): number {
  return costs ? prices[costs] : 0;
}

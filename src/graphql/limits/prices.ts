import type { GraphQLField } from 'graphql';
import { plainText } from '../reading/plain-text.ts';
import type { Read } from '../reading/reads.ts';

/**
 * What a field costs by itself, in fields of a row, by how it is read. `npm run soak -- cost` compares the prices with the
 * processor time that Postgres takes.
 */
const prices = {
  /** What is in other rows, which are found for each row that has the field. */
  rows: 5,
  /** A row as it was at a change, which Postgres makes of what has changed since. */
  past: 25,
  /** A read of its own, with its own plan: a field of the query, or one whose resolver sends statements. */
  read: 100,
  /** All rows that match, however few are answered: some 100,000 of them. */
  all: 8_000,
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
  if (isRoot) return prices.read;
  return isInOtherRows(read) ? prices.rows : 1;
}

const inOtherRows = new WeakMap<Read, boolean>();

/** Tells whether a field is read from other rows than the one that has it. */
function isInOtherRows(read: Read): boolean {
  if (read.kind !== 'leaf') return read.kind !== 'value';
  let known = inOtherRows.get(read);
  if (known === undefined) {
    known = /\bselect\b/.test(plainText(read.sql({}, () => ({}))));
    inOtherRows.set(read, known);
  }
  return known;
}

/** Returns what a field of an input costs where it is given. */
export function inputPrice(costs: Costs | undefined): number {
  return costs ? prices[costs] : 0;
}

import type { GraphQLFieldExtensions } from 'graphql';
import { type Costs, plainReadText, type Read } from './reads.ts';

/** What a field costs by itself, in fields of a row, by how it is read: `npm run soak -- cost` compares with Postgres' time. */
const prices: Readonly<Record<Costs | 'list', number>> = {
  /** A list below a parent, for each way to find its rows. */
  list: 80,
  /** What is in other rows, for each query that finds some, or what functions of Postgres make: for each row that has the field. */
  rows: 10,
  /** What is in other rows, for each leg of a payment, of which there are several. */
  legs: 20,
  /** A row as it was at a change, which Postgres makes of what has changed since. */
  past: 80,
  /** A read of its own, with its own plan: a field of the query, or one whose resolver sends statements. */
  read: 300,
  /** All rows that match, some 30,000: they are counted. */
  all: 4_000,
  /** All rows that match, and their amounts are added up. */
  sums: 8_200,
};

/** Returns what a field costs without what is below it, for each row that has it. */
export function priceOf({ read, costs: own }: GraphQLFieldExtensions<unknown, unknown>, isRoot: boolean): number {
  const costs = read?.costs ?? own;
  if (costs) return prices[costs] * waysOf(read);
  if (!read) return 1;
  if (isRoot) return prices.read;
  return read.kind === 'page' ? prices.list * waysOf(read) : Math.max(1, queriesOf(read) * prices.rows);
}

/**
 * Returns what it costs in addition to search for the rows of a list, or of a sum: no index has just those in its order, and some
 * 30,000 are looked at, in each way that leads to rows of a list. A sum looks at them in any case.
 */
export function searchPriceOf({ read }: GraphQLFieldExtensions<unknown, unknown>): number {
  return read?.costs === 'sums' ? prices.sums : prices.sums * waysOf(read);
}

/** Returns in how many ways the rows of a list or a sum are found: those of an account are its payments from it, and those to it. */
function waysOf(read: Read | undefined): number {
  return read?.ways ?? 1;
}

/** Counts the queries by which a field is read, for each row that has it: none where it is made of that row. */
function queriesOf(read: Read): number {
  const own = read.kind === 'leaf' || read.kind === 'value' ? 0 : 1;
  return own + (plainReadText(read).match(/\bselect\b/g)?.length ?? 0);
}

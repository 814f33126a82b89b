import type { GraphQLFieldExtensions } from 'graphql';
import type { Costs } from './costs.ts';
import { plainReadText } from './plain-text.ts';
import type { Read } from './reads.ts';

/**
 * What a field costs by itself, in fields of a row, by how it is read. `npm run soak -- cost` compares the prices with the
 * processor time that Postgres takes.
 */
const prices: Readonly<Record<Costs, number>> = {
  /** What is in other rows, for each query that finds some, or what functions of Postgres make: for each row that has the field. */
  rows: 10,
  /** A row as it was at a change, which Postgres makes of what has changed since. */
  past: 80,
  /** A read of its own, with its own plan: a field of the query, or one whose resolver sends statements. */
  read: 250,
  /** All rows that match, some 30,000: they are counted. */
  all: 4_000,
  /** All rows that match, and their amounts are added up. */
  sums: 8_000,
};

/** Returns what a field costs without what is below it, for each row that has it. */
export function priceOf({ read, costs: own }: GraphQLFieldExtensions<unknown, unknown>, isRoot: boolean): number {
  const costs = read?.costs ?? own;
  if (costs) return prices[costs];
  if (!read) return 1;
  return isRoot ? prices.read : Math.max(1, queriesOf(read) * prices.rows);
}

/** Counts the queries by which a field is read, for each row that has it: none where it is made of that row. */
function queriesOf(read: Read): number {
  const own = read.kind === 'leaf' || read.kind === 'value' ? 0 : 1;
  return own + (plainReadText(read).match(/\bselect\b/g)?.length ?? 0);
}

/** What a list costs in addition whose rows are searched for: no index has just those in its order, and some 30,000 are looked at. */
export const searchPrice = prices.sums;

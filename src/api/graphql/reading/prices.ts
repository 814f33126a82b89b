import type { GraphQLFieldExtensions } from 'graphql';
import { type Costs, plainReadText, type Read } from './reads.ts';

/**
 * The price of a field by how it is read; a plain field of a row costs 1. `npm run soak -- cost` compares the prices
 * with the time that Postgres takes.
 */
const prices: Readonly<Record<Costs | 'list', number>> = {
  /** A list below a parent, for each way to find its rows. */
  list: 80,
  /** Values from other rows or from Postgres functions: per query, and per row that has the field. */
  rows: 10,
  /** Values from other rows, for each leg of a payment, of which there are several. */
  legs: 20,
  /** A row as of a change, which Postgres reconstructs from later changes. */
  past: 80,
  /** A read with its own plan: a field of the query, or one whose resolver sends statements. */
  read: 300,
  /** All matching rows, some 30,000, to count them. */
  all: 4_000,
  /** All matching rows, to add up their amounts. */
  sums: 9_000,
};

/** Returns the price of a field without its subfields, for each row that has it. */
export function priceOf({ read, costs: own }: GraphQLFieldExtensions<unknown, unknown>, isRoot: boolean): number {
  const costs = read?.costs ?? own;
  if (costs) return prices[costs] * waysOf(read);
  if (!read) return 1;
  if (isRoot) return prices.read;
  return read.kind === 'page' ? prices.list * waysOf(read) : Math.max(1, queriesOf(read) * prices.rows);
}

/**
 * Returns the extra price of searching for the rows of a list or sum: no index has exactly those rows in order, so some
 * 30,000 are examined for each way of finding a list's rows. A sum examines them in any case.
 */
export function searchPriceOf({ read }: GraphQLFieldExtensions<unknown, unknown>): number {
  return read?.costs === 'sums' ? prices.sums : prices.sums * waysOf(read);
}

/** Returns the number of ways to find a list's or sum's rows: an account has payments from it, and payments to it. */
function waysOf(read: Read | undefined): number {
  return read?.ways ?? 1;
}

/** Counts the queries that read a field, for each row that has it: none if the row itself provides the value. */
function queriesOf(read: Read): number {
  const own = read.kind === 'leaf' || read.kind === 'value' ? 0 : 1;
  return own + (plainReadText(read).match(/\bselect\b/g)?.length ?? 0);
}

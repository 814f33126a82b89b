import type pg from 'pg';

/** Anything that runs a query: the pool, or one client of it. */
export type Queryable = Pick<pg.Pool, 'query'>;

/** A prepared statement: runs with its values and answers the rows. */
export type Statement<Row> = (on: Queryable, ...values: readonly unknown[]) => Promise<Row[]>;

const texts = new Map<string, string>();

/**
 * Makes a prepared statement. `name` says what the statement does.
 * @throws Error when another text has the name: a connection that had prepared the one would refuse the other
 */
export function statement<Row extends object>(name: string, text: string): Statement<Row> {
  if ((texts.get(name) ?? text) !== text) throw new Error(`two statements are named ${name}`);
  texts.set(name, text);
  return async (on, ...values) => (await on.query<Row>({ name, text, values: [...values] })).rows;
}

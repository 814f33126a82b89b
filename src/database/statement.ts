import type pg from 'pg';

/** Anything that runs a query: the pool, or one client of it. */
export type Queryable = Pick<pg.Pool, 'query'>;

/** A prepared statement: runs with its values and answers the rows. */
export type Statement<Row> = (on: Queryable, ...values: readonly unknown[]) => Promise<Row[]>;

/** Makes a prepared statement. `name` is unique per text and says what the statement does. */
export function statement<Row extends object>(name: string, text: string): Statement<Row> {
  return async (on, ...values) => (await on.query<Row>({ name, text, values: [...values] })).rows;
}

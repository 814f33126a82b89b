import type pg from 'pg';
import type { Database } from './database.ts';
import { isSilent, OutcomeUnknown, wasRolledBack } from './faults.ts';
import type { Prisma } from './generated/client/client.ts';

/** One transaction, by two ways: statements of ours run on `client`, and those of Prisma among them. */
export interface Transaction {
  readonly client: pg.PoolClient;
  readonly prisma: Prisma.TransactionClient;
}

/**
 * Does `work` in one transaction of one connection of the pool: all of it is committed, or with an exception nothing.
 * @throws OutcomeUnknown when the commit was sent and not answered; whatever else is thrown, nothing has happened. An
 *   error of a statement is Postgres' own, whichever way the statement came
 */
export async function inTransaction<T>(
  database: Pick<Database, 'pool' | 'commits' | 'joinPrisma'>,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const client = await database.pool.connect();
  let broken: unknown;
  try {
    const result = await transactionOn(
      client,
      () => database.joinPrisma(client, (prisma) => work({ client, prisma })),
      {
        onBroken: (error) => {
          broken = error;
        },
      },
    );
    database.commits.emit('committed');
    return result;
  } finally {
    client.release(asError(broken));
  }
}

interface TransactionOptions {
  /** The statement that begins it: `begin` with its isolation level and access mode. */
  readonly begin?: `begin${string}`;
  /** Called when the connection cannot be used any more: it does not answer, or cannot roll back. */
  readonly onBroken?: (error: unknown) => void;
}

/**
 * Does `work` in one transaction of a connection that the caller holds, as `inTransaction` does with one of the pool.
 * @throws OutcomeUnknown as `inTransaction` does
 */
export async function transactionOn<T>(
  client: pg.ClientBase,
  work: () => Promise<T>,
  { begin = 'begin', onBroken = () => undefined }: TransactionOptions = {},
): Promise<T> {
  try {
    await client.query(begin);
    const result = await work();
    const { command } = await certain(client.query('commit'));
    // Postgres answers COMMIT with ROLLBACK where a statement has failed and its error was not passed on.
    if (command !== 'COMMIT')
      throw new Error(`the transaction ended with ${command}: one of its statements had failed`);
    return result;
  } catch (error) {
    // A connection that does not answer is given up, which undoes its transaction; so is one that cannot roll back.
    if (isSilent(error)) onBroken(error);
    else await client.query('rollback').catch(onBroken);
    throw error;
  }
}

/** Does `work` on a connection that the caller holds, and undoes all that it did to the database. */
export async function rolledBack<T>(client: pg.ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    return await work();
  } finally {
    await client.query('rollback');
  }
}

/**
 * Runs one statement that commits by itself.
 * @throws OutcomeUnknown when it was sent and not answered; whatever else is thrown, nothing has happened
 */
export async function committing<T>(pool: pg.Pool, statement: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  // Where no connection is to be had, nothing is sent.
  const client = await pool.connect();
  let broken: unknown;
  try {
    return await certain(statement(client));
  } catch (error) {
    broken = isSilent(error) ? error : undefined;
    throw error;
  } finally {
    client.release(asError(broken));
  }
}

/** What a statement that commits comes to: when it fails without a word from Postgres, nobody knows. */
async function certain<T>(statement: Promise<T>): Promise<T> {
  return statement.catch((error: unknown) => {
    throw wasRolledBack(error) ? error : new OutcomeUnknown(error);
  });
}

/** The pool destroys a connection that is given back with an error. */
function asError(error: unknown): Error | undefined {
  return error === undefined || error instanceof Error ? error : new Error(String(error));
}

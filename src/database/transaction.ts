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
 * Does `work` in one transaction of one connection: all of it is committed, or with an exception nothing.
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
    await client.query('begin');
    const result = await database.joinPrisma(client, (prisma) => work({ client, prisma }));
    const { command } = await certain(client.query('commit'));
    // Postgres answers COMMIT with ROLLBACK where a statement has failed and its error was not passed on.
    if (command !== 'COMMIT')
      throw new Error(`the transaction ended with ${command}: one of its statements had failed`);
    database.commits.emit('committed');
    return result;
  } catch (error) {
    // A connection that does not answer is destroyed, which undoes its transaction; so is one that cannot roll back.
    broken = isSilent(error) ? error : await client.query('rollback').then(() => undefined, asError);
    throw error;
  } finally {
    client.release(asError(broken));
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

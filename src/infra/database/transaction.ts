import type pg from 'pg';
import type { Database } from './database.ts';
import { isConnectionLost, isReadOnly, OutcomeUnknown, wasRolledBack } from './faults.ts';
import type { Prisma } from './generated/client/client.ts';
import { type Queryable, statement } from './statement.ts';

/** A transaction shared by two clients: plain SQL runs on `client`, Prisma's statements on the same connection. */
export interface Transaction {
  readonly client: pg.PoolClient;
  readonly prisma: Prisma.TransactionClient;
}

/**
 * Runs `work` in one transaction on one of the pool's connections.
 * @throws OutcomeUnknown if the commit was sent but not acknowledged; after any other error, nothing has changed.
 *   If a statement failed, even one of Prisma's, the error is the one that Postgres reported
 */
export async function inTransaction<T>(
  database: Pick<Database, 'pool' | 'commits' | 'joinPrisma'>,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  return withClient(await database.pool.connect(), async (client, onBroken) => {
    const joined = () => database.joinPrisma(client, (prisma) => work({ client, prisma }));
    const result = await transactionOn(client, joined, { onBroken });
    database.commits.emit('committed');
    return result;
  });
}

interface TransactionOptions {
  /** The statement that begins the transaction: `begin`, optionally with an isolation level and access mode. */
  readonly begin?: `begin${string}`;
  /** Called when the connection becomes unusable because it cannot roll back. */
  readonly onBroken?: (error: Error) => void;
}

/** Runs `work` in one transaction on the caller's connection, as `inTransaction` does on a pool's connection. */
export async function transactionOn<T>(
  client: pg.ClientBase,
  work: () => Promise<T>,
  { begin = 'begin', onBroken = () => undefined }: TransactionOptions = {},
): Promise<T> {
  try {
    await client.query(begin);
    const result = await work();
    const { command } = await withKnownOutcome(client.query('commit'));
    // Postgres responds to COMMIT with ROLLBACK if a statement has failed and `work` has ignored its error.
    if (command !== 'COMMIT')
      throw new Error(`the transaction ended with ${command}: one of its statements had failed`);
    return result;
  } catch (error) {
    // A lost connection, or one that cannot roll back, is destroyed, which rolls back its transaction.
    if (!isConnectionLost(error)) await client.query('rollback').catch(onBroken);
    throw error;
  }
}

export async function inRolledBackTransaction<T>(client: pg.ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    return await work();
  } finally {
    await client.query('rollback');
  }
}

/** Runs `work` in a transaction on one of the pool's connections, and always rolls it back. */
export async function rolledBack<T>({ pool }: Pick<Database, 'pool'>, work: (client: pg.PoolClient) => Promise<T>) {
  return withClient(await pool.connect(), (client) => inRolledBackTransaction(client, () => work(client)));
}

/** Runs a statement that commits its own transaction. @throws OutcomeUnknown if it was sent but not acknowledged */
export async function runCommitting<T>(
  database: Pick<Database, 'connectForFunctions'>,
  statement: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  return withClient(await database.connectForFunctions(), (client) => withKnownOutcome(statement(client)));
}

async function withClient<T>(
  client: pg.PoolClient,
  work: (client: pg.PoolClient, onBroken: (error: Error) => void) => Promise<T>,
): Promise<T> {
  // The pool destroys a connection that is released with an error.
  let broken: Error | undefined;
  const onBroken = (error: Error) => {
    broken = error;
  };
  try {
    return await work(client, onBroken);
  } catch (error) {
    if (isConnectionLost(error) || isReadOnly(error)) onBroken(error);
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Awaits a statement that commits. An error not reported by Postgres itself becomes OutcomeUnknown. */
async function withKnownOutcome<T>(statement: Promise<T>): Promise<T> {
  return statement.catch((error: unknown) => {
    throw wasRolledBack(error) ? error : new OutcomeUnknown(error);
  });
}

const clockStatement = statement<{ now: Date; id: string }>('read_clock', 'select clock_ms() as now, uuid_v7() as id');

/** Reads the database's clock, to the millisecond, and creates an id for that time. Prisma cannot use that clock. */
export async function readClock(on: Queryable): Promise<{ readonly now: Date; readonly id: string }> {
  const [row] = await clockStatement(on);
  if (!row) throw new Error('read_clock returned no row');
  return row;
}

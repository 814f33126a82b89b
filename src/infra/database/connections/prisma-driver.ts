import { AsyncLocalStorage } from 'node:async_hooks';
import { PrismaPg } from '@prisma/adapter-pg';
import { DriverAdapterError, type SqlQuery, type Transaction } from '@prisma/driver-adapter-utils';
import pg from 'pg';
import { type Prisma, PrismaClient } from '../generated/client/client.ts';
import type { NameOf } from './statement-names.ts';

/** Wraps an error from Postgres or the connection, which Prisma would otherwise replace with its own error. */
export class StatementFailed extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/**
 * Opens a Prisma client on a pool. Unlike Prisma's own driver, it never begins a transaction: an interactive
 * transaction is part of one that `inTransaction` begins and ends. This works around a flaw in Prisma: when one of its
 * own transactions times out, the connection returns to the pool while a command may still be running. The command's
 * later statements then commit one by one (docs/prisma.md).
 */
export function openPrisma(pool: pg.Pool, nameOf: NameOf, transactionMs: number) {
  const driver = driverOn((statement) => pool.query(statement), nameOf);
  /** The outer transaction that the new `$transaction` should join. */
  const joining = new AsyncLocalStorage<TransactionPart>();
  const startTransaction = async () => {
    const joined = joining.getStore()?.join();
    if (!joined) throw new Error('Prisma must not begin a transaction: use inTransaction');
    return joined;
  };
  const { provider, adapterName } = driver;
  const connect = async () => Object.assign(await driver.connect(), { startTransaction });
  const prisma = new PrismaClient({ adapter: { provider, adapterName, connect } });
  return {
    prisma,
    /**
     * Runs `work` with a Prisma client whose statements all run on `client`, which has already begun a transaction.
     * Refuses statements once `work` has ended or has taken longer than `transactionMs`. Does not commit or roll back.
     * Only for `inTransaction` (transaction.ts).
     * @throws the error from `work`; if a Prisma statement failed, the Postgres error instead of Prisma's
     */
    async joinPrisma<T>(client: pg.ClientBase, work: (prisma: Prisma.TransactionClient) => Promise<T>): Promise<T> {
      const part = await openPart(client, nameOf);
      try {
        const limits = { maxWait: transactionMs, timeout: transactionMs };
        return await joining.run(part, () => prisma.$transaction(work, limits));
      } catch (error) {
        throw error instanceof StatementFailed ? error.cause : error;
      } finally {
        part.close();
      }
    },
  };
}

type TransactionPart = Awaited<ReturnType<typeof openPart>>;

/** Opens a transaction in the form that Prisma expects. Until it is closed, it runs statements on `client`. */
async function openPart(client: pg.ClientBase, nameOf: NameOf) {
  let isOpen = true;
  const close = () => {
    isOpen = false;
  };
  const query = async (statement: pg.QueryConfig) => {
    if (!isOpen) throw new DriverAdapterError({ kind: 'TransactionAlreadyClosed', cause: 'the transaction is over' });
    return client.query(statement);
  };
  const adapter = await driverOn(query, nameOf).connect();
  let transaction: Transaction | undefined = {
    provider: adapter.provider,
    adapterName: adapter.adapterName,
    // With this option, Prisma calls the two methods below instead of sending BEGIN, COMMIT or ROLLBACK.
    options: { usePhantomQuery: true },
    commit: async () => close(),
    rollback: async () => close(),
    queryRaw: (sql: SqlQuery) => adapter.queryRaw(sql),
    executeRaw: (sql: SqlQuery) => adapter.executeRaw(sql),
  };
  return {
    close,
    /** Returns the transaction when the first `$transaction` asks for it, and undefined for a nested one. */
    join() {
      const joined = transaction;
      transaction = undefined;
      return joined;
    },
  };
}

function driverOn(send: (statement: pg.QueryConfig) => Promise<pg.QueryResult>, nameOf: NameOf): PrismaPg {
  const query = (statement: pg.QueryConfig) =>
    send(statement).catch((error: unknown) => {
      throw error instanceof DriverAdapterError ? error : new StatementFailed(error);
    });
  // Prisma's driver requires a pool. It calls only the `query` given here, so the pool opens no connections.
  const pool = Object.assign(new pg.Pool({ max: 1 }), { query: query as pg.Pool['query'] });
  return new PrismaPg(pool, { statementNameGenerator: ({ sql }) => nameOf(sql) });
}

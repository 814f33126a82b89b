import { AsyncLocalStorage } from 'node:async_hooks';
import { PrismaPg } from '@prisma/adapter-pg';
import {
  DriverAdapterError,
  type SqlDriverAdapter,
  type SqlDriverAdapterFactory,
  type SqlQuery,
  type Transaction,
} from '@prisma/driver-adapter-utils';
import pg from 'pg';
import type { Prisma, PrismaClient } from '../generated/client/client.ts';

/** Returns the name of the prepared statement with this text; '' for a statement that is planned each time. */
type NameOf = (sql: string) => string;

/**
 * Prisma's driver for Postgres on a given pool. Unlike Prisma's own, it lets an interactive transaction be part of one
 * that `inTransaction` begins and ends. It works around a flaw: when Prisma's own transaction times out, its connection
 * returns to the pool although a command may still be running, whose later statements then commit one by one
 * (docs/prisma.md).
 */
export class PrismaDriver implements SqlDriverAdapterFactory {
  readonly provider = 'postgres';
  readonly adapterName: string;
  readonly #driver: PrismaPg;
  readonly #nameOf: NameOf;
  /** The part that the `$transaction` being started is to join. */
  readonly #joining = new AsyncLocalStorage<TransactionPart>();

  constructor(pool: pg.Pool, nameOf: NameOf) {
    this.#nameOf = nameOf;
    this.#driver = driverOn(pool, nameOf);
    this.adapterName = this.#driver.adapterName;
  }

  async connect(): Promise<SqlDriverAdapter> {
    const adapter = await this.#driver.connect();
    const startOwn = adapter.startTransaction.bind(adapter);
    return Object.assign(adapter, {
      startTransaction: async (...isolation: Parameters<typeof startOwn>) =>
        this.#joining.getStore()?.join() ?? (await startOwn(...isolation)),
    });
  }

  /**
   * Runs `work` with a Prisma client whose statements all run on `client`, which has already begun a transaction.
   * Refuses statements once `work` has ended or has taken longer than `transactionMs`. Does not commit or roll back.
   * @throws the error from `work`; if a Prisma statement failed, Postgres' error instead of Prisma's
   */
  async join<T>(
    prisma: PrismaClient,
    client: pg.ClientBase,
    transactionMs: number,
    work: (prisma: Prisma.TransactionClient) => Promise<T>,
  ): Promise<T> {
    const part = new TransactionPart(client);
    await part.connect(this.#nameOf);
    try {
      const limits = { maxWait: transactionMs, timeout: transactionMs };
      return await this.#joining.run(part, () => prisma.$transaction(work, limits));
    } catch (error) {
      throw error instanceof Error && error.name.startsWith('Prisma') ? (part.failure ?? error) : error;
    } finally {
      part.close();
    }
  }
}

/** A transaction in the form that Prisma expects. It runs statements on a connection until it is closed. */
class TransactionPart {
  /** The error of the first failed statement, from Postgres or the connection. */
  failure: unknown;
  readonly #client: pg.ClientBase;
  #transaction: Transaction | undefined;
  #open = true;

  constructor(client: pg.ClientBase) {
    this.#client = client;
  }

  async connect(nameOf: NameOf): Promise<void> {
    const adapter = await driverOn(new SingleConnectionPool(this), nameOf).connect();
    this.#transaction = {
      provider: adapter.provider,
      adapterName: adapter.adapterName,
      // With this, Prisma calls the two methods below instead of sending BEGIN, COMMIT or ROLLBACK.
      options: { usePhantomQuery: true },
      commit: async () => this.close(),
      rollback: async () => this.close(),
      queryRaw: (query: SqlQuery) => adapter.queryRaw(query),
      executeRaw: (query: SqlQuery) => adapter.executeRaw(query),
    };
  }

  /** Returns the transaction to the first `$transaction` that calls this; a nested `$transaction` gets undefined. */
  join(): Transaction | undefined {
    const transaction = this.#transaction;
    this.#transaction = undefined;
    return transaction;
  }

  close(): void {
    this.#open = false;
  }

  async query(statement: pg.QueryConfig): Promise<pg.QueryResult> {
    if (!this.#open)
      throw new DriverAdapterError({ kind: 'TransactionAlreadyClosed', cause: 'the transaction is over' });
    try {
      return await this.#client.query(statement);
    } catch (error) {
      this.failure ??= error;
      throw error;
    }
  }
}

/** The pool that Prisma's driver requires. Runs all queries on one transaction's connection, and opens no others. */
class SingleConnectionPool extends pg.Pool {
  constructor(part: TransactionPart) {
    super({ max: 1 });
    // Prisma's driver calls no other form of `query`.
    this.query = ((statement: pg.QueryConfig) => part.query(statement)) as pg.Pool['query'];
  }
}

function driverOn(pool: pg.Pool, nameOf: NameOf): PrismaPg {
  return new PrismaPg(pool, { statementNameGenerator: ({ sql }) => nameOf(sql) });
}

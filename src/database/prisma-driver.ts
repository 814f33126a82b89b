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
import type { Prisma, PrismaClient } from './generated/client/client.ts';

/** Names a prepared statement by its text; '' for one that is planned each time. */
type NameOf = (sql: string) => string;

/**
 * Prisma's driver for Postgres, on a pool of ours. It is Prisma's own, but for one thing: an interactive transaction can be
 * a part of a transaction that is begun, committed and rolled back by `inTransaction` (transaction.ts).
 *
 * The reason is a fault of Prisma's own interactive transactions. When one times out, Prisma rolls it back and gives its
 * connection to the pool, while a command of several statements may still be under way: those that come later run on a
 * connection without a transaction, and each commits by itself. docs/prisma.md says more.
 */
export class PrismaDriver implements SqlDriverAdapterFactory {
  readonly provider = 'postgres';
  readonly adapterName: string;
  readonly #driver: PrismaPg;
  readonly #nameOf: NameOf;
  /** What the `$transaction` that is being started joins. */
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
   * Runs `work` with a Prisma client all of whose statements run on `client`, which has begun a transaction. Nothing runs
   * there once `work` has ended or has taken longer than `transactionMs`, and none of it is committed or rolled back here.
   * @throws what `work` throws; where a statement of Prisma's failed, Postgres' own error instead of Prisma's
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

/** What Prisma takes for a transaction of its own: statements on a connection, as long as it is open. */
class TransactionPart {
  /** The error of the first statement that failed, as Postgres or the connection gave it. */
  failure: unknown;
  readonly #client: pg.ClientBase;
  #transaction: Transaction | undefined;
  #open = true;

  constructor(client: pg.ClientBase) {
    this.#client = client;
  }

  async connect(nameOf: NameOf): Promise<void> {
    const adapter = await driverOn(new ConnectionOf(this), nameOf).connect();
    this.#transaction = {
      provider: adapter.provider,
      adapterName: adapter.adapterName,
      // Prisma sends no BEGIN, COMMIT or ROLLBACK: it calls these two, and the transaction's owner does the rest.
      options: { usePhantomQuery: true },
      commit: async () => this.close(),
      rollback: async () => this.close(),
      queryRaw: (query: SqlQuery) => adapter.queryRaw(query),
      executeRaw: (query: SqlQuery) => adapter.executeRaw(query),
    };
  }

  /** The transaction for the first `$transaction` that asks; one that is nested in it gets none. */
  join(): Transaction | undefined {
    const transaction = this.#transaction;
    this.#transaction = undefined;
    return transaction;
  }

  /** Lets no more statements through. */
  close(): void {
    this.#open = false;
  }

  async query(statement: pg.QueryConfig): Promise<pg.QueryResult> {
    if (!this.#open) {
      throw new DriverAdapterError({ kind: 'TransactionAlreadyClosed', cause: 'the transaction is over' });
    }
    try {
      return await this.#client.query(statement);
    } catch (error) {
      this.failure ??= error;
      throw error;
    }
  }
}

/** A pool of the one connection that a transaction has: the form in which Prisma's driver takes it. It connects to nothing. */
class ConnectionOf extends pg.Pool {
  constructor(part: TransactionPart) {
    super({ max: 1 });
    this.query = ((statement: pg.QueryConfig) => part.query(statement)) as pg.Pool['query'];
  }
}

function driverOn(pool: pg.Pool, nameOf: NameOf): PrismaPg {
  return new PrismaPg(pool, { statementNameGenerator: ({ sql }) => nameOf(sql) });
}

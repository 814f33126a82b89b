import { EventEmitter } from 'node:events';
import pg from 'pg';
import { timedOut } from './faults.ts';
import { type Prisma, PrismaClient } from './generated/client/client.ts';
import { PrismaDriver } from './prisma-driver.ts';
import { connectionSeconds, StatementNames } from './statement-names.ts';
import { askText, TextQuery } from './text-query.ts';

/**
 * One Postgres, three ways in over one pool: `read` for the lists and nodes that are asked for all the time, Prisma for
 * plain records, `pg` for everything that moves money. docs/prisma.md says which is for what.
 */
export interface Database {
  readonly url: string;
  readonly pool: pg.Pool;
  readonly prisma: PrismaClient;
  /** Gives `work` a Prisma client in the transaction of `client`: for `inTransaction` alone (transaction.ts). */
  joinPrisma<T>(client: pg.ClientBase, work: (prisma: Prisma.TransactionClient) => Promise<T>): Promise<T>;
  /** Runs a statement that was put together, and answers its rows as lists of their values. It is prepared when it comes again. */
  read<Row extends unknown[]>(text: string, values: readonly unknown[]): Promise<Row[]>;
  /** The same for a statement whose answer is one text, in half the time. */
  readText(text: string, values: readonly unknown[]): Promise<string>;
  /** How long an answer is waited for, in milliseconds; then its connection is given up. */
  readonly patienceMs: number;
  /** Tells this process's sequencer that something was committed, so that it need not wait for its next look. */
  readonly commits: EventEmitter<{ committed: [] }>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  /** Most connections held at once. Work beyond it waits in this process, at most `acquireTimeoutMs`. */
  readonly poolSize?: number;
  readonly acquireTimeoutMs?: number;
  /** The most that a statement may take, in milliseconds: 10 seconds. For tests only. */
  readonly statementMs?: number;
  /** The most that Prisma may take in one transaction, in milliseconds: 30 seconds. For tests only. */
  readonly transactionMs?: number;
}

const INT8 = 20;

/** The most that a statement may take; then Postgres cancels it. */
const mostMs = 10_000;
/** How much longer an answer may take: what does not come then was lost on the way, and its connection with it. */
const graceMs = 2_000;
/**
 * The most that Prisma may take in one transaction. Prisma wants such a limit; what ends a transaction that hangs are the
 * limits of its session, which are shorter.
 */
const longestTransactionMs = 30_000;

/** Settings that every session needs. UTC, because adapter-pg shifts timestamps in any other zone. */
const sessionSettings = (statementMs: number) => [
  'timezone=UTC',
  'lock_timeout=2000',
  `statement_timeout=${statementMs}`,
  'idle_in_transaction_session_timeout=10000',
  // A plan over JSON is thought to be of a million rows, and has two: compiling it took ten times as long as the payment.
  'jit=off',
  // A process whose machine is gone keeps its locks only until the server has asked it a few times.
  'tcp_keepalives_idle=10',
  'tcp_keepalives_interval=5',
];

function patienceMs(statementMs = mostMs): number {
  return statementMs + graceMs;
}

/** Parameters of a connection to `url` under the settings above; money (int8) arrives as bigint. */
export function connectionConfig(url: string, statementMs = mostMs): pg.ClientConfig {
  return {
    connectionString: url,
    options: sessionSettings(statementMs)
      .map((setting) => `-c ${setting}`)
      .join(' '),
    keepAlive: true,
    // The system asks the other end ten times, a second apart, from then on (libuv): 15 seconds, where its own way takes hours.
    keepAliveInitialDelayMillis: 5_000,
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === INT8 && format !== 'binary' ? BigInt : pg.types.getTypeParser(oid, format),
    },
  };
}

/** Opens the pool and the Prisma client on it. Nothing connects before the first statement. */
export function openDatabase(options: DatabaseOptions): Database {
  const pool = openPool(options);
  const names = new StatementNames();
  const driver = new PrismaDriver(pool, (sql) => names.nameOf(sql));
  const prisma = new PrismaClient({ adapter: driver });
  const { transactionMs = longestTransactionMs } = options;

  return {
    url: options.url,
    patienceMs: patienceMs(options.statementMs),
    pool,
    prisma,
    joinPrisma: (client, work) => driver.join(prisma, client, transactionMs, work),
    async read<Row extends unknown[]>(text: string, values: readonly unknown[]) {
      const name = names.nameOf(text);
      return (await pool.query<Row>({ name, text, values: [...values], rowMode: 'array' })).rows;
    },
    readText: (text, values) => askText(pool, new TextQuery(names.nameOf(text), text, values)),
    commits: new EventEmitter(),
    async close() {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

/** A pool that gives up connections on which no answer comes. */
function openPool({ url, poolSize, acquireTimeoutMs, statementMs }: DatabaseOptions): pg.Pool {
  const pool = new pg.Pool({
    ...connectionConfig(url, statementMs),
    query_timeout: patienceMs(statementMs),
    max: poolSize ?? 10,
    connectionTimeoutMillis: acquireTimeoutMs ?? 5_000,
    idleTimeoutMillis: 30_000,
    maxLifetimeSeconds: connectionSeconds,
  });
  // An idle connection that the server closes is replaced by the pool; without a listener it would end the process. So would
  // one in use, whose statement fails with the same error.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));

  const idle = new Set<pg.PoolClient>();
  pool.on('acquire', (client) => idle.delete(client));
  pool.on('remove', (client) => idle.delete(client));
  pool.on('release', (error, client) => {
    if (!error) idle.add(client);
    // What silenced one has probably silenced all: whoever was given one of the others would wait as long for nothing.
    else if (timedOut(error)) for (const other of idle) giveUp(other, error);
  });
  return pool;
}

/**
 * Takes an idle connection out of its pool at once, as the pool does with one that breaks, so that nobody is given it any more.
 * Then ends it without a goodbye: the other end does not answer.
 */
function giveUp(client: pg.PoolClient, error: Error): void {
  client.emit('error', error);
  (client as pg.PoolClient & pg.Client).connection.stream.destroy();
}

import { EventEmitter } from 'node:events';
import pg from 'pg';
import type { Binding } from './conditions.ts';
import { connectionName, readAddress } from './connections/address.ts';
import { type ConnectionConfig, DatabaseClient, hostsOf } from './connections/hosts.ts';
import { noPlatform } from './connections/platform-scope.ts';
import { PooledClient, type Pooler } from './connections/pooled-client.ts';
import { openPrisma } from './connections/prisma-driver.ts';
import { currentReader, type TextRead } from './connections/read-scope.ts';
import { ServingPool } from './connections/serving-pool.ts';
import { statementNames } from './connections/statement-names.ts';
import { TextReads } from './connections/text-reads.ts';
import { isAnswerTimeout, isReadOnly } from './faults.ts';

/** The default statement timeout, in milliseconds. */
export const defaultStatementMs = 10_000;

/** Returns the settings that every session needs. The time zone is UTC: adapter-pg shifts timestamps in any other. */
export const sessionSettings = (role: string, statementMs = defaultStatementMs) => [
  `role=${role}`,
  // The serving role has views that shadow some tables, so their schema must come first (docs/database-roles.md).
  `search_path=${role === 'gateway_serving' ? 'serving,public' : 'public'}`,
  `gateway.platform=${noPlatform}`,
  'timezone=UTC',
  'lock_timeout=2000',
  `statement_timeout=${statementMs}`,
  'idle_in_transaction_session_timeout=10000',
  // Postgres overestimates the lengths of JSON lists, so JIT compilation would take ten times as long as a payment.
  'jit=off',
  // If a machine is lost, its processes' locks are released after a few unanswered keep-alive probes.
  'tcp_keepalives_idle=10',
  'tcp_keepalives_interval=5',
];

/**
 * The program's database roles. They own no tables, change balances only through the ledger's functions, and cannot
 * disable triggers (docs/database-roles.md). `gateway_serving` serves requests, and sees only the current platform's
 * rows. `gateway_work` is for background work and operators' commands, and sees all platforms.
 */
export type DatabaseRole = 'gateway_serving' | 'gateway_work';

/** One Postgres database, used through `readText` (lists, nodes), Prisma (plain records) and `pg` (money). */
export type Database = ReturnType<typeof openDatabase>;

export interface DatabaseOptions {
  readonly url: string;
  /** A connection pooler in transaction mode, through which the pools of this database connect. */
  readonly pooler?: Pooler | undefined;
  readonly role: DatabaseRole;
  /** The emitter that announces commits; by default, a new one. */
  readonly commits?: EventEmitter<{ committed: []; received: [] }>;
  /** The maximum number of open connections. Further work waits in this process for up to `acquireTimeoutMs`. */
  readonly poolSize?: number;
  readonly acquireTimeoutMs?: number;
  /** The statement timeout in milliseconds; 10 seconds by default. For tests only. */
  readonly statementMs?: number;
  /** Session settings that replace the program's, such as `lock_timeout=60000`. For tests only. */
  readonly settings?: readonly string[];
  /** Prisma's time limit for one transaction, in milliseconds; 30 seconds by default. For tests only. */
  readonly transactionMs?: number;
}

const INT8 = 20;

/** How long to wait for a result after the statement timeout, in milliseconds, before the connection counts as lost. */
const graceMs = 2_000;
/** Prisma's time limit for one transaction, in milliseconds. The session's shorter limits apply first. */
const defaultTransactionMs = 30_000;

function answerTimeoutMs(statementMs = defaultStatementMs): number {
  return statementMs + graceMs;
}

interface ConnectionOptions extends Pick<DatabaseOptions, 'url' | 'role' | 'statementMs' | 'settings'> {
  /** The connection's purpose, which is part of its name; by default, the role without `gateway_`. */
  readonly use?: string | undefined;
}

/** Returns a connection's parameters. int8 is parsed as bigint. The address's `options` cannot override a setting. */
export function connectionConfig({ url, role, use, statementMs, settings }: ConnectionOptions): ConnectionConfig {
  const address = readAddress(url);
  const own = [...sessionSettings(role, statementMs), ...(settings ?? [])].map((setting) => `-c ${setting}`);
  return {
    connectionString: address.url,
    hosts: hostsOf(url),
    // If a setting is given twice, Postgres uses the last value.
    options: [address.options, ...own].join(' ').trim(),
    application_name: connectionName(use ?? role.replace('gateway_', ''), address.applicationName),
    keepAlive: true,
    // The operating system then probes the other end ten times, a second apart (libuv), instead of waiting for hours.
    keepAliveInitialDelayMillis: 5_000,
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === INT8 && format !== 'binary' ? BigInt : pg.types.getTypeParser(oid, format),
    },
  };
}

/** Returns the parameters for a connection through a pooler. The session settings come from the login (pooler.ts). */
function pooledConfig({ url, prepares }: Pooler, { role, use }: ConnectionOptions): ConnectionConfig {
  const { applicationName = 'payments-gateway' } = readAddress(url);
  return {
    ...connectionConfig({ url, role }),
    options: undefined,
    // All instances use the same name; otherwise, a pooler would have to set the name anew for each client.
    application_name: `${applicationName} ${use ?? role.replace('gateway_', '')}`,
    pooler: { prepares },
  };
}

/** Opens the pool and the Prisma client on it. Nothing connects before the first statement. */
export function openDatabase(options: DatabaseOptions) {
  const connectionLikePool = (use?: string) =>
    options.pooler ? pooledConfig(options.pooler, { ...options, use }) : connectionConfig({ ...options, use });
  const pool: pg.Pool = openPool(connectionLikePool(), options);
  if (pool instanceof ServingPool) pool.leaveOneToOthers();
  const nameOf = statementNames();
  const { url, role, transactionMs = defaultTransactionMs, commits = new EventEmitter() } = options;
  const { prisma, joinPrisma } = openPrisma(pool, nameOf, transactionMs);
  const reads = new TextReads(pool, nameOf);

  return {
    url,
    /** Returns the parameters for a connection with its own session, in the same role and with the same settings. */
    connectionFor: (use: string) => connectionConfig({ ...options, use }),
    /** Returns the parameters for a separate connection like the pool's. Behind a pooler, its session may be shared. */
    connectionLikePool,
    pool,
    prisma,
    joinPrisma,
    /** Runs a composed statement that selects one string, with the request's reader (read-scope.ts) if there is one. */
    readText(text: string, { values, planning }: Pick<Binding, 'values' | 'planning'>): Promise<string> {
      const reader = role === 'gateway_serving' ? currentReader.getStore() : undefined;
      const read: TextRead = { text, values, planning };
      const onPrimary = () => reads.read(read);
      return reader ? reader(read, onPrimary) : onPrimary();
    },
    /** Returns a connection for statements that only call a ledger function. */
    connectForFunctions: () => (pool instanceof ServingPool ? pool.connectForFunctions() : pool.connect()),
    /** Opens another pool in the same role, for work that must not wait for this pool. `use` names its connections. */
    openPool: (use: string, poolSize: number): pg.Pool => openPool(connectionLikePool(use), { ...options, poolSize }),
    /** How long a statement's result may take to arrive, in milliseconds. After that, its connection is destroyed. */
    answerTimeoutMs: answerTimeoutMs(options.statementMs),
    /** Wakes background work: `committed` is emitted after any commit, `received` after one that stores a webhook. */
    commits,
    async close(): Promise<void> {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

type PoolOptions = Pick<DatabaseOptions, 'role' | 'poolSize' | 'acquireTimeoutMs' | 'statementMs'>;

/** Opens a pool that destroys connections that are read-only or on which a result does not arrive in time. */
export function openPool(connection: ConnectionConfig, { role, poolSize, acquireTimeoutMs, statementMs }: PoolOptions) {
  const Pool = role === 'gateway_serving' ? ServingPool : pg.Pool;
  const pool = new Pool({
    ...connection,
    Client: connection.pooler ? PooledClient : DatabaseClient,
    query_timeout: answerTimeoutMs(statementMs),
    max: poolSize ?? 10,
    connectionTimeoutMillis: acquireTimeoutMs ?? 5_000,
    idleTimeoutMillis: 30_000,
    // A session never evicts the catalog entries that it has cached, so sessions are replaced periodically.
    maxLifetimeSeconds: 1_800,
  });
  // Without this listener, the loss of an idle connection would crash the process. The pool opens another one.
  pool.on('error', () => undefined);

  const idle = new Set<pg.PoolClient>();
  pool.on('acquire', (client) => idle.delete(client));
  pool.on('remove', (client) => idle.delete(client));
  pool.on('release', (error, client) => {
    if (!error) idle.add(client);
    // The pool's other connections have probably also lost the server or become read-only.
    else if (isAnswerTimeout(error) || isReadOnly(error)) {
      connection.hosts?.suspect();
      for (const other of idle) discard(other, error);
    }
  });
  return pool;
}

/** Removes an idle connection from its pool, and destroys its socket, because the other end might not respond. */
function discard(client: pg.PoolClient, error: Error): void {
  client.emit('error', error);
  // A pool's client is a pg.Client, and only the types of pg.Client declare the connection.
  (client as pg.PoolClient & pg.Client).connection.stream.destroy();
}

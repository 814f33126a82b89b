import { EventEmitter } from 'node:events';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient } from './generated/client/client.ts';
import { openReads, type Reads } from './reads.ts';
import { connectionSeconds, StatementNames } from './statement-names.ts';

/**
 * One Postgres, three ways in over one pool: `reads` for the lists and nodes that are asked for all the time, Prisma for
 * plain records, `pg` for everything that moves money.
 */
export interface Database {
  readonly url: string;
  readonly pool: pg.Pool;
  readonly prisma: PrismaClient;
  readonly reads: Reads;
  /** Tells this process's sequencer that something was committed, so that it need not wait for its next look. */
  readonly commits: EventEmitter<{ committed: [] }>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  /** Most connections held at once. Work beyond it waits in this process, at most `acquireTimeoutMs`. */
  readonly poolSize?: number;
  readonly acquireTimeoutMs?: number;
  /** Called with the text of each statement of `reads` and of Prisma, for tests that count them. */
  readonly onReadStatement?: (sql: string) => void;
}

const INT8 = 20;

/** Settings that every session needs. UTC, because adapter-pg shifts timestamps in any other zone. */
const sessionSettings = [
  'timezone=UTC',
  'lock_timeout=2000',
  'statement_timeout=10000',
  'idle_in_transaction_session_timeout=10000',
  // A plan over JSON is thought to be of a million rows, and has two: compiling it took ten times as long as the payment.
  'jit=off',
  // A process whose machine is gone keeps its locks only until the server has asked it a few times.
  'tcp_keepalives_idle=10',
  'tcp_keepalives_interval=5',
]
  .map((setting) => `-c ${setting}`)
  .join(' ');

/** Parameters of a connection to `url` under the settings above; money (int8) arrives as bigint. */
export function connectionConfig(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    options: sessionSettings,
    keepAlive: true,
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === INT8 && format !== 'binary' ? BigInt : pg.types.getTypeParser(oid, format),
    },
  };
}

/** Opens the pool and the Prisma client on it. Nothing connects before the first statement. */
export function openDatabase(options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    ...connectionConfig(options.url),
    max: options.poolSize ?? 10,
    connectionTimeoutMillis: options.acquireTimeoutMs ?? 5_000,
    idleTimeoutMillis: 30_000,
    maxLifetimeSeconds: connectionSeconds,
  });
  // An idle connection that the server closes is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => undefined);

  const names = new StatementNames();
  const adapter = new PrismaPg(pool, { statementNameGenerator: ({ sql }) => names.nameOf(sql) });
  const prisma = openPrisma(adapter, options.onReadStatement);

  return {
    url: options.url,
    pool,
    prisma,
    reads: openReads(pool, names, options.onReadStatement),
    commits: new EventEmitter(),
    async close() {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

/** A client that tells of its statements only where somebody listens: telling costs time on each of them. */
function openPrisma(adapter: PrismaPg, onStatement: ((sql: string) => void) | undefined): PrismaClient {
  if (!onStatement) return new PrismaClient({ adapter });
  const prisma = new PrismaClient({ adapter, log: [{ level: 'query', emit: 'event' }] });
  prisma.$on('query', (event) => onStatement(event.query));
  return prisma;
}

import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { PrismaPg } from '@prisma/adapter-pg';
import { LRUCache } from 'lru-cache';
import pg from 'pg';
import { PrismaClient } from './generated/client/client.ts';

/** One Postgres, two ways in over one pool: Prisma for reads and plain records, `pg` for everything that moves money. */
export interface Database {
  readonly url: string;
  readonly pool: pg.Pool;
  readonly prisma: PrismaClient;
  /** Tells this process's sequencer that something was committed, so that it need not wait for its next look. */
  readonly commits: EventEmitter<{ committed: [] }>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  /** Most connections held at once. Work beyond it waits in this process, at most `acquireTimeoutMs`. */
  readonly poolSize?: number;
  readonly acquireTimeoutMs?: number;
  /** Called with the text of each statement that Prisma sends, for tests that count them. */
  readonly onPrismaStatement?: (sql: string) => void;
}

const INT8 = 20;

/** Settings that every session needs. UTC, because adapter-pg shifts timestamps in any other zone. */
const sessionSettings = [
  'timezone=UTC',
  'lock_timeout=2000',
  'statement_timeout=10000',
  'idle_in_transaction_session_timeout=10000',
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
  });
  // An idle connection that the server closes is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => undefined);

  const adapter = new PrismaPg(pool, { statementNameGenerator: (query) => statementName(query.sql) });
  const prisma = openPrisma(adapter, options.onPrismaStatement);

  return {
    url: options.url,
    pool,
    prisma,
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

const statementNames = new LRUCache<string, string>({ max: 1_000 });

/** A statement's prepared name: the same text is planned once per connection. */
function statementName(sql: string): string {
  let name = statementNames.get(sql);
  if (name === undefined) {
    name = createHash('sha1').update(sql).digest('base64url');
    statementNames.set(sql, name);
  }
  return name;
}

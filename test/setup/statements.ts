import type pg from 'pg';
import type { Planning } from '../../src/infra/database/connections/read-scope.ts';
import { TextQuery } from '../../src/infra/database/connections/text-reads.ts';
import { connect, type TestGateway, testGateway } from './gateway.ts';

/** Statements that authenticate, recheck rights, or record usage. Most requests do not send them. */
const ofNoRequest: ReadonlySet<string> = new Set([
  'api_token_by_client_id',
  'api_token_used',
  'client_token',
  'token_rights',
  'set_platform',
]);

/** A statement as it was sent. Reads that were combined into one statement are listed separately. */
export interface Sent {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly planning?: Planning;
}

/** Records all statements sent on a pool's connections, except those in `ofNoRequest`. */
export class Statements {
  static readonly #ofPools = new WeakMap<pg.Pool, Statements>();
  readonly #readers = new Set<Sent[]>();

  /** Returns the pool's recorder, which is the same for all callers. */
  static of(pool: pg.Pool): Statements {
    const known = Statements.#ofPools.get(pool) ?? new Statements(pool);
    Statements.#ofPools.set(pool, known);
    return known;
  }

  constructor(pool: pg.Pool) {
    const known = new WeakSet<pg.PoolClient>();
    // The pool emits `acquire` before it hands out the connection, so no statement is missed.
    pool.on('acquire', (client) => {
      if (known.has(client)) return;
      known.add(client);
      const query = client.query;
      client.query = ((...args: unknown[]) => {
        this.#sent(args[0]);
        return Reflect.apply(query, client, args);
      }) as pg.PoolClient['query'];
    });
  }

  /** Runs the work. Returns its result, the statements sent meanwhile, and the text of each. */
  async during<T>(work: () => Promise<T>) {
    const sent: Sent[] = [];
    this.#readers.add(sent);
    try {
      const result = await work();
      return { result, sent, statements: sent.map(({ text }) => text) };
    } finally {
      this.#readers.delete(sent);
    }
  }

  #sent(statement: unknown): void {
    const sent: Sent = typeof statement === 'string' ? { text: statement } : Object(statement);
    if (ofNoRequest.has(sent.name ?? '')) return;
    for (const reader of this.#readers) reader.push(...(statement instanceof TextQuery ? statement.reads : [sent]));
  }
}

/** Starts a second gateway on the database, for a test file. It runs no workers, so only requests' statements count. */
export async function countedGateway(beside: TestGateway, overrides: Parameters<typeof testGateway>[0] = {}) {
  const { url, gateway } = await testGateway({ ROLE: 'serve', ...overrides }, beside.databaseUrl);
  const { platformId, authorization } = beside.platform;
  return {
    url,
    platform: connect(url, platformId, authorization),
    statements: new Statements(gateway.serving.pool),
    subscriptions: () => gateway.feed.subscriptions,
  };
}
/** How many times to send a query so that it is first planned and then executed with the cached plan. */
export const often = 3;

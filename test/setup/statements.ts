import type pg from 'pg';
import { TextQuery } from '../../src/infra/database/connections/text-query.ts';
import { connect, startTestGateway, type TestGateway } from './gateway.ts';

/** Statements that authenticate, recheck rights, or record usage. They are sent occasionally, not once per request. */
const ofNoRequest: ReadonlySet<string> = new Set([
  'api_token_by_client_id',
  'api_token_used',
  'client_token',
  'token_rights',
  'set_platform',
]);

/** Records all statements sent on a pool's connections, by any sender. */
export class Statements {
  readonly #readers = new Set<string[]>();

  constructor(pool: pg.Pool) {
    const known = new WeakSet<pg.PoolClient>();
    // The pool emits this before the connection is handed out.
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

  /** Runs the work. Returns its result and the text of each statement sent meanwhile. */
  async during<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly statements: readonly string[] }> {
    const statements: string[] = [];
    this.#readers.add(statements);
    try {
      return { result: await work(), statements };
    } finally {
      this.#readers.delete(statements);
    }
  }

  #sent(statement: unknown): void {
    const { name = '', text }: { name?: string; text: string } =
      typeof statement === 'string' ? { text: statement } : Object(statement);
    if (ofNoRequest.has(name)) return;
    const texts = statement instanceof TextQuery ? statement.reads.map((read) => read.text) : [text];
    for (const reader of this.#readers) reader.push(...texts);
  }
}

/** Starts a second gateway on another gateway's database. It only serves, so that nothing else is counted. */
export async function countedGateway(beside: TestGateway, overrides: Parameters<typeof startTestGateway>[0] = {}) {
  const { url, gateway, stop } = await startTestGateway({ ROLE: 'serve', ...overrides }, beside.databaseUrl);
  const { platformId, authorization } = beside.platform;
  return {
    url,
    platform: connect(url, platformId, authorization),
    statements: new Statements(gateway.serving.pool),
    subscriptions: () => gateway.feed.subscriptions,
    stop,
  };
}
/** How many times to send a query so that it is planned first, and then answered with the cached plan. */
export const often = 3;

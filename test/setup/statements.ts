import type pg from 'pg';

/** Says who asks; it is asked of the database now and then, not for each document. */
const ofCredentials: ReadonlySet<string> = new Set(['api_token_by_client_id', 'api_token_used', 'client_token']);

/** Counts the statements that a pool's connections are sent, whoever sends them. */
export class StatementCount {
  #count = 0;

  constructor(pool: pg.Pool) {
    const counted = new WeakSet<pg.PoolClient>();
    // The pool emits this before anybody is given the connection.
    pool.on('acquire', (client) => {
      if (counted.has(client)) return;
      counted.add(client);
      const query = client.query;
      client.query = ((...args: unknown[]) => {
        if (!isOfCredentials(args[0])) this.#count += 1;
        return Reflect.apply(query, client, args);
      }) as pg.PoolClient['query'];
    });
  }

  /** Does the work and answers what came of it, with how many statements were sent meanwhile. */
  async during<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly statements: number }> {
    const before = this.#count;
    const result = await work();
    return { result, statements: this.#count - before };
  }
}

function isOfCredentials(statement: unknown): boolean {
  return typeof statement === 'object' && statement !== null && 'name' in statement
    ? ofCredentials.has(String(statement.name))
    : false;
}

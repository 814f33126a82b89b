import pg from 'pg';
import { connectionConfig, type Database } from '../database/database.ts';

/** The advisory lock of the step that is under way ("feed" in ASCII). */
export const stepLock = 0x66656564;
/** How many changes one step takes at most. */
const batch = 2_000;
/** A database that does not take a connection within so long is asked anew. */
const connectMs = 5_000;

/**
 * One statement, its own transaction, and sent as one message: whoever is paused or cut off while it runs holds nothing, as
 * Postgres ends it without them. Its transaction's end gives the lock back, behind a connection pooler, too.
 */
const step = `select case when pg_try_advisory_xact_lock(${stepLock}) then sequence_outbox(${batch}) end as count`;

/**
 * Gives every committed change its place in its platform's feed. All processes do so, and nobody leads: each step takes the
 * lock for itself. The step is `sequence_outbox` in the database.
 */
export class Sequencer {
  readonly #database: Database;
  #client: pg.Client | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Sequences what waits.
   * @returns how many changes that were; undefined where the step of another process was under way
   */
  async step(): Promise<number | undefined> {
    const client = await this.#connect();
    try {
      const { rows } = await client.query<{ count: number | null }>(step);
      return rows[0]?.count ?? undefined;
    } catch (error) {
      // Whatever failed, the next step gets another connection: this one may wait for an answer that never comes.
      this.#forget(client);
      client.end().catch(() => undefined);
      throw error;
    }
  }

  async close(): Promise<void> {
    const client = this.#client;
    if (!client) return;
    this.#forget(client);
    await client.end().catch(() => undefined);
  }

  /** A connection of its own, which does not wait for the pool's other users. */
  async #connect(): Promise<pg.Client> {
    if (this.#client) return this.#client;
    const client = new pg.Client({
      ...connectionConfig(this.#database.url),
      application_name: 'sequencer',
      connectionTimeoutMillis: connectMs,
      query_timeout: this.#database.answerTimeoutMs,
    });
    client.on('error', () => this.#forget(client));
    client.on('end', () => this.#forget(client));
    await client.connect();
    this.#client = client;
    return client;
  }

  /** Forgets this connection; one that has taken its place is left alone. */
  #forget(client: pg.Client): void {
    if (this.#client === client) this.#client = undefined;
  }
}

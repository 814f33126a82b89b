import pg from 'pg';
import { connectionConfig, type Database } from '../database/database.ts';

/** The advisory lock of the one sequencer ("feed" in ASCII). */
const leaderLock = 0x66656564;
/**
 * A leader whose machine is gone says nothing: the server must ask, or the lock would be held until it notices by itself
 * (hours). With these settings of the session it lets go after two seconds.
 */
const letGoQuickly = ['idle=1', 'interval=1', 'count=1'].map((setting) => `-c tcp_keepalives_${setting}`).join(' ');
/** A database that does not take a connection within so long is asked anew. */
const connectMs = 5_000;
/** How many changes one step takes at most. */
const batch = 2_000;

/**
 * Gives every committed change its place in its platform's feed. Of all processes one does it, the one that holds the
 * lock; when its connection ends another gets the lock. The step itself is `sequence_outbox` in the database.
 */
export class Sequencer {
  readonly #database: Database;
  #client: pg.Client | undefined;
  #leads = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Sequences what is waiting and tells how many changes that were; undefined when another process leads. */
  async step(): Promise<number | undefined> {
    const client = await this.#connect();
    try {
      return await this.#stepOn(client);
    } catch (error) {
      // Whatever failed, another connection knows better where it stands: this one may be waiting for an answer forever.
      this.#forget(client);
      client.end().catch(() => undefined);
      throw error;
    }
  }

  async #stepOn(client: pg.Client): Promise<number | undefined> {
    if (!this.#leads) {
      const { rows } = await client.query<{ leads: boolean }>('select pg_try_advisory_lock($1) as leads', [leaderLock]);
      this.#leads = rows[0]?.leads ?? false;
      if (!this.#leads) return undefined;
    }
    const { rows } = await client.query<{ count: number }>({
      name: 'sequence_outbox',
      text: 'select sequence_outbox($1) as count',
      values: [batch],
    });
    return rows[0]?.count ?? 0;
  }

  /** Gives the lead up. */
  async close(): Promise<void> {
    const client = this.#client;
    if (!client) return;
    this.#forget(client);
    await client.end().catch(() => undefined);
  }

  /** A connection of its own, since the lock belongs to its session; not through the pool, which it must not starve. */
  async #connect(): Promise<pg.Client> {
    if (this.#client) return this.#client;
    const config = connectionConfig(this.#database.url);
    const client = new pg.Client({
      ...config,
      application_name: 'sequencer',
      options: `${config.options} ${letGoQuickly}`,
      connectionTimeoutMillis: connectMs,
      query_timeout: this.#database.patienceMs,
    });
    client.on('error', () => this.#forget(client));
    client.on('end', () => this.#forget(client));
    await client.connect();
    this.#client = client;
    return client;
  }

  /** Forgets this connection and its lead; one that has taken its place is left alone. */
  #forget(client: pg.Client): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#leads = false;
  }
}

import type pg from 'pg';
import type { Logger } from 'pino';
import { DatabaseClient } from '../../infra/database/connections/hosts.ts';
import type { Database } from '../../infra/database/database.ts';

/** The advisory lock of the current step ("feed" in ASCII). */
export const stepLock = 0x66656564;
/** The most changes that one step sequences. */
const batchSize = 2_000;
/** How many milliseconds a new connection may take. */
const connectMs = 5_000;

/** The message of the log and of `doctor` until an operator has marked the restore. */
export const unmarkedRestore =
  'the database was restored, or a standby was promoted: follow the operating guide, then run `npm run ops -- restored --yes`';

/**
 * One statement in a transaction of its own, sent as one message: a process that is paused or cut off meanwhile holds no
 * lock, since Postgres finishes the statement without it. The end of the transaction releases the lock, also behind a
 * connection pooler.
 */
const step = `select case when pg_try_advisory_xact_lock(${stepLock}) then sequence_outbox(${batchSize}) end as count`;

/** Numbers every committed change in its platform's feed. All processes do, without a leader: each step is locked. */
export class Sequencer {
  readonly #database: Database;
  readonly #log: Logger | undefined;
  #client: pg.Client | undefined;

  /** @param log gets a warning where the connected server is no longer the same one */
  constructor(database: Database, log?: Logger) {
    this.#database = database;
    this.#log = log;
  }

  /**
   * Sequences waiting changes, up to `batchSize`.
   * @returns their number; undefined while another process runs a step
   */
  async step(): Promise<number | undefined> {
    const client = await this.#connect();
    try {
      const { rows } = await client.query<{ count: number | null }>(step);
      return rows[0]?.count ?? undefined;
    } catch (error) {
      // After any error the next step uses a new connection: this one may wait for a result that never comes.
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

  /** Returns the sequencer's own connection: one of the pool might have to wait for other users. */
  async #connect(): Promise<pg.Client> {
    if (this.#client) return this.#client;
    const client = new DatabaseClient({
      ...this.#database.connectionFor('sequencer'),
      connectionTimeoutMillis: connectMs,
      query_timeout: this.#database.answerTimeoutMs,
    });
    client.on('error', () => this.#forget(client));
    client.on('end', () => this.#forget(client));
    await client.connect();
    await this.#followServer(client).catch((error: unknown) => {
      client.end().catch(() => undefined);
      throw error;
    });
    this.#client = client;
    return client;
  }

  /**
   * Begins an epoch of the feed where the connected server is no longer the same one. Nothing is numbered on the connection
   * before that: a restore and a failover break all connections.
   */
  async #followServer(client: pg.Client): Promise<void> {
    const { rows } = await client.query<{ waits: boolean }>('select follow_server() as waits');
    if (rows[0]?.waits) this.#log?.warn(unmarkedRestore);
  }

  /** Forgets this connection, unless a newer one has replaced it. */
  #forget(client: pg.Client): void {
    if (this.#client === client) this.#client = undefined;
  }
}

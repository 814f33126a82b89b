import type pg from 'pg';
import type { Logger } from 'pino';
import { OwnConnection } from '../../infra/database/connections/own-connection.ts';
import type { Database } from '../../infra/database/database.ts';

/** The advisory lock that a step holds while it runs ("feed" in ASCII). */
export const stepLock = 0x66656564;
const batchSize = 2_000;
const connectMs = 5_000;

/** The warning that the log and `doctor` show until an operator has marked the restore. */
export const unmarkedRestore =
  'the database was restored, or a standby was promoted: follow the operating guide, then run `npm run ops -- restored --yes`';

/**
 * One statement in its own transaction, sent as one message. If the process is paused or cut off, Postgres still
 * finishes it and releases the lock, even behind a connection pooler.
 */
const step = `select case when pg_try_advisory_xact_lock(${stepLock}) then sequence_outbox(${batchSize}) end as count`;

/** Numbers the committed changes in each feed. Every process runs a sequencer, and a lock makes them take turns. */
export class Sequencer {
  readonly #log: Logger | undefined;
  /** A dedicated connection, so that a step never has to wait for one from the pool. */
  readonly #connection: OwnConnection;

  constructor(database: Database, log?: Logger) {
    this.#log = log;
    const limits = { connectionTimeoutMillis: connectMs, query_timeout: database.answerTimeoutMs };
    const config = () => ({ ...database.connectionFor('sequencer'), ...limits });
    this.#connection = new OwnConnection(config, (client) => this.#followServer(client));
  }

  /** @returns the number of sequenced changes; undefined while another process runs a step */
  async step(): Promise<number | undefined> {
    const client = await this.#connection.get();
    try {
      const { rows } = await client.query<{ count: number | null }>(step);
      return rows[0]?.count ?? undefined;
    } catch (error) {
      // This connection may be waiting for a result that never arrives, so the next step uses a new one.
      this.#connection.drop();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** Starts a new epoch if this server differs from the last one. (A restore or failover breaks all connections.) */
  async #followServer(client: pg.Client): Promise<void> {
    const { rows } = await client.query<{ waits: boolean }>('select follow_server() as waits');
    if (rows[0]?.waits) this.#log?.warn(unmarkedRestore);
  }
}

import pg from 'pg';
import { singleFlight } from '../../instruments/single-flight.ts';
import { type ConnectionConfig, DatabaseClient } from './hosts.ts';
import { PooledClient } from './pooled-client.ts';

/** The SQLSTATE with which a server refuses further sessions. */
const tooMany = '53300';

/** Manages a connection outside the pools. It is opened on demand, and reopened after it has ended or been dropped. */
export class OwnConnection {
  readonly #open: () => Promise<pg.Client>;
  readonly #renewAfterMs: number;
  #opening: Promise<unknown> | undefined;
  #client: pg.Client | undefined;
  #began = 0;

  /**
   * @param prepare runs on each new connection before it is used
   * @param renewAfterMs how long a connection is used before a new one replaces it, in milliseconds. The old one
   *   remains in use while the server accepts no further sessions
   */
  constructor(
    config: () => ConnectionConfig,
    prepare: (client: pg.Client) => Promise<void> = async () => undefined,
    renewAfterMs = Number.POSITIVE_INFINITY,
  ) {
    this.#renewAfterMs = renewAfterMs;
    this.#open = singleFlight(async () => {
      const settings = config();
      const client = new (settings.pooler ? PooledClient : DatabaseClient)(settings);
      const forget = () => {
        if (this.#client === client) this.#client = undefined;
      };
      client.on('error', forget);
      client.on('end', forget);
      try {
        await client.connect();
        await prepare(client);
      } catch (error) {
        client.end().catch(() => undefined);
        if (this.#client && error instanceof pg.DatabaseError && error.code === tooMany) return this.#client;
        throw error;
      }
      this.drop();
      this.#client = client;
      this.#began = performance.now();
      return client;
    });
  }

  get isOpen(): boolean {
    return this.#client !== undefined;
  }

  async get(): Promise<pg.Client> {
    if (this.#client && performance.now() - this.#began < this.#renewAfterMs) return this.#client;
    const opening = this.#open();
    this.#opening = opening;
    return opening;
  }

  /** Drops the connection without waiting for the server, which might not respond. */
  drop(): void {
    const client = this.#client;
    this.#client = undefined;
    client?.connection.stream.destroy();
  }

  async close(): Promise<void> {
    await this.#opening?.catch(() => undefined);
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => undefined);
  }
}

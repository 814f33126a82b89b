import type pg from 'pg';
import { singleFlight } from '../../instruments/single-flight.ts';
import { type ConnectionConfig, DatabaseClient } from './hosts.ts';

/** Manages a connection outside the pools. It is opened on demand, and reopened after it has ended or been dropped. */
export class OwnConnection {
  readonly #open: () => Promise<pg.Client>;
  #opening: Promise<unknown> | undefined;
  #client: pg.Client | undefined;

  /** @param prepare runs on each new connection before it is used */
  constructor(config: () => ConnectionConfig, prepare: (client: pg.Client) => Promise<void> = async () => undefined) {
    this.#open = singleFlight(async () => {
      const client = new DatabaseClient(config());
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
        throw error;
      }
      this.#client = client;
      return client;
    });
  }

  get isOpen(): boolean {
    return this.#client !== undefined;
  }

  async get(): Promise<pg.Client> {
    if (this.#client) return this.#client;
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

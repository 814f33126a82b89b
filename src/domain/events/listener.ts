import type pg from 'pg';
import type { Logger } from 'pino';
import { FaultStates } from '../../core/fault-states.ts';
import { DatabaseClient } from '../../infra/database/connections/hosts.ts';
import type { Database } from '../../infra/database/database.ts';

/** The time that a new listener may take to connect before a retry, in milliseconds. */
const listenTimeoutMs = 5_000;
/** The number of polls that find events without a notification before the listener's connection counts as lost. */
const maxMissedPolls = 3;

/** The newest sequence of a platform's feed. */
export interface Head {
  readonly platformId: string;
  readonly sequence: bigint;
}

/** Listens for the notifications of sequencers on its own connection, which it renews. */
export class FeedListener {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #onAnnounced: (heads: readonly Head[]) => void;
  #client: pg.Client | undefined;
  /** The current attempt to listen. */
  #connecting: Promise<void> | undefined;
  /** The number of polls since the last notification that found something new. */
  #missedPolls = 0;
  #closed = false;

  /** @param onAnnounced called with the platforms whose feeds have new events, at least once per sequencer step */
  constructor(database: Database, log: Logger, onAnnounced: (heads: readonly Head[]) => void) {
    this.#database = database;
    this.#log = log;
    this.#onAnnounced = onAnnounced;
  }

  get listening(): boolean {
    return this.#client !== undefined;
  }

  open(): Promise<void> {
    this.#connecting ??= this.#listen().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  /** Counts a poll that found events without a notification. */
  missed(): void {
    this.#missedPolls += 1;
  }

  /** Drops a connection that delivers no notifications, and reconnects if there is none. */
  renew(): void {
    if (this.#closed) return;
    if (this.#missedPolls >= maxMissedPolls) {
      this.#missedPolls = 0;
      // Not `end`, which would send a message and wait for an unresponsive peer.
      this.#client?.connection.stream.destroy();
      this.#client = undefined;
    }
    if (this.#client || this.#connecting) return;
    void FaultStates.of(this.#log).watch('listening of the feed, which polls instead', this.open());
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#connecting?.catch(() => undefined);
    await this.#client?.end().catch(() => undefined);
  }

  async #listen(): Promise<void> {
    const client = new DatabaseClient({
      ...this.#database.connectionFor('feed'),
      connectionTimeoutMillis: listenTimeoutMs,
      query_timeout: listenTimeoutMs,
    });
    client.on('end', () => {
      if (this.#client === client) this.#client = undefined;
    });
    client.on('notification', ({ payload = '' }) => {
      this.#missedPolls = 0;
      this.#onAnnounced(headsIn(payload));
    });
    try {
      await client.connect();
      await client.query('listen feed');
      if (this.#closed) throw new Error('the feed was closed while it connected');
      this.#client = client;
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
  }
}

function headsIn(payload: string): Head[] {
  return payload.split(',').map((head) => {
    const [platformId = '', sequence = '0'] = head.split(':');
    return { platformId, sequence: BigInt(sequence) };
  });
}

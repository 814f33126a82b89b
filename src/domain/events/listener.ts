import type { Logger } from 'pino';
import { FaultStates } from '../../core/fault-states.ts';
import { OwnConnection } from '../../infra/database/connections/own-connection.ts';
import type { Database } from '../../infra/database/database.ts';
import { singleFlight } from '../../infra/instruments/single-flight.ts';

/** How long a new listener may take to connect before a retry, in milliseconds. */
const listenTimeoutMs = 5_000;
/** The number of polls that find events without a notification before the listener's connection counts as lost. */
const maxMissedPolls = 3;

export interface Head {
  readonly platformId: string;
  readonly sequence: bigint;
}

/** Listens for the notifications of sequencers on its own connection, which it replaces if none arrive. */
export class FeedListener {
  readonly #connection: OwnConnection;
  /** Connects once, however many polls request it meanwhile, and so counts a failure once. */
  readonly #reconnect: () => Promise<void>;
  /** The number of polls that have found something new since the last notification. */
  #missedPolls = 0;

  /** @param onAnnounced called with the platforms whose feeds have new events, at least once per sequencer step */
  constructor(database: Database, log: Logger, onAnnounced: (heads: readonly Head[]) => void) {
    const limits = { connectionTimeoutMillis: listenTimeoutMs, query_timeout: listenTimeoutMs };
    const config = () => ({ ...database.connectionFor('feed'), ...limits });
    this.#connection = new OwnConnection(config, async (client) => {
      client.on('notification', ({ payload = '' }) => {
        this.#missedPolls = 0;
        onAnnounced(headsIn(payload));
      });
      await client.query('listen feed');
    });
    const faults = FaultStates.of(log);
    this.#reconnect = singleFlight(() => faults.watch('notifications of the feed, which polls instead', this.open()));
  }

  get listening(): boolean {
    return this.#connection.isOpen;
  }

  async open(): Promise<void> {
    await this.#connection.get();
  }

  /** Counts a poll that found events without a notification. */
  missed(): void {
    this.#missedPolls += 1;
  }

  /** Drops a connection that delivers no notifications, and reconnects if there is none. */
  renew(): void {
    if (this.#missedPolls >= maxMissedPolls) {
      this.#missedPolls = 0;
      this.#connection.drop();
    }
    if (this.listening) return;
    void this.#reconnect();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

function headsIn(payload: string): Head[] {
  return payload.split(',').map((head) => {
    const [platformId = '', sequence = '0'] = head.split(':');
    return { platformId, sequence: BigInt(sequence) };
  });
}

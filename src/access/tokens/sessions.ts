import type { Logger } from 'pino';
import type { Database } from '../../database/database.ts';
import { statement } from '../../database/statement.ts';
import type { Viewer } from '../viewer.ts';

const aliveStatement = statement<{ id: string }>('tokens_alive', 'select find_live_tokens($1, $2) as id');

/**
 * How often the tokens of open connections are checked, in milliseconds. When a token ends, its connections close a
 * little after this time at the latest.
 */
const sweepMs = 1_000;

/** A connection that stays open: a WebSocket or an event stream. */
export interface Connection {
  /** Closes it, because its token has ended. */
  readonly forbid: () => void;
  /** Asks the client to connect elsewhere, because the server stops. */
  readonly leave: () => void;
  /** Checks whether the client still reads what it is sent, and closes the connection if not. */
  readonly check: () => void;
}

/** The session of one open connection. */
export interface Session {
  readonly viewer: Viewer;
  /**
   * Replaces the token by a newer one of the same subject.
   * @returns false for a token of another subject
   */
  renew(viewer: Viewer): boolean;
  close(): void;
}

interface Open {
  viewer: Viewer;
  readonly connection: Connection;
}

/**
 * Holds all connections that outlive their first request. Checks their tokens together, on a timer and in one
 * statement: ten thousand idle connections cost one small query a second, and an event costs none.
 */
export class Sessions {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #open = new Set<Open>();
  readonly #timer: NodeJS.Timeout;
  #sweeping: Promise<void> | undefined;
  #stopping = false;

  constructor(database: Database, log: Logger) {
    this.#database = database;
    this.#log = log;
    this.#timer = setInterval(() => this.#sweep(), sweepMs).unref();
  }

  /** The number of open connections on this server. */
  get size(): number {
    return this.#open.size;
  }

  /** Holds a connection until it closes. */
  open(viewer: Viewer, connection: Connection): Session {
    const open: Open = { viewer, connection };
    this.#open.add(open);
    if (this.#stopping) queueMicrotask(() => connection.leave());
    return {
      get viewer() {
        return open.viewer;
      },
      renew: (newer) => {
        if (newer.platformId !== open.viewer.platformId || newer.subject !== open.viewer.subject) return false;
        open.viewer = newer;
        return true;
      },
      close: () => this.#open.delete(open),
    };
  }

  /**
   * Asks every connection to connect elsewhere, one by one over `spreadMs` milliseconds, so that the clients do not all
   * reconnect at once.
   */
  async leave(spreadMs: number): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping = true;
    const all = [...this.#open];
    const pause = all.length > 0 ? spreadMs / all.length : 0;
    let due = performance.now();
    for (const { connection } of all) {
      connection.leave();
      due += pause;
      const wait = due - performance.now();
      if (wait >= 1) await new Promise<void>((resolve) => setTimeout(resolve, wait));
    }
    await this.#sweeping;
  }

  #sweep(): void {
    if (this.#open.size === 0) return;
    for (const { connection } of this.#open) connection.check();
    this.#sweeping ??= this.#forbidEnded()
      .catch((error: unknown) => this.#log.warn({ err: error }, 'tokens could not be looked at; trying again'))
      .finally(() => {
        this.#sweeping = undefined;
      });
  }

  async #forbidEnded(): Promise<void> {
    const checkedViewers = new Map<string, Viewer>();
    for (const { viewer } of this.#open) checkedViewers.set(viewer.tokenId, viewer);
    const viewers = [...checkedViewers.values()];
    const alive = new Set(
      (
        await aliveStatement(
          this.#database.pool,
          viewers.map((viewer) => viewer.platformId),
          viewers.map((viewer) => viewer.tokenId),
        )
      ).map((row) => row.id),
    );
    for (const { viewer, connection } of [...this.#open]) {
      // A token that was renewed while the query ran was not part of it.
      if (checkedViewers.has(viewer.tokenId) && !alive.has(viewer.tokenId)) connection.forbid();
    }
  }
}

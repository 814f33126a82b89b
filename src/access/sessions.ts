import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import { statement } from '../database/statement.ts';
import type { Viewer } from './viewer.ts';

const aliveStatement = statement<{ id: string }>(
  'tokens_alive',
  `select s.id from unnest($1::uuid[], $2::uuid[]) as s (platform_id, id)
   where exists (select from api_token t where t.platform_id = s.platform_id and t.id = s.id and t.revoked_at is null)
      or exists (select from client_token t where t.platform_id = s.platform_id and t.id = s.id and t.revoked_at is null
                   and t.expires_at > clock_timestamp())`,
);

/** How often open connections are looked at: a token that ends closes them within this time and a little. */
const sweepMs = 1_000;

/** A connection that stays open: a socket or an event stream. */
export interface Connection {
  /** Its token has ended. */
  readonly forbid: () => void;
  /** The server stops: come back elsewhere. */
  readonly leave: () => void;
  /** Looks whether its reader still takes what it is sent, and ends it if not. */
  readonly check: () => void;
}

export interface Session {
  readonly viewer: Viewer;
  /** A newer token of the same subject takes the place of the first; false for one of another subject. */
  renew(viewer: Viewer): boolean;
  close(): void;
}

interface Open {
  viewer: Viewer;
  readonly connection: Connection;
}

/**
 * All connections that outlive their first request. Their tokens are looked at together, on a timer and in one
 * statement, so that ten thousand idle ones cost one small query a second and an event costs none.
 */
export class Sessions {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #open = new Set<Open>();
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void> | undefined;
  #leaving = false;

  constructor(database: Database, log: Logger) {
    this.#database = database;
    this.#log = log;
    this.#timer = setInterval(() => this.#look(), sweepMs).unref();
  }

  /** How many connections are open here. */
  get size(): number {
    return this.#open.size;
  }

  /** Watches over a connection until it closes. */
  open(viewer: Viewer, connection: Connection): Session {
    const open: Open = { viewer, connection };
    this.#open.add(open);
    if (this.#leaving) queueMicrotask(() => connection.leave());
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

  /** Tells every connection to come back elsewhere, one by one over `spreadMs`, so that they do not all come at once. */
  async leave(spreadMs: number): Promise<void> {
    clearInterval(this.#timer);
    this.#leaving = true;
    const all = [...this.#open];
    const pause = all.length > 0 ? spreadMs / all.length : 0;
    let due = performance.now();
    for (const { connection } of all) {
      connection.leave();
      due += pause;
      const wait = due - performance.now();
      if (wait >= 1) await new Promise<void>((resolve) => setTimeout(resolve, wait));
    }
    await this.#looking;
  }

  #look(): void {
    if (this.#open.size === 0) return;
    for (const { connection } of this.#open) connection.check();
    this.#looking ??= this.#forbidEnded()
      .catch((error: unknown) => this.#log.warn({ err: error }, 'tokens could not be looked at; trying again'))
      .finally(() => {
        this.#looking = undefined;
      });
  }

  async #forbidEnded(): Promise<void> {
    const pendingViewers = new Map<string, Viewer>();
    for (const { viewer } of this.#open) pendingViewers.set(viewer.tokenId, viewer);
    const viewers = [...pendingViewers.values()];
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
      // A token that came while the question was under way was not part of it.
      if (pendingViewers.has(viewer.tokenId) && !alive.has(viewer.tokenId)) connection.forbid();
    }
  }
}

import type { Logger } from 'pino';
import { FaultStates } from '../../../core/fault-states.ts';
import type { Database } from '../../../infra/database/database.ts';
import { statement } from '../../../infra/database/statement.ts';
import type { Viewer } from '../viewer.ts';

/** The rights of a token that can change during its lifetime, by the setting of its platform or by hand. */
type Rights = Pick<Viewer, 'permissions' | 'grants' | 'trustedDocumentsOnly'>;

const rightsStatement = statement<Rights & { id: string }>(
  'token_rights',
  'select id, permissions, grants, trusted_documents_only from find_token_rights($1, $2)',
);

/**
 * How often the tokens of open connections are checked, in milliseconds. When a token ends, its connections close within a
 * second.
 */
const sweepMs = 900;

/** The reason why a connection is closed: its token has ended, or no longer permits an open operation. */
export const endings = {
  ended: { code: 'UNAUTHENTICATED', message: 'the token has expired or was revoked: reconnect with a new one' },
  narrowed: { code: 'FORBIDDEN', message: 'the token no longer permits an open operation' },
} as const;

/** Returns whether an open operation could be begun with a token. */
export type CouldBegin = (viewer: Viewer) => Promise<boolean>;

/** A connection that stays open: a WebSocket or an event stream. */
export interface Connection {
  readonly forbid: (why: (typeof endings)[keyof typeof endings]) => void;
  /** Asks the client to connect elsewhere, because the server stops. */
  readonly leave: () => void;
  /** Checks whether the client still reads what it is sent, and closes the connection if not. */
  readonly check: () => void;
}

/** The session of one open connection. */
export interface Session {
  readonly viewer: Viewer;
  /**
   * Replaces the token by a newer one of the same subject that permits all open operations.
   * @returns false for any other: the token stays
   */
  renew(viewer: Viewer): Promise<boolean>;
  /**
   * Registers an operation that goes on, such as a subscription: the connection is closed when its token could no longer begin
   * it.
   * @returns its end; undefined where the current token could not begin it
   */
  begin(couldBegin: CouldBegin): Promise<(() => void) | undefined>;
  close(): void;
}

interface Open {
  viewer: Viewer;
  readonly connection: Connection;
  readonly underWay: Set<CouldBegin>;
}

/**
 * Holds all connections that outlive their first request. A connection does only what its current token could begin to do, also
 * after a newer one renews it, or after the token is revoked or expires. Tokens are checked together, on a timer and in one
 * statement: ten thousand idle connections cost about one small query a second, and an event costs none.
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

  /** Registers a connection until it closes. */
  open(viewer: Viewer, connection: Connection): Session {
    const open: Open = { viewer, connection, underWay: new Set() };
    this.#open.add(open);
    if (this.#stopping) queueMicrotask(() => connection.leave());
    return {
      get viewer() {
        return open.viewer;
      },
      renew: (newer) => renew(open, newer),
      begin: async (couldBegin) => {
        // Set before the check: a concurrent renewal checks it, too.
        open.underWay.add(couldBegin);
        if (await couldBegin(open.viewer)) return () => open.underWay.delete(couldBegin);
        open.underWay.delete(couldBegin);
        return undefined;
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
      .then(
        () => FaultStates.of(this.#log).succeeded('tokens of open connections'),
        (error: unknown) => FaultStates.of(this.#log).failed('tokens of open connections', error),
      )
      .finally(() => {
        this.#sweeping = undefined;
      });
  }

  async #forbidEnded(): Promise<void> {
    const checkedViewers = new Map<string, Viewer>();
    for (const { viewer } of this.#open) checkedViewers.set(viewer.tokenId, viewer);
    const viewers = [...checkedViewers.values()];
    const rights = new Map(
      (
        await rightsStatement(
          this.#database.pool,
          viewers.map((viewer) => viewer.platformId),
          viewers.map((viewer) => viewer.tokenId),
        )
      ).map(({ id, ...now }) => [id, now]),
    );
    for (const open of [...this.#open]) {
      const { viewer, connection } = open;
      // A token that was renewed while the query ran was not part of it.
      if (!checkedViewers.has(viewer.tokenId)) continue;
      const now = rights.get(viewer.tokenId);
      if (!now) connection.forbid(endings.ended);
      else if (!(await renew(open, { ...viewer, ...now }, viewer)) && open.viewer === viewer)
        connection.forbid(endings.narrowed);
    }
  }
}

/**
 * Gives a connection its new token, unless that could not begin an open operation.
 * @param replaced the token that it replaces; a later one stays
 */
async function renew(open: Open, viewer: Viewer, replaced?: Viewer): Promise<boolean> {
  if (viewer.platformId !== open.viewer.platformId || viewer.subject !== open.viewer.subject) return false;
  // Operations that begin during the loop are checked, too: a set's iterator visits added members.
  for (const couldBegin of open.underWay) if (!(await couldBegin(viewer))) return false;
  if (replaced === undefined || open.viewer === replaced) open.viewer = viewer;
  return true;
}

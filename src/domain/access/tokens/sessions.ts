import type { Logger } from 'pino';
import { FaultStates } from '../../../core/fault-states.ts';
import type { Database } from '../../../infra/database/database.ts';
import { statement } from '../../../infra/database/statement.ts';
import { singleFlight } from '../../../infra/instruments/single-flight.ts';
import type { Viewer } from '../caller.ts';

type Rights = Pick<Viewer, 'permissions' | 'grants' | 'trustedDocumentsOnly'>;

const rightsStatement = statement<Rights & { id: string }>(
  'token_rights',
  'select id, permissions, grants, trusted_documents_only from find_token_rights($1, $2)',
);

/** The interval between checks, in milliseconds. Connections whose token becomes invalid are closed within a second. */
const sweepMs = 900;

/** The reasons for closing a connection: its token is no longer valid, or no longer permits an open operation. */
export const endings = {
  ended: { code: 'UNAUTHENTICATED', message: 'the token has expired or was revoked: reconnect with a new one' },
  narrowed: { code: 'FORBIDDEN', message: 'the token no longer permits an open operation' },
} as const;

export type CouldBegin = (viewer: Viewer) => Promise<boolean>;

/** A WebSocket or an event stream. */
export interface Connection {
  readonly forbid: (why: (typeof endings)[keyof typeof endings]) => void;
  /** Asks the client to connect elsewhere, because the server is stopping. */
  readonly leave: () => void;
  /** Closes the connection if the client has stopped reading the data sent to it. */
  readonly check: () => void;
}

export interface Session {
  readonly viewer: Viewer;
  /** Replaces the token. Returns false if the new one has a different subject or does not permit an open operation. */
  renew(viewer: Viewer): Promise<boolean>;
  /**
   * Registers an operation, such as a subscription. Once the token no longer permits it, the connection is closed.
   * @returns a function that unregisters the operation, or undefined if the current token does not permit it
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
 * Tracks all connections that outlive their first request. A connection's current token must always be valid, and must
 * permit each of the connection's open operations. A timer checks the tokens of all connections in one statement, so
 * ten thousand idle connections cost about one small query per second. Delivering an event requires no query.
 */
export class Sessions {
  readonly #database: Database;
  readonly #open = new Set<Open>();
  readonly #timer: NodeJS.Timeout;
  readonly #checkTokens: () => Promise<void>;
  #sweeping: Promise<void> | undefined;
  #stopping = false;

  constructor(database: Database, log: Logger) {
    this.#database = database;
    const faults = FaultStates.of(log);
    this.#checkTokens = singleFlight(() => faults.watch('tokens of open connections', this.#forbidEnded()));
    this.#timer = setInterval(() => this.#sweep(), sweepMs).unref();
  }

  get size(): number {
    return this.#open.size;
  }

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
        // The operation is added before it is checked, so that a concurrent renewal also checks it.
        open.underWay.add(couldBegin);
        if (await couldBegin(open.viewer)) return () => open.underWay.delete(couldBegin);
        open.underWay.delete(couldBegin);
        return undefined;
      },
      close: () => this.#open.delete(open),
    };
  }

  /** Asks clients to connect elsewhere, spread over `spreadMs` so that they do not all reconnect at once. */
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
    this.#sweeping = this.#checkTokens();
  }

  async #forbidEnded(): Promise<void> {
    const platformOf = new Map(Array.from(this.#open, ({ viewer }) => [viewer.tokenId, viewer.platformId]));
    const rows = await rightsStatement(this.#database.pool, [...platformOf.values()], [...platformOf.keys()]);
    const rights = new Map(rows.map(({ id, ...now }) => [id, now]));
    for (const open of [...this.#open]) {
      const { viewer, connection } = open;
      // A token that a connection received while the query was running was not included in that query.
      if (!platformOf.has(viewer.tokenId)) continue;
      const now = rights.get(viewer.tokenId);
      if (!now) connection.forbid(endings.ended);
      else if (!(await renew(open, { ...viewer, ...now }, viewer)) && open.viewer === viewer)
        connection.forbid(endings.narrowed);
    }
  }
}

/** @param replaced the viewer to replace; a connection that has since been given a newer viewer keeps it */
async function renew(open: Open, viewer: Viewer, replaced?: Viewer): Promise<boolean> {
  if (viewer.platformId !== open.viewer.platformId || viewer.subject !== open.viewer.subject) return false;
  // Operations that begin during the loop are also checked: a set's iterator visits members added while it runs.
  for (const couldBegin of open.underWay) if (!(await couldBegin(viewer))) return false;
  if (replaced === undefined || open.viewer === replaced) open.viewer = viewer;
  return true;
}

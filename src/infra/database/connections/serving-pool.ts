import pg from 'pg';
import { currentPlatform, noPlatform } from './platform-scope.ts';
import {
  type Connection,
  localPlatformStatement,
  type PlatformFirst,
  platformStatement,
  statementMessages,
} from './platform-statement.ts';
import { PooledClient } from './pooled-client.ts';
import { TextQuery } from './text-reads.ts';
import { type Connected, inCurrentTrace } from './traced-query.ts';

/** Pools the serving role's connections. Each statement runs on behalf of the current platform (platform-scope.ts). */
export class ServingPool extends pg.Pool {
  /** The platform of each connection; absent while it is unknown, such as after an error. */
  readonly #platforms = new WeakMap<pg.PoolClient, string>();
  #shares: ConnectionShares | undefined;
  /** The query for which `connect` is being called. The query sets the platform itself, without another round trip. */
  #query: PlatformFirst | undefined;

  /** Prevents a single platform from using all connections at the same time. */
  leaveOneToOthers(): void {
    this.#shares = new ConnectionShares(this);
  }

  // The declarations of `query` in pg's types cannot be overridden one by one.
  override query = ((config: pg.QueryConfig | TextQuery | string, values?: unknown, done?: unknown) => {
    const query =
      config instanceof TextQuery ? config : new PlatformQuery(config, Array.isArray(values) ? values : undefined);
    this.#query = query;
    try {
      return Reflect.apply(super.query, this, [query, typeof values === 'function' ? values : done]);
    } finally {
      this.#query = undefined;
    }
  }) as pg.Pool['query'];

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    if (!callback) {
      return new Promise((resolve, reject) => {
        this.connect((error, client) => (error || !client ? reject(error) : resolve(client)));
      });
    }
    const platform = currentPlatform();
    const query = this.#query;
    const connected = inCurrentTrace((error, client, release) => {
      const entering = client && this.#enter(client, platform, query);
      if (!entering) callback(error, client, release);
      else
        entering.then(
          () => callback(undefined, client, release),
          (failure: Error) => callback(failure, undefined, () => undefined),
        );
    });
    if (this.#shares) this.#shares.connect(platform, (next) => super.connect(next), connected);
    else super.connect(connected);
    return undefined;
  }

  /** Returns a connection for statements that only call functions that run with their owner's privileges. */
  async connectForFunctions(): Promise<pg.PoolClient> {
    const client = await super.connect();
    if (client instanceof PooledClient) client.platform = noPlatform;
    return client;
  }

  /** Sets a connection's platform. Returns undefined if it is already set, or if the query itself will set it. */
  #enter(client: pg.PoolClient, platform: string, query?: PlatformFirst): Promise<void> | undefined {
    if (client instanceof PooledClient) {
      client.platform = platform;
      const statement = client.prepares ? localPlatformStatement : { ...localPlatformStatement, name: '' };
      if (query) query.platform = { id: platform, statement };
      return undefined;
    }
    if (this.#platforms.get(client) === platform) return undefined;
    if (!query) return this.#set(client, platform);
    this.#platforms.delete(client);
    query.platform = { id: platform, statement: platformStatement, onSet: () => this.#platforms.set(client, platform) };
    return undefined;
  }

  async #set(client: pg.PoolClient, platform: string): Promise<void> {
    try {
      await client.query({ ...platformStatement, values: [platform] });
    } catch (error) {
      client.release(error instanceof Error ? error : true);
      throw error;
    }
    this.#platforms.set(client, platform);
  }
}

/** The members of pg's Query that its types do not declare. */
interface PgQuery extends pg.Submittable {
  prepare(connection: unknown): void;
  handleDataRow(message: object): void;
  handleCommandComplete(message: object, connection: unknown): void;
  handleReadyForQuery(connection: unknown): void;
}
// This is safe because the pg version is pinned and every statement in the tests uses these members.
const Query = pg.Query as unknown as new (config: object, values: readonly unknown[] | undefined) => PgQuery;

/** pg's own query, extended so that it can set the platform first. */
class PlatformQuery extends Query implements PlatformFirst {
  platform: PlatformFirst['platform'];
  #isSetting = false;

  /** Accepts the arguments of `pg.Pool.query`, except a string with several statements. */
  constructor(config: pg.QueryConfig | string, values: readonly unknown[] | undefined) {
    // The setting and the query can share a batch only in the extended protocol.
    super({ ...(typeof config === 'string' ? { text: config } : config), queryMode: 'extended' }, values);
  }

  override prepare(connection: unknown): void {
    if (this.platform) {
      this.#isSetting = true;
      // pg passes its own Connection, whose stream it has corked.
      const { stream } = connection as Connection;
      const messages = statementMessages(connection as Connection, this.platform.statement, [this.platform.id]);
      if (stream.writable) for (const message of messages) stream.write(message);
    }
    super.prepare(connection);
  }

  override handleDataRow(message: object): void {
    if (!this.#isSetting) super.handleDataRow(message);
  }

  override handleCommandComplete(message: object, connection: unknown): void {
    if (this.#isSetting) this.#isSetting = false;
    else super.handleCommandComplete(message, connection);
  }

  override handleReadyForQuery(connection: unknown): void {
    this.platform?.onSet?.();
    super.handleReadyForQuery(connection);
  }
}

interface Share {
  /** The number of connections that a platform has or is about to get. */
  count: number;
  /** Callbacks, one of which is called when a connection becomes available to the platform. */
  readonly waiting: Set<() => void>;
}

/** Keeps a connection free for other platforms: a platform that holds all but one must return one to get another. */
class ConnectionShares {
  readonly #most: number;
  readonly #timeoutMs: number;
  readonly #shares = new Map<string, Share>();
  readonly #users = new WeakMap<pg.PoolClient, string>();

  constructor(pool: pg.Pool) {
    this.#most = Math.max(1, pool.options.max - 1);
    this.#timeoutMs = pool.options.connectionTimeoutMillis ?? 0;
    pool.on('release', (_error, client) => {
      const platform = this.#users.get(client);
      this.#users.delete(client);
      if (platform !== undefined) this.#end(platform);
    });
  }

  /** Connects with `connect` as soon as the platform's share allows it. Fails after the pool's own time limit. */
  connect(platform: string, connect: (done: Connected) => void, done: Connected): void {
    if (platform === noPlatform) {
      connect(done);
      return;
    }
    const begin = (answer: Connected) =>
      connect((error, client, release) => {
        if (client) this.#users.set(client, platform);
        else this.#end(platform);
        answer(error, client, release);
      });
    const share = this.#shares.get(platform) ?? { count: 0, waiting: new Set() };
    this.#shares.set(platform, share);
    if (share.count >= this.#most) this.#wait(share, begin, done);
    else {
      share.count += 1;
      begin(done);
    }
  }

  /** Waits for room in the platform's share and then for the pool, under a single time limit. */
  #wait({ waiting }: Share, begin: (done: Connected) => void, done: Connected): void {
    let givenUp = false;
    const giveUp = () => {
      givenUp = true;
      waiting.delete(wait);
      // The same message as the pool's own.
      done(new Error('timeout exceeded when trying to connect'), undefined, () => undefined);
    };
    const timer = this.#timeoutMs > 0 ? setTimeout(giveUp, this.#timeoutMs) : undefined;
    const wait = () =>
      begin((error, client, release) => {
        clearTimeout(timer);
        if (!givenUp) done(error, client, release);
        else if (client) release();
      });
    waiting.add(wait);
  }

  #end(platform: string): void {
    const share = this.#shares.get(platform);
    if (!share) return;
    const [next] = share.waiting;
    if (next) {
      share.waiting.delete(next);
      // Deferred until the pool has taken the connection back; otherwise the pool would open another one.
      queueMicrotask(next);
      return;
    }
    share.count -= 1;
    if (share.count === 0) this.#shares.delete(platform);
  }
}

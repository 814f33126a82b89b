import pg from 'pg';
import { type Connected, ConnectionShares } from './connection-shares.ts';
import { currentPlatform, noPlatform } from './platform-scope.ts';
import {
  type Connection,
  localPlatformStatement,
  type PlatformFirst,
  platformMessages,
  platformStatement,
} from './platform-statement.ts';
import { PooledClient } from './pooled-client.ts';
import { TextQuery } from './text-query.ts';
import { inCurrentTrace } from './traced-query.ts';

/** Pools connections of the serving role. Each statement runs on behalf of the current platform (platform-scope.ts). */
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

  /** Connects for statements that read no rows directly and only call functions with their owner's privileges. */
  async connectForFunctions(): Promise<pg.PoolClient> {
    const client = await super.connect();
    if (client instanceof PooledClient) client.platform = noPlatform;
    return client;
  }

  /** Sets a connection's platform. Returns undefined if it is already set, or if the query itself will set it. */
  #enter(client: pg.PoolClient, platform: string, query?: PlatformFirst): Promise<void> | undefined {
    if (client instanceof PooledClient) return this.#enterTransaction(client, platform, query);
    if (this.#platforms.get(client) === platform) return undefined;
    if (!query || !this.#platforms.has(client)) return this.#set(client, platform, platformStatement);
    this.#platforms.delete(client);
    query.platform = { id: platform, statement: platformStatement, onSet: () => this.#platforms.set(client, platform) };
    return undefined;
  }

  async #set(client: pg.PoolClient, platform: string, statement: pg.QueryConfig): Promise<void> {
    try {
      await client.query({ ...statement, values: [platform] });
    } catch (error) {
      client.release(error instanceof Error ? error : true);
      throw error;
    }
    this.#platforms.set(client, platform);
  }

  async #enterTransaction(client: PooledClient & pg.PoolClient, platform: string, query?: PlatformFirst) {
    client.platform = platform;
    if (!query) return;
    if (client.prepares && !this.#platforms.has(client)) await this.#set(client, platform, localPlatformStatement);
    query.platform = {
      id: platform,
      statement: client.prepares ? localPlatformStatement : { ...localPlatformStatement, name: '' },
    };
  }
}

/** The members of pg's Query that its types do not declare. */
interface PgQuery extends pg.Submittable {
  prepare(connection: unknown): void;
  handleDataRow(message: object): void;
  handleCommandComplete(message: object, connection: unknown): void;
  handleReadyForQuery(connection: unknown): void;
}
// The pg version is pinned, and every statement in the tests uses these members.
const Query = pg.Query as unknown as new (config: object, values: readonly unknown[] | undefined) => PgQuery;

/** pg's own query, which can set the platform first. */
class PlatformQuery extends Query implements PlatformFirst {
  platform: PlatformFirst['platform'];
  #isSetting = false;

  /** Accepts the arguments of `pg.Pool.query`, except a string with several statements. */
  constructor(config: pg.QueryConfig | string, values: readonly unknown[] | undefined) {
    // Only the extended protocol sends two statements as one batch.
    super({ ...(typeof config === 'string' ? { text: config } : config), queryMode: 'extended' }, values);
  }

  override prepare(connection: unknown): void {
    if (this.platform) {
      this.#isSetting = true;
      // pg prepares a query on its connection, whose stream it has corked.
      const { stream } = connection as Connection;
      if (stream.writable) for (const message of platformMessages(this.platform)) stream.write(message);
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

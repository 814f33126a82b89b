import pg from 'pg';
import { ConnectionShares } from './connection-shares.ts';
import { PlatformQuery } from './platform-query.ts';
import { currentPlatform, noPlatform } from './platform-scope.ts';
import { localPlatformStatement, type PlatformFirst, platformStatement } from './platform-statement.ts';
import { PooledClient } from './pooled-client.ts';
import { TextQuery } from './text-query.ts';
import { inCurrentTrace } from './traced-query.ts';

type Connected = Parameters<pg.Pool['connect']>[0];

/**
 * A pool of connections of the serving role. Each statement runs in the name of the current platform (platform-scope.ts). A
 * connection remembers its platform, and is switched when the next statement belongs to another. Behind a connection pooler
 * each statement and each transaction sets it for itself.
 */
export class ServingPool extends pg.Pool {
  /** The platform of each connection; none while it is unknown, as after an error. */
  readonly #platforms = new WeakMap<pg.PoolClient, string>();
  #shares: ConnectionShares | undefined;
  /** The query that `connect` is being called for. It sets the platform itself, without a round trip. */
  #query: PlatformFirst | undefined;

  /** Keeps each platform from having all connections at once. */
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
    const platform = currentPlatform();
    if (!callback) {
      return new Promise((resolve, reject) => {
        this.#connectAs(platform, (error, client) =>
          error || !client ? reject(error) : resolve(this.#enter(client, platform)),
        );
      });
    }
    const query = this.#query;
    this.#connectAs(platform, (error, client, release) => {
      if (error || !client) callback(error, client, release);
      else if (client instanceof PooledClient) {
        this.#enterTransaction(client, platform, query).then(
          () => callback(undefined, client, release),
          (failure: Error) => callback(failure, undefined, () => undefined),
        );
      } else if (this.#platforms.get(client) === platform) callback(undefined, client, release);
      else if (query && this.#platforms.has(client)) {
        this.#platforms.delete(client);
        query.platform = {
          id: platform,
          statement: platformStatement,
          onSet: () => this.#platforms.set(client, platform),
        };
        callback(error, client, release);
      } else {
        this.#enter(client, platform).then(
          () => callback(undefined, client, release),
          (failure: Error) => callback(failure, undefined, () => undefined),
        );
      }
    });
    return undefined;
  }

  #connectAs(platform: string, done: Connected): void {
    const connected = inCurrentTrace(done);
    if (this.#shares) this.#shares.connect(platform, (next) => super.connect(next), connected);
    else super.connect(connected);
  }

  /** Connects for statements that see no rows by themselves: those that only call a function with rights of its own. */
  async connectForFunctions(): Promise<pg.PoolClient> {
    const client = await super.connect();
    if (client instanceof PooledClient) client.platform = noPlatform;
    return client;
  }

  /** Sets the platform of a connection, and prepares the statement with which later queries do so. */
  async #enter(client: pg.PoolClient, platform: string): Promise<pg.PoolClient> {
    if (client instanceof PooledClient) {
      client.platform = platform;
      return client;
    }
    if (this.#platforms.get(client) === platform) return client;
    await queryOrDestroy(client, { ...platformStatement, values: [platform] });
    this.#platforms.set(client, platform);
    return client;
  }

  /** Lets what is sent next on a connection through a pooler set the platform, for its own transaction. */
  async #enterTransaction(
    client: PooledClient & pg.PoolClient,
    platform: string,
    query?: PlatformFirst,
  ): Promise<void> {
    client.platform = platform;
    if (!query) return;
    if (client.prepares && !this.#platforms.has(client)) {
      await queryOrDestroy(client, { ...localPlatformStatement, values: [platform] });
      this.#platforms.set(client, platform);
    }
    query.platform = {
      id: platform,
      statement: client.prepares ? localPlatformStatement : { ...localPlatformStatement, name: '' },
    };
  }
}

/** Runs a statement on a connection of a pool, which is destroyed when it fails. */
async function queryOrDestroy(client: pg.PoolClient, statement: pg.QueryConfig): Promise<void> {
  try {
    await client.query(statement);
  } catch (error) {
    client.release(error instanceof Error ? error : true);
    throw error;
  }
}

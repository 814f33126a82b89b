import pg from 'pg';
import { ConnectionShares } from './connection-shares.ts';
import { PlatformQuery } from './platform-query.ts';
import { currentPlatform } from './platform-scope.ts';
import { type PlatformFirst, platformStatement } from './platform-statement.ts';
import { TextQuery } from './text-query.ts';
import { inCurrentTrace } from './traced-query.ts';

type Connected = Parameters<pg.Pool['connect']>[0];

/**
 * A pool of connections of the serving role. Each statement runs in the name of the current platform (platform-scope.ts): a
 * connection remembers the platform that it was set to, and is set anew where the next statement is another's.
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
      if (error || !client || this.#platforms.get(client) === platform) callback(error, client, release);
      else if (query && this.#platforms.has(client)) {
        this.#platforms.delete(client);
        query.platform = { id: platform, onSet: () => this.#platforms.set(client, platform) };
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
  connectForFunctions(): Promise<pg.PoolClient> {
    return super.connect();
  }

  /** Sets the platform of a connection, and prepares the statement with which later queries do so. */
  async #enter(client: pg.PoolClient, platform: string): Promise<pg.PoolClient> {
    if (this.#platforms.get(client) === platform) return client;
    try {
      await client.query({ ...platformStatement, values: [platform] });
    } catch (error) {
      client.release(error instanceof Error ? error : true);
      throw error;
    }
    this.#platforms.set(client, platform);
    return client;
  }
}

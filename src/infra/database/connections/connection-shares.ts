import type pg from 'pg';
import { noPlatform } from './platform-scope.ts';

export type Connected = Parameters<pg.Pool['connect']>[0];

interface Share {
  /** The number of connections that a platform has or is about to get. */
  count: number;
  /** Called when a connection becomes available to the platform. */
  readonly waiting: Set<() => void>;
}

/** Keeps one of a pool's connections free: a platform that holds all the others must first return one. */
export class ConnectionShares {
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

  /** Connects with `connect` as soon as the platform has less than its share. Fails after the pool's own time limit. */
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

  /** Waits for the platform's share and then for the pool, under a single time limit. */
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

import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { type LockSession, lockSessions } from '../blockers.ts';
import { sqlState } from '../faults.ts';

interface TableLock {
  readonly table: string;
  readonly mode: string;
}

/** Selects the locks of a session that the service's statements would have to wait for. */
const strongLocks = `select l.relation::regclass::text as table, upper(regexp_replace(replace(l.mode, 'Lock', ''), '([a-z])([A-Z])', '\\1 \\2', 'g')) as mode,
    l.granted from pg_locks l join pg_class c on c.oid = l.relation
  where l.pid = $1 and l.locktype = 'relation' and c.relkind in ('r', 'p')
    and l.mode in ('ShareUpdateExclusiveLock', 'ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')`;

/** The SQLSTATEs of a lock timeout and a deadlock. */
const lockStates = new Set(['55P03', '40P01']);

/** Returns whether a statement has failed because another session holds a lock. */
export const isLocked = (error: unknown) => lockStates.has(sqlState(error) ?? '');

/**
 * Tracks the locks of a migration, learned from its attempts. From the second attempt on, they are taken first: the
 * migration waits for the lock that was not free while it holds nothing, and takes the others only if they are free. So
 * it never waits for a transaction that is waiting for the migration, as those of the service's loops would be.
 */
export class WantedLocks {
  readonly #watcher: pg.Client;
  readonly #pid: number;
  readonly #modes = new Map<string, string>();
  #first: string | undefined;
  /** The sessions that the last attempt waited for; none if it did not wait. */
  blockers: readonly LockSession[] = [];

  private constructor(watcher: pg.Client, pid: number) {
    this.#watcher = watcher;
    this.#pid = pid;
  }

  /** @param watcher looks at the locks of `client`, on its own connection */
  static async of(client: pg.Client, watcher: pg.Client): Promise<WantedLocks> {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    return new WantedLocks(watcher, rows[0]?.pid ?? 0);
  }

  /** Takes the known locks, in the transaction of `client`. */
  async take(client: pg.ClientBase): Promise<void> {
    const first = this.#first;
    const tables = [...this.#modes.keys()].sort((one, other) => Number(other === first) - Number(one === first));
    for (const table of tables) {
      try {
        await client.query(`lock table ${table} in ${this.#modes.get(table)} mode${table === first ? '' : ' nowait'}`);
      } catch (error) {
        if (isLocked(error)) this.#first = table;
        throw error;
      }
    }
  }

  /** Runs an attempt, and records the locks that it holds and waits for. */
  async watching<T>(everyMs: number, attempt: () => Promise<T>): Promise<T> {
    this.blockers = [];
    const ended = new AbortController();
    const watched = this.#watch(everyMs, ended.signal);
    try {
      return await attempt();
    } finally {
      ended.abort();
      await watched;
    }
  }

  async #watch(everyMs: number, ended: AbortSignal): Promise<void> {
    while (!ended.aborted) {
      await delay(everyMs, undefined, { signal: ended }).catch(() => undefined);
      if (!ended.aborted) await this.#look();
    }
  }

  async #look(): Promise<void> {
    const sessions = await lockSessions(this.#watcher);
    const own = sessions.find(({ pid }) => pid === this.#pid);
    if (!own || own.blockedBy.length === 0) return;
    this.blockers = sessions.filter(({ pid }) => own.blockedBy.includes(pid));
    const { rows } = await this.#watcher.query<TableLock & { granted: boolean }>(strongLocks, [this.#pid]);
    for (const { table, mode, granted } of rows) {
      this.#modes.set(table, mode);
      if (!granted) this.#first = table;
    }
  }
}

/** Returns whether Postgres itself cancels this session once it has blocked another for deadlock_timeout. */
export const givesWay = ({ kind, statement }: LockSession) =>
  kind === 'autovacuum worker' && !/to prevent wraparound/.test(statement);

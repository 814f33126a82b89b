import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';

/** How often the waits are looked at, in milliseconds. */
const everyMs = 50;

/**
 * Cancels the statement of a session when another has waited for its locks for too long. The limit is at most half of what Postgres
 * waits before it looks for a deadlock: in a deadlock with the session, it is the session that ends.
 * An advisory lock may be excepted: those who wait for it wait for its whole work.
 */
const cancelStatement = `
  select pg_cancel_backend($1) where exists (
    select from pg_locks l
    where not l.granted and $1 = any (pg_blocking_pids(l.pid))
      and not (l.locktype = 'advisory' and l.objid::bigint = $3)
      and l.waitstart < clock_timestamp() - interval '1 millisecond' * least($2::int,
        (select setting::int / 2 from pg_settings where name = 'deadlock_timeout')))`;

/** What others may wait for. */
export interface Way {
  /** The process id of the session whose locks are watched. */
  readonly pid: number;
  /** How many milliseconds another session may wait for one of its locks. */
  readonly othersMs: number;
  /** The advisory lock for which others may wait longer. */
  readonly exceptLock: number;
}

/**
 * Runs `work`, statements of another session, and cancels them where others wait too long for what it has locked.
 * @param watching a connection of the same role
 * @returns the result of `work`
 * @throws HeldUpOthers where it was cancelled, or the error of `work`
 */
export async function givingWay<T>(
  watching: pg.Client,
  { pid, othersMs, exceptLock }: Way,
  work: () => Promise<T>,
): Promise<T> {
  const end = new AbortController();
  let isCancelled = false;
  const watch = async () => {
    while (!isCancelled && !end.signal.aborted) {
      const { rowCount } = await watching.query(cancelStatement, [pid, othersMs, exceptLock]);
      isCancelled = (rowCount ?? 0) > 0;
      await delay(everyMs, undefined, { signal: end.signal }).catch(() => undefined);
    }
  };
  const watched = watch();
  try {
    // The watch alone ends nothing: it ends the work, or fails itself.
    return await Promise.race([work(), watched.then(() => new Promise<never>(() => undefined))]);
  } catch (error) {
    // The work may learn that it was cancelled before the watch has the answer to what cancelled it.
    end.abort();
    await watched.catch(() => undefined);
    throw isCancelled ? new HeldUpOthers(error) : error;
  } finally {
    end.abort();
    await watched.catch(() => undefined);
  }
}

/** The error of work that was cancelled because others waited for what it had locked. */
export class HeldUpOthers extends Error {
  constructor(cause: unknown) {
    super('other sessions waited too long for what it had locked', { cause });
  }
}

import type pg from 'pg';

/** Waits until at least `count` other transactions wait for the locks of `holder`. */
export async function waitForLocks(holder: pg.Client, count: number): Promise<void> {
  // Not from pg_stat_activity, whose contents do not change inside a transaction.
  const waiting =
    'select distinct pid from pg_locks where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))';
  while (((await holder.query(waiting)).rowCount ?? 0) < count);
}

import type pg from 'pg';

/** Waits until at least `count` other connections to the database of `on` wait for a lock. */
export async function waitForLocks(on: pg.Client, count: number): Promise<void> {
  const waiting =
    "select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and wait_event_type = 'Lock'";
  while (((await on.query(waiting)).rowCount ?? 0) < count);
}

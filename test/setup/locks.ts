import type pg from 'pg';
import { type Data, openClient, type TestGateway, uuidIn } from './gateway.ts';

/** Waits until at least `count` other transactions are waiting for locks that `holder` holds. */
export async function waitForLocks(holder: pg.Client, count: number): Promise<void> {
  // Does not read pg_stat_activity, because its contents do not change within a transaction.
  const waiting =
    'select distinct pid from pg_locks where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))';
  while (((await holder.query(waiting)).rowCount ?? 0) < count);
}

/** Locks a database's customer table. A statement that waits longer than its lock timeout (2 s) fails. */
export async function lockedCustomers(databaseUrl: string) {
  const holder = await openClient(databaseUrl);
  await holder.query('begin; lock table customer in access exclusive mode');
  // The table's oid is the same in every copy of a database, so the database must match as well.
  const waiting = `select from pg_locks where relation = 'customer'::regclass and not granted
    and database = (select oid from pg_database where datname = current_database())`;
  return {
    /** Waits until a connection is waiting for the lock. */
    async waitedFor() {
      while ((await holder.query(waiting)).rowCount === 0);
    },
    async release() {
      await holder.query('rollback');
      await holder.end();
    },
  };
}

/** Limits that let a gateway's statements wait as long as a test needs, even on a slow machine. */
export const patient = { lockMs: 60_000, statementMs: 60_000, operationMs: 60_000 } as const;

/** Blocks a new transfer inside the database. The returned function lets it continue, and returns the transaction. */
export async function heldTransfer(of: TestGateway): Promise<() => Promise<Data>> {
  const scene = await of.platform.makeScene(10_000n);
  const holder = await openClient(of.databaseUrl);
  await holder.query('begin');
  await holder.query('select from account where id = $1 for update', [uuidIn(scene.usd)]);
  const held = of.platform.pay(scene);
  await waitForLocks(holder, 1);
  return async () => {
    await holder.query('commit');
    await holder.end();
    return held;
  };
}

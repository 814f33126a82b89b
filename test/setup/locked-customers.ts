import pg from 'pg';

/** Locks the customers of a database. A statement that waits longer than its lock timeout (2 s) gets an error. */
export async function lockedCustomers(databaseUrl: string) {
  const holder = new pg.Client({ connectionString: databaseUrl });
  await holder.connect();
  await holder.query('begin; lock table customer in access exclusive mode');
  // The table has the same oid in every copy of the same database.
  const waiting = `select from pg_locks where relation = 'customer'::regclass and not granted
    and database = (select oid from pg_database where datname = current_database())`;
  return {
    /** Waits until a connection waits for the lock. */
    async waitedFor() {
      while ((await holder.query(waiting)).rowCount === 0);
    },
    async release() {
      await holder.query('rollback');
      await holder.end();
    },
  };
}

import type pg from 'pg';
import { firstServer } from './connections/address.ts';
import { DatabaseClient, Hosts } from './connections/hosts.ts';

/**
 * Runs `work` under a session advisory lock: of several processes that call it at once, one works and the others wait.
 * The lock belongs to a separate connection, which `work` may use. It ends with that connection, even when the process
 * is killed.
 *
 * @param lock a number that no other kind of work in this database uses
 */
export async function withAdvisoryLock<T>(
  databaseUrl: string,
  lock: number,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  return withClient(databaseUrl, async (client) => {
    await client.query('select pg_advisory_lock($1)', [lock]);
    return work(client);
  });
}

/** Runs `work` on a separate connection, without the limits on statements that the pool's sessions have. */
export async function withClient<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new DatabaseClient({
    connectionString: firstServer(databaseUrl),
    hosts: Hosts.of(databaseUrl),
    connectionTimeoutMillis: 5_000,
  });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

import type pg from 'pg';
import { connectionName, firstServer } from './connections/address.ts';
import { type ConnectionConfig, DatabaseClient, hostsOf } from './connections/hosts.ts';

/** Runs `work` under the advisory lock `lock`, which no other kind of work uses. Closing the connection releases it. */
export async function withAdvisoryLock<T>(
  databaseUrl: string,
  lock: number,
  work: (client: pg.Client) => Promise<T>,
  use?: string,
): Promise<T> {
  const locked = async (client: pg.Client) => {
    await client.query('select pg_advisory_lock($1)', [lock]);
    return work(client);
  };
  return withClient(databaseUrl, locked, use);
}

/** Runs `work` on a separate connection that is named after its `use` and has none of the pool's statement limits. */
export function withClient<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>, use = 'set-up') {
  const config = {
    connectionString: firstServer(databaseUrl),
    hosts: hostsOf(databaseUrl),
    connectionTimeoutMillis: 5_000,
    application_name: connectionName(use),
  };
  return withConnection(config, work);
}

/** Runs `work` on a separate connection with the given `config`, and then closes the connection. */
export async function withConnection<T>(config: ConnectionConfig, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new DatabaseClient(config);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

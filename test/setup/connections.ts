import pg from 'pg';
import { expect, vi } from 'vitest';
import type { TestGateway } from './gateway.ts';

/** Calls `work` with a separate connection as the owner of the tables. */
async function connected<T>(config: pg.ClientConfig, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(config);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Calls `work` with a connection that may change what triggers protect. */
export function withoutTriggers<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  return connected({ connectionString, options: '-c session_replication_role=replica' }, work);
}

/** Calls `work` while another connection has locked the rows of the statement, and then releases them. */
export function whileLocked<T>(
  connectionString: string,
  [text, ...values]: readonly [text: string, ...values: unknown[]],
  work: (holder: pg.Client) => Promise<T>,
): Promise<T> {
  return connected({ connectionString }, async (holder) => {
    await holder.query('begin');
    await holder.query(text, values);
    const result = await work(holder);
    await holder.query('commit');
    return result;
  });
}

/**
 * Runs a statement as a role, or as the owner of the tables, and rolls it back. Returns how many rows it had, or the
 * code of its error.
 */
export function triedAs({ databaseUrl }: TestGateway, role: string, text: string): Promise<unknown> {
  return connected({ connectionString: databaseUrl }, async (client) => {
    await client.query('begin');
    if (role !== 'owner') await client.query(`set local role ${role}`);
    return client.query(text).then(
      ({ rowCount }) => rowCount,
      (error: { readonly code: string }) => error.code,
    );
  });
}

/** Waits until a statement of the owner of the tables returns such rows. */
export async function untilRows({ owner }: TestGateway, wanted: readonly object[], text: string, ...values: unknown[]) {
  await vi.waitFor(async () => expect((await owner.query(text, values)).rows).toMatchObject(wanted), 20_000);
}

/** Returns the uuid in a public id. */
export const uuidIn = (id: string): string => id.slice(id.indexOf(':') + 1);

import pg from 'pg';
import { afterAll, expect, vi } from 'vitest';
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

/** Opens a connection, shared by all tests of a file, as the owner of the tables, and closes it afterwards. */
export async function testClient({ databaseUrl }: Pick<TestGateway, 'databaseUrl'>, options = ''): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl, options });
  await client.connect();
  afterAll(() => client.end());
  return client;
}

/** Calls `work` with a connection that may change what triggers protect. */
export function withoutTriggers<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  return connected({ connectionString, options: '-c session_replication_role=replica' }, work);
}

/** Calls `work` while another connection has locked the rows that a statement selects, and then releases them. */
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

/** Runs `first` and then `second` while another connection has locked a row, and releases the row once both wait. */
export async function inTurn<A, B>(
  { databaseUrl, owner }: TestGateway,
  [table, id]: readonly [table: string, id: string],
  first: () => Promise<A>,
  second: () => Promise<B>,
): Promise<[A, B]> {
  const text = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  const waiting = async (count: number) => {
    while (((await owner.query(text)).rowCount ?? 0) < count);
  };
  const lock = [`select from ${table} where id = $1 for update`, uuidIn(id)] as const;
  const both = await whileLocked(databaseUrl, lock, async () => {
    const one = first();
    await waiting(1);
    const other = second();
    await waiting(2);
    return [one, other] as const;
  });
  return Promise.all(both);
}

/**
 * Runs a statement as a role, or as the owner of the tables, and rolls it back. Returns its number of rows, or the code
 * of its error.
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

/** Waits until a statement of the owner of the tables returns these rows. */
export async function untilRows({ owner }: TestGateway, wanted: readonly object[], text: string, ...values: unknown[]) {
  await vi.waitFor(async () => expect((await owner.query(text, values)).rows).toMatchObject(wanted), 20_000);
}

/** Returns the uuid in a public id. */
export const uuidIn = (id: string): string => id.slice(id.indexOf(':') + 1);

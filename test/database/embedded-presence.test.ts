import { once } from 'node:events';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { EmbeddedServers, query } from '../setup/embedded-servers.ts';

const servers = new EmbeddedServers();
/** Enough for a machine that others use too. What is awaited takes a fraction of a second. */
const soon = { timeout: 30_000, interval: 10 };

test('after a crash of one connection, a second start and stop leaves the server up for the first', async () => {
  const first = await servers.startInProcess();
  const started = await startedAt(first.url);
  await crashBackend(first.url);
  // The old server may answer for a moment yet: until it has seen the crash.
  await vi.waitFor(async () => expect(await startedAt(first.url)).not.toEqual(started), soon);
  await vi.waitFor(async () => expect(await usersOf(first.url)).toBe(1), soon);
  const second = await servers.start();
  expect(second.url).toBe(first.url);
  await second.stop();
  expect(await startedAt(first.url)).toBeDefined();
  first.process.kill('SIGINT');
  expect(await once(first.process, 'exit')).toEqual([0, null]);
  await expect(query(first.url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('one that comes back too late, when the other has shut the server down, starts it again', async () => {
  const first = await servers.startInProcess();
  const second = await servers.start();
  const started = await startedAt(first.url);
  first.process.kill('SIGSTOP');
  await crashBackend(first.url);
  await second.stop();
  await vi.waitFor(() => expect(query(first.url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' }), soon);
  first.process.kill('SIGCONT');
  await vi.waitFor(async () => expect(await startedAt(first.url)).not.toEqual(started), soon);
  first.process.kill('SIGINT');
  expect(await once(first.process, 'exit')).toEqual([0, null]);
});

test('of two whose server is killed one starts it again, both use it, and the last shuts it down', async () => {
  const first = await servers.startInProcess();
  const second = await servers.start();
  process.kill(first.pid, 'SIGKILL');
  await vi.waitFor(async () => expect(await usersOf(first.url)).toBe(2), soon);
  await second.stop();
  expect(await query(first.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  first.process.kill('SIGINT');
  expect(await once(first.process, 'exit')).toEqual([0, null]);
  await expect(query(first.url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

/** Kills one connection's process as a fault in it would: Postgres then ends all connections and recovers. */
async function crashBackend(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const ended = new Promise((resolve) => client.once('end', resolve));
  client.on('error', () => undefined);
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  process.kill(rows[0]?.pid ?? 0, 'SIGKILL');
  await ended;
}

/** How many hold their share of the lock that shows who uses the server. */
async function usersOf(url: string): Promise<number | undefined> {
  const [row] = await query<{ users: number }>(
    url,
    `select count(*)::int as users from pg_locks where locktype = 'advisory' and mode = 'ShareLock' and granted`,
  );
  return row?.users;
}

async function startedAt(url: string): Promise<unknown> {
  const [row] = await query(url, 'select pg_postmaster_start_time() as started');
  return row?.started;
}

import { once } from 'node:events';
import { open, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { EmbeddedPostgres } from '../../src/infra/database/embedded/embedded.ts';
import { canMount, EmbeddedServers, isDown, onDiskOfItsOwn, query } from '../setup/embedded-servers.ts';
import { openClient } from '../setup/gateway.ts';

const servers = new EmbeddedServers();
/** Long enough for a busy machine. Normally, the expected event occurs within a fraction of a second. */
const soon = { timeout: 30_000, interval: 10 };

test('a server that someone else kills or stops comes back at the same address with its data, and each step is logged once', async () => {
  const { server, warnings } = await startHeard({ durable: true });
  await query(server.url, `create table words (word text); insert into words values ('committed')`);
  const { pid, url } = server;

  process.kill(pid, 'SIGKILL');
  await vi.waitFor(
    async () => expect(await query(url, 'select word from words')).toEqual([{ word: 'committed' }]),
    soon,
  );
  await vi.waitFor(() => expect(warnings.at(-1)).toMatch(/running again/), soon);
  expect(server.pid).not.toBe(pid);
  expect(server.url).toBe(url);
  expect(warnings[0]).toContain(`process ${pid}`);
  expect(warnings.filter((line) => /closed its connection/.test(line))).toHaveLength(1);
  expect(warnings.filter((line) => /running again/.test(line))).toHaveLength(1);

  // With SIGTERM alone, Postgres would wait for the client to disconnect.
  const client = await openClient(url);
  const ended = new Promise((resolve) => client.once('end', resolve));
  process.kill(server.pid, 'SIGTERM');
  await ended;
  await vi.waitFor(() => expect(warnings.filter((line) => /running again/.test(line))).toHaveLength(2), soon);
  expect(await query(url, 'select word from words')).toEqual([{ word: 'committed' }]);
  await server.stop();
  await isDown(url);
});

test('a failed start is retried until it succeeds, and each reason for failure is logged once', async () => {
  const { server, warnings } = await startHeard();
  const { url } = server;
  const reasons = (reason: RegExp) => warnings.filter((line) => reason.test(line));
  const repair = await broken(server, warnings);

  const other = await occupied(url);
  await repair();
  await vi.waitFor(() => expect(reasons(/Address already in use/)).toHaveLength(1), soon);
  // The first reason was logged only once, and the server is not considered running while its port is taken.
  expect(reasons(/PG_VERSION/)).toHaveLength(1);
  expect(reasons(/running again/)).toHaveLength(0);
  other.close();

  await vi.waitFor(async () => expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]), soon);
  await vi.waitFor(() => expect(reasons(/running again/)).toHaveLength(1), soon);
  expect(reasons(/Address already in use/)).toHaveLength(1);
});

test('a server that another process restarts on a different port returns to its own port afterwards', async () => {
  const { server: first, warnings } = await startHeard();
  const repair = await broken(first, warnings);
  const other = await occupied(first.url);
  await repair();

  const second = await servers.start();
  expect(second.url).not.toBe(first.url);
  await vi.waitFor(() => expect(warnings.join()).toMatch(/another process has started it/), soon);
  await second.stop();
  other.close();
  await vi.waitFor(async () => expect(await query(first.url, 'select 1 as one')).toEqual([{ one: 1 }]), soon);
});

test('a server whose child processes outlive it comes back only after they have ended', async () => {
  const { server, warnings } = await startHeard();
  const client = await openClient(server.url);
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const child = rows[0]?.pid ?? 0;
  process.kill(child, 'SIGSTOP');
  process.kill(server.pid, 'SIGKILL');
  await vi.waitFor(() => expect(warnings.join()).toMatch(/shared memory block.*still in use/), soon);
  await isDown(server.url);
  process.kill(child, 'SIGCONT');
  await vi.waitFor(async () => expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]), soon);
});

test('stopping a server that cannot start completes immediately and leaves no server running', async () => {
  const { server, warnings } = await startHeard();
  const repair = await broken(server, warnings);
  await server.stop();
  await repair();
  const next = await servers.start();
  expect(await query(next.url, 'select 1 as one')).toEqual([{ one: 1 }]);
});

test('stopping a server at any point during its restart leaves no server running', async () => {
  for (const waitFor of [/closed its connection/, /running again/]) {
    const { server, warnings } = await startHeard();
    process.kill(server.pid, 'SIGKILL');
    await vi.waitFor(() => expect(warnings.some((line) => waitFor.test(line))).toBe(true), { ...soon, interval: 1 });
    await server.stop();
    await isDown(server.url);
  }
});

test.runIf(canMount())('a server whose disk was full comes back once there is space again', async () => {
  const user = await servers.startInProcess(onDiskOfItsOwn(servers.parent, 'size=256m'));
  const client = await openClient(user.url);
  const change = `select pg_logical_emit_message(true, 'filler', repeat('x', 1000000))`;
  // Writes enough changes to keep recovery busy for a moment before it runs out of space.
  for (let count = 0; count < 64; count += 1) await client.query(change);
  const filler = join(`/proc/${user.process.pid}/root`, servers.parent, 'filler');
  await expect(fill(filler)).rejects.toMatchObject({ code: 'ENOSPC' });
  // Postgres exits when it cannot write its write-ahead log.
  await expect(untilRefused(() => client.query(change))).rejects.toThrow();
  await vi.waitFor(() => expect(user.warnings.join()).toMatch(/will retry[\s\S]*No space left on device/), soon);

  await rm(filler);
  await vi.waitFor(async () => expect(await query(user.url, 'select 1 as one')).toEqual([{ one: 1 }]), soon);
  await vi.waitFor(() => expect(user.warnings.at(-1)).toMatch(/running again/), soon);
  expect(user.warnings.filter((line) => line.startsWith('The embedded Postgres')).length).toBeLessThan(8);
  await interrupted(user);
});

test('after a backend has crashed, the server keeps running when another process starts and stops using it', async () => {
  const first = await servers.startInProcess();
  const started = await startedAt(first.url);
  await crashBackend(first.url);
  // The old server may respond until it notices the crash.
  await vi.waitFor(async () => expect(await startedAt(first.url)).not.toEqual(started), soon);
  await vi.waitFor(async () => expect(await usersOf(first.url)).toBe(1), soon);
  const second = await servers.start();
  expect(second.url).toBe(first.url);
  await second.stop();
  expect(await startedAt(first.url)).toBeDefined();
  await interrupted(first);
  await isDown(first.url);
});

test('a process that still needs the server starts it again after another one has shut it down', async () => {
  const first = await servers.startInProcess();
  const second = await servers.start();
  const started = await startedAt(first.url);
  first.process.kill('SIGSTOP');
  await crashBackend(first.url);
  await second.stop();
  await vi.waitFor(() => isDown(first.url), soon);
  first.process.kill('SIGCONT');
  await vi.waitFor(async () => expect(await startedAt(first.url)).not.toEqual(started), soon);
  await interrupted(first);
});

test('one of two processes restarts a killed server, both use it, and the last one shuts it down', async () => {
  const first = await servers.startInProcess();
  const second = await servers.start();
  process.kill(first.pid, 'SIGKILL');
  await vi.waitFor(async () => expect(await usersOf(first.url)).toBe(2), soon);
  await second.stop();
  expect(await query(first.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  await interrupted(first);
  await isDown(first.url);
});

async function startHeard(options: { durable?: boolean } = {}) {
  const warnings: string[] = [];
  return { server: await servers.start({ ...options, warn: (line) => warnings.push(line) }), warnings };
}

/** Removes a file that the server needs to start, and kills the server. Returns a function that puts the file back. */
async function broken({ dataDirectory, pid }: EmbeddedPostgres, warnings: readonly string[]) {
  const version = join(dataDirectory, 'data', 'PG_VERSION');
  await rename(version, `${version}.away`);
  process.kill(pid, 'SIGKILL');
  await vi.waitFor(() => expect(warnings.filter((line) => /PG_VERSION/.test(line))).toHaveLength(1), soon);
  return () => rename(`${version}.away`, version);
}

async function occupied(url: string) {
  const other = createServer().listen(Number(new URL(url).port), '127.0.0.1');
  await once(other, 'listening');
  return other;
}

async function interrupted({ process: user }: Awaited<ReturnType<EmbeddedServers['startInProcess']>>): Promise<void> {
  user.kill('SIGINT');
  expect(await once(user, 'exit')).toEqual([0, null]);
}

/** Kills one connection's server process. Postgres treats this as a crash: it ends all connections and recovers. */
async function crashBackend(url: string): Promise<void> {
  const client = await openClient(url);
  const ended = new Promise((resolve) => client.once('end', resolve));
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  process.kill(rows[0]?.pid ?? 0, 'SIGKILL');
  await ended;
}

/** Counts the processes that use the server. Each of them holds a shared lock. */
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

async function fill(file: string): Promise<void> {
  const handle = await open(file, 'w');
  try {
    await untilRefused(() => handle.writeFile(Buffer.alloc(4_096)));
  } finally {
    await handle.close();
  }
}

async function untilRefused(act: () => Promise<unknown>): Promise<never> {
  for (;;) await act();
}

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EmbeddedServers, isDown, query } from '../setup/embedded-servers.ts';

const servers = new EmbeddedServers();

test('the first start creates an empty database named payments that uses UTF-8 and UTC and is reachable only from localhost', async () => {
  const { url } = await servers.start();
  const [row] = await query(
    url,
    `select current_database() as database, current_setting('server_encoding') as encoding,
            current_setting('timezone') as zone, current_setting('listen_addresses') as listens,
            current_setting('unix_socket_directories') as sockets, 'Z' < 'a' as by_code_point,
            (select count(*)::int from pg_stat_user_tables) as tables`,
  );
  expect(row).toEqual({
    ...{ database: 'payments', encoding: 'UTF8', zone: 'UTC', listens: '127.0.0.1', sockets: '' },
    ...{ by_code_point: true, tables: 0 },
  });
});

test('the password is random, required, and readable only by its owner', async () => {
  const { url, dataDirectory } = await servers.start();
  const password = (await readFile(join(dataDirectory, 'password'), 'utf8')).trim();
  expect(password).toHaveLength(32);
  expect((await stat(join(dataDirectory, 'password'))).mode & 0o777).toBe(0o600);
  expect((await stat(dataDirectory)).mode & 0o777).toBe(0o700);
  expect(new URL(url).password).toBe(password);
  await expect(query(url.replace(password, 'guess'), 'select 1')).rejects.toMatchObject({ code: '28P01' });
});

test('the server writes durably only if requested', async () => {
  const shown = `select current_setting('fsync') || current_setting('synchronous_commit') || current_setting('full_page_writes') as safe`;
  const durable = await servers.start({ dataDir: join(servers.parent, 'durable'), durable: true });
  expect(await query(durable.url, shown)).toEqual([{ safe: 'ononon' }]);
  expect(await query((await servers.start()).url, shown)).toEqual([{ safe: 'offoffoff' }]);
});

test('a second start keeps the data and the address', async () => {
  const first = await servers.start();
  await query(first.url, 'create table kept (word text)');
  await query(first.url, `insert into kept values ('héllo')`);
  await first.stop();
  const second = await servers.start();
  expect(second.url).toBe(first.url);
  expect(second.pid).not.toBe(first.pid);
  expect(await query(second.url, 'select word from kept')).toEqual([{ word: 'héllo' }]);
});

test('a server takes another port if its own has been taken in the meantime', async () => {
  const first = await servers.start();
  await first.stop();
  const elsewhere = await servers.start({ dataDir: join(servers.parent, 'elsewhere') });
  await elsewhere.stop();
  await writeFile(join(elsewhere.dataDirectory, 'port'), new URL(first.url).port);
  const taken = await servers.start({ dataDir: join(servers.parent, 'elsewhere') });
  expect(new URL(taken.url).port).toBe(new URL(first.url).port);
  const second = await servers.start();
  expect(new URL(second.url).port).not.toBe(new URL(first.url).port);
  expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
});

test('a server left behind by a killed process is adopted, and is stopped by its new owner', async () => {
  const left = await servers.startInProcess();
  await query(left.url, 'create table kept (word text)');
  left.process.kill('SIGKILL');
  await once(left.process, 'exit');

  const adopted = await servers.start();
  expect(adopted.pid).toBe(left.pid);
  expect(adopted.url).toBe(left.url);
  expect(await query(adopted.url, 'select word from kept')).toEqual([]);
  await adopted.stop();
  await isDown(adopted.url);
});

test('a lock file does not prevent a start if its process is dead or its process ID now belongs to a different program', async () => {
  const first = await servers.start();
  await query(first.url, 'create table kept (word text)');
  const lock = join(first.dataDirectory, 'data', 'postmaster.pid');
  const content = await readFile(lock, 'utf8');
  await first.stop();

  const gone = spawn(process.execPath, ['--version']);
  await once(gone, 'exit');
  // The program runs as the server's user, because Postgres ignores a lock file that names another user's process.
  const { uid, gid } = await stat(lock.replace('postmaster.pid', 'base'));
  const other = spawn('sleep', ['300'], { uid, gid });
  servers.remember(other);
  for (const { pid } of [gone, other]) {
    await writeFile(lock, content.replace(/^\d+/, String(pid)));
    const server = await servers.start();
    expect(await query(server.url, 'select word from kept')).toEqual([]);
    await server.stop();
  }
});

test('processes that start together share one server, and the last of them to stop shuts it down', async () => {
  const [one, two, other] = await Promise.all([servers.start(), servers.start(), servers.startInProcess()]);
  expect(two.pid).toBe(one.pid);
  expect(other.pid).toBe(one.pid);

  await Promise.all([one.stop(), two.stop()]);
  expect(await query(other.url, 'select 1 as one')).toEqual([{ one: 1 }]);

  other.process.kill('SIGINT');
  await once(other.process, 'exit');
  await isDown(other.url);
});

test('after an interrupt from the terminal, the server runs until the process has finished with it', async () => {
  const { process: gateway } = await servers.startInProcess();
  // A terminal interrupts the whole process group.
  process.kill(-Number(gateway.pid), 'SIGINT');
  expect(await once(gateway, 'exit')).toEqual([0, null]);
  const { url } = await servers.start();
  expect(await query(url, 'select done from last_work')).toEqual([]);
});

test("a failed start reports the server's last output and what to do", async () => {
  const first = await servers.start();
  await first.stop();
  await writeFile(join(first.dataDirectory, 'data', 'PG_VERSION'), '9.6\n');
  await expect(servers.start({ durable: true })).rejects.toThrow(
    /did not start[\s\S]*initialized by PostgreSQL version 9\.6[\s\S]*DATABASE_URL/,
  );
});

test.runIf(process.getuid?.() === 0)(
  'started by root in a folder closed to other users, the server stores its data elsewhere and says where',
  async () => {
    const closed = join(servers.parent, 'closed');
    await mkdir(closed, { mode: 0o700 });
    servers.dataDir = join(closed, 'data');
    const server = await servers.start();
    expect(server.dataDirectory.startsWith(servers.parent)).toBe(false);
    expect(server.notice).toContain(server.dataDirectory);
    await query(server.url, 'create table kept (word text)');
    await server.stop();
    expect(await query((await servers.start()).url, 'select word from kept')).toEqual([]);
  },
);

test.runIf(process.getuid?.() === 0)('started by root, the server runs as another user', async () => {
  const { pid } = await servers.start();
  expect(execFileSync('ps', ['-o', 'user=', '-p', String(pid)], { encoding: 'utf8' }).trim()).not.toBe('root');
});

import os from 'node:os';
import { afterAll, expect, test, vi } from 'vitest';
import { protectionOf, readAddress, serversOf } from '../../src/infra/database/connections/address.ts';
import { type Database, openDatabase } from '../../src/infra/database/database.ts';
import { servingUrl } from '../../src/infra/database/embedded/serving-login.ts';
import { migrate } from '../../src/infra/database/migrations/migrate.ts';
import { testDatabase } from '../setup/database.ts';
import { databaseProxy } from '../setup/database-proxy.ts';
import { query } from '../setup/embedded-servers.ts';

const database = await testDatabase();

function openWith(parameters: Readonly<Record<string, string>> = {}): Database {
  const url = `${database.url}?${new URLSearchParams(parameters)}`;
  return openDatabase({ url, role: 'gateway_work', poolSize: 1 });
}

async function settingsOf(opened: Database, ...names: readonly string[]): Promise<Record<string, string>> {
  const { rows } = await opened.pool.query<{ name: string; value: string }>(
    'select name, current_setting(name) as value from unnest($1::text[]) as name',
    [names],
  );
  await opened.close();
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

const name = () => new URL(database.url).pathname.slice(1);

test("sessions do not use JIT, regardless of the server's setting, because compiling takes longer than a payment", async () => {
  await query(database.url, `alter database ${name()} set jit = on`);
  expect(await settingsOf(openWith(), 'jit')).toEqual({ jit: 'off' });
});

test("options in the address are added to the service's settings and replace none of them", async () => {
  const opened = openWith({
    options: '-c work_mem=9MB -c timezone=Asia/Tokyo -c statement_timeout=0 -c jit=on -c search_path=pg_catalog',
    statement_timeout: '0',
    lock_timeout: '0',
  });
  const session = ['work_mem', 'TimeZone', 'statement_timeout', 'lock_timeout', 'jit', 'search_path', 'role'];
  expect(await settingsOf(opened, ...session)).toEqual({
    work_mem: '9MB',
    TimeZone: 'UTC',
    statement_timeout: '10s',
    lock_timeout: '2s',
    jit: 'off',
    search_path: 'public',
    role: 'gateway_work',
  });
});

test("a connection's name states its purpose and its owner", async () => {
  const here = `${os.hostname()}:${process.pid}`;
  expect(await settingsOf(openWith(), 'application_name')).toEqual({
    application_name: `payments-gateway work ${here}`.slice(0, 63),
  });
  const named = openWith({ application_name: 'blue' });
  expect(named.connectionFor('feed').application_name).toBe(`blue feed ${here}`);
  expect(await settingsOf(named, 'application_name')).toEqual({ application_name: `blue work ${here}` });
});

test('other parameters in the address are left as they are', () => {
  const ssl = 'postgres://gateway:p%40ss@db/payments?sslmode=verify-full&sslrootcert=/etc/ca%20file.pem';
  expect(readAddress(ssl).url).toBe(ssl);
  expect(readAddress('postgres:///payments?host=/run/postgresql&options=-c%20work_mem%3D8MB')).toEqual({
    url: 'postgres:///payments?host=%2Frun%2Fpostgresql',
    options: '-c work_mem=8MB',
    applicationName: undefined,
  });
});

// `npm run soak -- promotion` tests, with a real standby, that the writable host is found after a promotion.

const proxies = [await databaseProxy(database.url), await databaseProxy(database.url)] as const;
const opened = openDatabase({ url: addressOf(servingUrl(database.url)), role: 'gateway_work', poolSize: 2 });
afterAll(async () => {
  await opened.close();
  for (const proxy of proxies) await proxy.close();
});

function addressOf(url: string): string {
  const { username, password, pathname } = new URL(url);
  const hosts = proxies.map((proxy) => new URL(proxy.url).host);
  return `postgres://${username}:${password}@${hosts.join(',')}${pathname}`;
}

const ask = async () => (await opened.pool.query<{ role: string }>('select current_user::text as role')).rows[0]?.role;

test('if either of two hosts is unreachable, the other one is used', async () => {
  const [first, second] = proxies;
  await first.stopListening();
  expect(await ask()).toBe('gateway_work');
  expect([first.connections, second.connections > 0]).toEqual([0, true]);
  await first.startListening();
  await second.stopListening();
  // The pool may not have noticed yet that its connections were dropped.
  await vi.waitFor(async () => expect(await ask()).toBe('gateway_work'), 60_000);
  expect([first.connections > 0, second.connections]).toEqual([true, 0]);
  await second.startListening();
});

test('if no host answers, the error is the same as for any unreachable database', async () => {
  for (const proxy of proxies) await proxy.stopListening();
  await vi.waitFor(async () => await expect(ask()).rejects.toMatchObject({ code: 'ECONNREFUSED' }), 60_000);
  for (const proxy of proxies) await proxy.startListening();
  expect(await ask()).toBe('gateway_work');
});

test('migrations find the host, too', async () => {
  await proxies[0].stopListening();
  expect(await migrate(addressOf(database.url))).toEqual({ applied: [] });
  await proxies[0].startListening();
});

test('the hosts in an address are read as libpq reads them', () => {
  expect(serversOf('postgres://user:p%40ss@one:5433,two,[::1]:5434/payments?sslmode=verify-full')).toEqual([
    { host: 'one', port: 5433 },
    { host: 'two', port: 5432 },
    { host: '::1', port: 5434 },
  ]);
  expect(protectionOf('postgres://gateway@127.0.0.1,db.example/payments')).toBe('NONE');
  expect(protectionOf('postgres://gateway@127.0.0.1,[::1]/payments')).toBe('LOCAL');
});

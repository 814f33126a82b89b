import os from 'node:os';
import { expect, test } from 'vitest';
import { readAddress } from '../../src/infra/database/connections/address.ts';
import { type Database, openDatabase } from '../../src/infra/database/database.ts';
import { testDatabase } from '../setup/database.ts';
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

test("sessions use no JIT, whatever the server's setting, because compiling takes longer than a payment", async () => {
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

import { afterAll, expect, test, vi } from 'vitest';
import { protectionOf, serversOf } from '../../src/infra/database/connections/address.ts';
import { openDatabase } from '../../src/infra/database/database.ts';
import { servingUrl } from '../../src/infra/database/embedded/serving-login.ts';
import { migrate } from '../../src/infra/database/migrations/migrate.ts';
import { testDatabase } from '../setup/database.ts';
import { databaseProxy } from '../setup/database-proxy.ts';

// `npm run soak -- promotion` tests, with a real standby, that the writable host is found after a promotion.

const database = await testDatabase();
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
  // The pool may not have noticed yet that its connections were cut.
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

test('the hosts in an address are written as in libpq', () => {
  expect(serversOf('postgres://user:p%40ss@one:5433,two,[::1]:5434/payments?sslmode=verify-full')).toEqual([
    { host: 'one', port: 5433 },
    { host: 'two', port: 5432 },
    { host: '::1', port: 5434 },
  ]);
  expect(protectionOf('postgres://gateway@127.0.0.1,db.example/payments')).toBe('NONE');
  expect(protectionOf('postgres://gateway@127.0.0.1,[::1]/payments')).toBe('LOCAL');
});

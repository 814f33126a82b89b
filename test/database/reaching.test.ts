import { createServer } from 'node:net';
import { expect, inject, onTestFinished, test } from 'vitest';
import { OperatorError } from '../../src/infra/database/faults.ts';
import { readConfig } from '../../src/server/config.ts';
import { messageForUser } from '../../src/server/print-error.ts';
import { reachDatabase } from '../../src/server/start/reach-database.ts';
import { databaseProxy } from '../setup/database-proxy.ts';
import { query } from '../setup/embedded-servers.ts';
import { freePort, listen } from '../setup/free-port.ts';

const server = inject('server').url;
const withParts = (parts: Partial<URL>) => Object.assign(new URL(server), parts).href;

/** Starts a server that is not Postgres and closes each connection at the first byte. */
async function noPostgres(): Promise<string> {
  const other = createServer((socket) => socket.once('data', () => socket.destroy()));
  onTestFinished(() => void other.close());
  return withParts({ port: String(await listen(other)) });
}

async function refusedLogin(): Promise<string> {
  await query(server, `create role asleep nologin password 'asleep'`);
  onTestFinished(() => void query(server, 'drop role asleep'));
  return withParts({ username: 'asleep', password: 'asleep' });
}

test.each<[string, () => string | Promise<string>, RegExp]>([
  [
    'at a port where nothing is listening',
    async () => withParts({ port: String(await freePort()) }),
    /nothing answers .*ECONNREFUSED/,
  ],
  [
    'at a socket that does not exist',
    () => 'postgres://gateway@%2Fnone/payments',
    /nothing answers at \/none \(ENOENT\)/,
  ],
  ['on an unknown machine', () => withParts({ hostname: 'db.invalid' }), /the host name in db\.invalid/],
  ['that the server does not have', () => withParts({ pathname: '/not_there' }), /"not_there" does not exist.*3D000/],
  ['with a wrong password', () => withParts({ password: 'wrong' }), /28P01.* Correct the login or its password/],
  [
    'with a login that the server does not know',
    () => withParts({ username: 'stranger' }),
    /28P01.* Correct the login/,
  ],
  ['with a login that may not connect', refusedLogin, /28000.* Correct the login, or its entry in pg_hba\.conf/],
  ['over TLS, if the server does not support it', () => `${server}?sslmode=verify-full`, /does not support SSL/],
  ['at the address of a program other than Postgres', noPostgres, /nothing answers/],
])('a database %s is reported in one sentence that names its setting', async (_what, address, reason) => {
  const url = await address();
  const error = await reachDatabase(readConfig({ DATABASE_URL: url }), ['direct']).catch((caught: unknown) => caught);
  const words = messageForUser(error) ?? '';
  expect(words).toMatch(/^DATABASE_URL does not lead to a usable database: /);
  expect(words).toMatch(reason);
  expect(words.split('\n')).toHaveLength(1);
  expect(words).not.toContain(new URL(server).password);
});

test("for the owner's login, the server and its pooler, the error names the setting that is wrong", async () => {
  const away = withParts({ port: String(await freePort()) });
  const said = (environment: Readonly<Record<string, string>>) =>
    reachDatabase(readConfig(environment), ['owner', 'direct', 'pooled']).catch((error: Error) => error.message);
  expect(await said({ DATABASE_URL: server, DATABASE_OWNER_URL: away })).toMatch(/^DATABASE_OWNER_URL does not lead/);
  expect(await said({ DATABASE_URL: server, DATABASE_DIRECT_URL: away })).toMatch(/^DATABASE_DIRECT_URL does not lead/);
  expect(await said({ DATABASE_URL: away, DATABASE_DIRECT_URL: server })).toMatch(/^DATABASE_URL does not lead/);
  expect(await said({ DATABASE_URL: server })).toBeUndefined();
});

test('startup waits for a database that is itself starting, but not for one that will never respond', async () => {
  const proxy = await databaseProxy(server);
  onTestFinished(() => proxy.close());
  await proxy.stopListening();
  const lines: string[] = [];
  await reachDatabase(readConfig({ DATABASE_URL: proxy.url }), ['direct'], (line) => {
    lines.push(line);
    void proxy.startListening();
  });
  expect(lines).toEqual([expect.stringMatching(/ECONNREFUSED.* Trying again for 10 s\.$/)]);

  const wrong = reachDatabase(readConfig({ DATABASE_URL: withParts({ password: 'wrong' }) }), ['direct'], (line) =>
    lines.push(line),
  );
  await expect(wrong).rejects.toThrow(OperatorError);
  expect(lines).toHaveLength(1);
});

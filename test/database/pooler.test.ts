import { describe, expect, test } from 'vitest';
import { servingUrl } from '../../src/infra/database/embedded/serving-login.ts';
import { findPooler, prepareLogin } from '../../src/infra/database/pooler.ts';
import { ownDatabase, testDatabase } from '../setup/database.ts';
import { query } from '../setup/embedded-servers.ts';
import { ownGateway, type TestPlatform } from '../setup/gateway.ts';

// Here, an ordinary server stands in for a pooler. The soak test "pooler" uses a real one.

const database = await testDatabase();
const url = servingUrl(database.url);

test("a pooler whose sessions lack the login's settings is refused, with instructions", async () => {
  await expect(findPooler(url, url)).rejects.toThrow(
    /lack the settings role, search_path, .*statement_timeout.*Run "npm run migrate" with .*DATABASE_DIRECT_URL.*RECONNECT/,
  );
});

test('once the login has its settings, the pooler can be used, and writing them again does no harm', async () => {
  await prepareLogin(url, url);
  await prepareLogin(url, url);
  // On this server, prepared statements exist only in their own session, as behind a pooler that does not support them.
  expect(await findPooler(url, url)).toEqual({ url, prepares: false });
  const settings =
    "select current_user::text as role, current_setting('TimeZone') as zone, current_setting('statement_timeout') as statement, current_setting('search_path') as path, current_setting('jit') as jit";
  expect(await query(url, settings)).toEqual([
    { role: 'gateway_serving', zone: 'UTC', statement: '10s', path: 'serving, public', jit: 'off' },
  ]);
});

test('a session that the pooler opened before the settings existed is recognized, in any time zone', async () => {
  const before = `${url}?options=${encodeURIComponent('-c timezone=Asia/Karachi')}`;
  await expect(findPooler(before, url)).rejects.toThrow(/lack the settings timezone\. .*RECONNECT/);
});

test('two addresses with different databases or different logins are rejected', async () => {
  const other = await ownDatabase();
  await expect(findPooler(url, servingUrl(other.url))).rejects.toThrow('lead to different databases');
  await expect(prepareLogin(url, database.url)).rejects.toThrow(
    'DATABASE_URL has the login gateway and DATABASE_DIRECT_URL the login postgres',
  );
});

test('a login that can alter the tables gets no settings, because migrations may need it unchanged', async () => {
  await expect(prepareLogin(database.url, database.url)).rejects.toThrow('is a superuser');
});

describe.each([
  { prepares: false, how: 'without prepared statements' },
  { prepares: true, how: 'with prepared statements' },
])('on one connection for all requests, $how', ({ prepares }) => {
  const listed = (platform: TestPlatform) =>
    platform.ask('{ customers(first: 10) { edges { node { id transactions(first: 5) { edges { node { id } } } } } } }');

  test('platforms see only their own rows, and no session keeps the platform of an earlier request', async () => {
    const own = await ownDatabase();
    const address = servingUrl(own.url);
    await prepareLogin(address, address);
    const t = await ownGateway({ DATABASE_POOL: 1 }, own.url, { pooler: { url: address, prepares } });
    const platforms = [await t.newPlatform('one'), await t.newPlatform('two')];
    const scenes = await Promise.all(platforms.map((platform) => platform.makeScene()));
    const paid = await Promise.all(platforms.map((platform, at) => platform.pay(scenes[at] as never)));
    for (const [at, platform] of platforms.entries())
      expect((await platform.ended(paid[at].id)).status).toBe('COMPLETED');
    const second = { name: 'second', permissions: ['VIEW'], idempotencyKey: 'one-key' };
    for (const platform of platforms) await platform.succeed('createApiToken', second);
    // The two platforms take turns on the same connection, with many concurrent reads.
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, turn) => listed(platforms[turn % 2] as TestPlatform)),
    );
    for (const [turn, { customers }] of answers.entries()) {
      const nodes = customers.edges.map(({ node }: { node: { id: string; transactions: unknown } }) => node);
      expect(nodes).toEqual([
        { id: scenes[turn % 2]?.customerId, transactions: { edges: [{ node: { id: paid[turn % 2].id } }] } },
      ]);
    }
    const client = await t.gateway.serving.connectForFunctions();
    const { rows } = await client.query("select coalesce(current_setting('gateway.platform', true), '') as platform");
    const { rows: named } = await client.query('select name from pg_prepared_statements');
    client.release();
    expect(rows).toEqual([{ platform: '' }]);
    expect(named.length > 0).toBe(prepares);
  });
});

import { appendFile, chmod, chown, cp, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { basicAuthorization } from '../../src/access/tokens/basic-authorization.ts';
import { readConfig } from '../../src/config.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/database/embedded/embedded.ts';
import { makeServingLogin } from '../../src/database/embedded/serving-login.ts';
import { migrate } from '../../src/database/migrations/migrate.ts';
import { type Gateway, startGateway } from '../../src/gateway.ts';
import { audit } from '../../src/ledger/audit.ts';
import { createPlatform } from '../../src/payments/platforms/platforms.ts';
import { actOn, ended } from '../setup/acts.ts';
import { connect, type TestPlatform } from '../setup/gateway.ts';
import { makeScene } from '../setup/scene.ts';

// A primary with a standby by streaming replication. The gateway has the addresses of both, the standby's first.

let folder: string;
let first: EmbeddedPostgres;
let second: EmbeddedPostgres;
let standby: pg.Client;
let gateway: Gateway;
let platform: TestPlatform;
let url: string;

/** Copies a stopped server to another folder, where it follows the first one. */
async function makeStandby(of: EmbeddedPostgres, to: string): Promise<void> {
  await mkdir(path.dirname(to), { recursive: true });
  await cp(of.dataDirectory, to, { recursive: true });
  const { uid, gid } = await stat(path.join(of.dataDirectory, 'data'));
  const data = path.join(to, 'data');
  await rm(path.join(to, 'port'), { force: true });
  await writeFile(path.join(data, 'standby.signal'), '');
  await chmod(data, 0o700);
  for (const name of await readdir(to, { recursive: true })) await chown(path.join(to, name), uid, gid);
  await chown(to, uid, gid);
}

async function follow(data: string, primary: EmbeddedPostgres): Promise<void> {
  const { hostname, port, password } = new URL(primary.url);
  const conninfo = `host=${hostname} port=${port} user=postgres password=${password}`;
  await appendFile(path.join(data, 'data', 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`);
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'promotion-'));
  await chmod(folder, 0o711);
  const [one, two] = [path.join(folder, 'one'), path.join(folder, 'two')];
  first = await startEmbeddedPostgres({ dataDir: one });
  await migrate(first.url);
  await makeServingLogin(first.url);
  await first.stop();
  const location = first.dataDirectory;
  const copy = path.join(two, path.relative(one, location));
  await makeStandby(first, copy);
  first = await startEmbeddedPostgres({ dataDir: one });
  await follow(copy, first);
  second = await startEmbeddedPostgres({ dataDir: two });
  standby = new pg.Client({ connectionString: second.url });
  await standby.connect();
  expect((await standby.query('select pg_is_in_recovery() as follows')).rows).toEqual([{ follows: true }]);
  const { host } = new URL(second.url);
  url = first.url.replace('//postgres:', '//gateway:').replace('@', `@${host},`);
  const config = readConfig({ NODE_ENV: 'test', PORT: '0', SANDBOX_PACE_MS: '20', LOG_LEVEL: 'silent' });
  gateway = await startGateway({ databaseUrl: url, config, log: pino({ level: 'silent' }) });
  const made = await createPlatform(gateway.payments, { name: 'moved', environment: 'SANDBOX' });
  platform = connect(gateway.url ?? '', made.platformId, basicAuthorization(made));
});
afterAll(async () => {
  await gateway?.stop();
  await standby?.end();
  await second?.stop();
  await first?.stop();
  await rm(folder, { recursive: true, force: true });
});

const pay = async (scene: Awaited<ReturnType<typeof makeScene>>) => {
  const input = { sourceAccountId: scene.usd, destinationAccountId: scene.outsideUsd, amount: 1_000 };
  const { transaction } = await actOn(platform, 'transferOut', input);
  return (await ended(platform, transaction.id)).status;
};

test('of two servers the one that can be written is used, and after a promotion the other one; nothing is lost', async () => {
  const scene = await makeScene(platform, 50_000n);
  expect(await pay(scene)).toBe('COMPLETED');
  const ready = await fetch(`${gateway.url}/health/ready`);
  expect(await ready.json()).toMatchObject({ writable: true });

  const began = performance.now();
  await first.stop();
  await standby.query('select pg_promote()');
  await vi.waitFor(async () => expect(await pay(scene)).toBe('COMPLETED'), { timeout: 60_000, interval: 100 });
  const seconds = (performance.now() - began) / 1_000;
  console.log({ backAfterSeconds: Math.round(seconds * 10) / 10 });
  expect(seconds).toBeLessThan(20);
  await vi.waitFor(async () => expect((await fetch(`${gateway.url}/health/ready`)).status).toBe(200), 10_000);
  expect(await audit({ url })).toEqual([]);
  expect((await standby.query('select count(*)::int as count from platform')).rows).toEqual([{ count: 1 }]);
  // The standby may have lacked the last transactions: the feed has begun a new epoch, which an operator has yet to mark.
  const epochs = 'select epoch, marked_at is not null as marked from feed_epoch order by id';
  expect((await standby.query(epochs)).rows).toEqual([
    { epoch: null, marked: true },
    { epoch: expect.any(Number), marked: false },
  ]);
});

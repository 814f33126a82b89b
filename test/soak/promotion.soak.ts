import { pino } from 'pino';
import { afterAll, expect, test, vi } from 'vitest';
import { basicAuthorization } from '../../src/domain/access/tokens/credentials.ts';
import { audit } from '../../src/domain/ledger/audit.ts';
import { createPlatform } from '../../src/domain/platforms/platforms.ts';
import { readConfig } from '../../src/server/config.ts';
import { startGateway } from '../../src/server/gateway.ts';
import { secretKey } from '../setup/cursors.ts';
import { connect, openClient } from '../setup/gateway.ts';
import type { Scene } from '../setup/scene.ts';
import { startReplicated } from '../setup/standby.ts';

// A primary, and a standby that follows it through streaming replication. The gateway has the URLs of both, the
// standby's first.

const servers = await startReplicated(1);
const { primary, standbys } = servers;
const [{ server: second } = expect.fail()] = standbys;
const standby = await openClient(second.url);
expect((await standby.query('select pg_is_in_recovery() as follows')).rows).toEqual([{ follows: true }]);
const { host } = new URL(second.url);
const url = primary.url.replace('//postgres:', '//gateway:').replace('@', `@${host},`);
const settings = { NODE_ENV: 'test', PORT: '0', SANDBOX_PACE_MS: '20', LOG_LEVEL: 'silent', SECRET_KEY: secretKey };
const config = readConfig(settings);
const gateway = await startGateway({ databaseUrl: url, config, log: pino({ level: 'silent' }) });
const made = await createPlatform(gateway.payments, { name: 'moved', environment: 'SANDBOX' });
const platform = connect(gateway.url ?? '', made.platformId, basicAuthorization(made));
afterAll(async () => {
  await gateway.stop();
  await standby.end();
  await servers.stop();
});

const pay = async (scene: Scene) => {
  const { id } = await platform.transfer('transferOut', scene, 1_000);
  return (await platform.ended(id)).status;
};

test('the gateway uses the writable server, even after a promotion, and nothing is lost', async () => {
  const scene = await platform.makeScene(50_000n);
  expect(await pay(scene)).toBe('COMPLETED');
  const ready = await fetch(`${gateway.url}/health/ready`);
  expect(await ready.json()).toMatchObject({ writable: true });

  const began = performance.now();
  await servers.primary.stop();
  await standby.query('select pg_promote()');
  await vi.waitFor(async () => expect(await pay(scene)).toBe('COMPLETED'), { timeout: 60_000, interval: 100 });
  const seconds = (performance.now() - began) / 1_000;
  console.log({ backAfterSeconds: Math.round(seconds * 10) / 10 });
  expect(seconds).toBeLessThan(20);
  await vi.waitFor(async () => expect((await fetch(`${gateway.url}/health/ready`)).status).toBe(200), 60_000);
  expect(await audit({ url })).toEqual([]);
  expect((await standby.query('select count(*)::int as count from platform')).rows).toEqual([{ count: 1 }]);
  // The standby may lack the last transactions, so the feed has begun a new epoch, which has not been confirmed yet.
  const epochs = 'select epoch, marked_at is not null as marked from feed_epoch order by id';
  expect((await standby.query(epochs)).rows).toEqual([
    { epoch: null, marked: true },
    { epoch: expect.any(Number), marked: false },
  ]);
});

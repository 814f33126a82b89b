import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { servingUrl } from '../../src/infra/database/embedded/serving-login.ts';
import { findPooler, prepareLogin } from '../../src/infra/database/pooler.ts';
import { survive } from '../faults/survive.ts';
import { freshDatabase } from '../setup/database.ts';
import { ownClient, startTestGateway, type TestPlatform } from '../setup/gateway.ts';
import { pgBouncerVersion, startPgBouncer } from '../setup/pgbouncer.ts';
import type { Scene } from '../setup/scene.ts';

// Uses a real PgBouncer in transaction mode: the installed `pgbouncer`, or the one at PGBOUNCER_PATH.

const version = pgBouncerVersion();
if (version === undefined) console.log('skipped: PgBouncer is neither installed nor named by PGBOUNCER_PATH');
else console.log({ pgbouncer: version });
const here = test.runIf(version !== undefined);

const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
/** Whether the installed version supports prepared statements by default, as versions since 1.24 do. */
const prepares = major > 1 || minor >= 24;

/** The number of rounds for each of the four callers. Every round reads; every fourth round first makes a payment. */
const rounds = Number(process.env.POOLER_ROUNDS ?? 200);
const kills = Number(process.env.POOLER_KILLS ?? 20);
const seed = Number(process.env.FAULT_SEED ?? randomInt(1_000_000));

here("two instances share one session of the server, and no platform sees another platform's rows", async () => {
  const database = await freshDatabase();
  const url = servingUrl(database.url);
  const bouncer = await startPgBouncer(database.url, 1);
  const pooledUrl = servingUrl(bouncer.url);
  await expect(findPooler(pooledUrl, url)).rejects.toThrow('lack the settings role');
  await prepareLogin(pooledUrl, url);
  // This has the same effect as an operator's RECONNECT.
  await bouncer.kill();
  await bouncer.start();
  const pooler = await findPooler(pooledUrl, url);
  expect(pooler.prepares).toBe(prepares);

  const instances = [
    await startTestGateway({}, database.url, { pooler }),
    await startTestGateway({}, database.url, { pooler }),
  ];
  const callers: { platform: TestPlatform; scene: Scene; paid: string[] }[] = [];
  for (const [at, instance] of [...instances, ...instances].entries()) {
    const platform = await instance.newPlatform(`platform ${at}`);
    callers.push({ platform, scene: await platform.makeScene(), paid: [] });
  }
  const session = await ownClient(pooledUrl);
  await Promise.all(
    callers.map(async ({ platform, scene, paid }) => {
      for (let round = 0; round < rounds; round += 1) {
        if (round % 4 === 0) paid.push((await platform.pay(scene)).id);
        const { customers, transactions } = await platform.ask(
          '{ customers(first: 10) { edges { node { id } } } transactions(first: 100) { edges { node { id } } } }',
        );
        expect(customers.edges).toEqual([{ node: { id: scene.customerId } }]);
        const ids: string[] = transactions.edges.map(({ node }: { node: { id: string } }) => node.id);
        expect(ids.toSorted()).toEqual(paid.toSorted().slice(-100));
        const left = "select coalesce(current_setting('gateway.platform', true), '') as platform";
        expect((await session.query(left)).rows).toEqual([{ platform: '' }]);
      }
      for (const id of paid) expect((await platform.ended(id)).status).toBe('COMPLETED');
    }),
  );
  for (const instance of instances) await instance.stop();
  await bouncer.stop();
  await database.drop();
});

here('kills of the pooler and of the instances lose and duplicate nothing', { timeout: 3_600_000 }, () =>
  survive({
    seed,
    instances: 2,
    clients: 8,
    followers: 4,
    commandsBetween: 20,
    poolerSize: 4,
    faults: {
      'kill -9 of the connection pooler': kills,
      'kill -9 of an instance': kills,
      'immediate stop of Postgres': Math.ceil(kills / 10),
    },
  }),
);

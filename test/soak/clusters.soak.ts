import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { expect, test } from 'vitest';
import type { ThrowawayDatabase } from '../../src/database/migrations/throwaway.ts';
import { audit } from '../../src/ledger/audit.ts';
import { compareWith } from '../../src/payments/clusters/compare.ts';
import { type CallFault, type CallProxy, startCallProxy } from '../clusters/call-proxy.ts';
import { type CrossPayment, startCrossLoad } from '../clusters/cross-load.ts';
import { type Instance, startInstance } from '../faults/instances.ts';
import { startLoad } from '../faults/load.ts';
import { Random } from '../faults/random.ts';
import { freshDatabase } from '../setup/database.ts';
import { connect, startTestGateway } from '../setup/gateway.ts';
import { makeScene, type Scene } from '../setup/scene.ts';
import { clusterKey, directoryFile, startTestFront } from '../setup/two-clusters.ts';

// Two clusters, each two instances on a database of its own, behind a front, while clients move money within and across them.
// Instances of either are killed and come back at other addresses, and the way between the clusters is cut, loses answers and
// doubles calls. In the end nothing is lost or doubled, both ledgers are sound, and what one owes is what the other expects.
// CLUSTER_KILLS sets how many instances are killed.

const kills = Number(process.env.CLUSTER_KILLS ?? 20);
const seed = Number(process.env.FAULT_SEED ?? randomInt(1_000_000));
const names = ['north', 'south'] as const;
type Name = (typeof names)[number];

const settings = {
  SANDBOX_PACE_MS: '20',
  SECRET_KEY: randomBytes(32).toString('base64'),
  SANDBOX_QUOTE_SECONDS: '7200',
  PAYMENT_APPROVAL_MS: '60000',
  LOG_LEVEL: 'silent',
  CLUSTER_KEY: clusterKey,
};

interface Running {
  readonly name: Name;
  readonly database: ThrowawayDatabase;
  readonly pool: pg.Pool;
  readonly instances: Instance[];
  /** The way of the other cluster to this one. */
  readonly way: CallProxy;
  readonly scenes: readonly Scene[];
  readonly platformId: string;
  readonly authorization: string;
}

test('two clusters, killed and cut: nothing lost, nothing doubled', { timeout: 1_800_000 }, async () => {
  const random = new Random(seed);
  const running = new Map<Name, Running>();
  const addressesOf = (name: Name) => running.get(name)?.instances.map(({ url }) => url) ?? [];
  const directoryOf = (urlsOf: (name: Name) => readonly string[]) => ({
    clusters: Object.fromEntries(
      names.map((name) => [name, { instances: urlsOf(name), domains: [`${name}.uma.money`] }]),
    ),
    default: 'north',
  });
  const nowhere = () => ['http://127.0.0.1:9'];
  const between = directoryFile(directoryOf(nowhere));
  const ofFront = directoryFile(directoryOf(nowhere));
  const ways = new Map<Name, CallProxy>();
  for (const name of names) {
    ways.set(name, await startCallProxy(() => random.oneOf(addressesOf(name))));
  }
  between.write(directoryOf((name) => [ways.get(name)?.url ?? '']));
  for (const name of names) running.set(name, await begin(name, between.path, ways.get(name) as CallProxy));
  ofFront.write(directoryOf(addressesOf));
  const front = await startTestFront(ofFront.path);
  const all = [...running.values()];

  const [north, south] = all.map(({ platformId, authorization, scenes }) => ({
    platform: connect(front.url, platformId, authorization),
    scenes,
  }));
  if (!north || !south) throw new Error('there are two clusters');
  const [one, two] = [north.scenes, south.scenes].map((scenes) => scenes as readonly [Scene, Scene]);
  const cross = startCrossLoad(
    [0, 1].flatMap((index) => [
      { from: north.platform, payer: one?.[index] as Scene, to: south.platform, payee: two?.[index] as Scene },
      { from: south.platform, payer: two?.[index] as Scene, to: north.platform, payee: one?.[index] as Scene },
    ]),
    seed,
  );
  let during = 'nothing';
  const loads = all.map(({ authorization, scenes }, index) =>
    startLoad({ urls: () => [front.url], authorization, scenes, seed: seed + index, during: () => during }),
  );

  const began = performance.now();
  for (let kill = 0; kill < kills; kill += 1) {
    const { instances, way, name } = random.oneOf(all);
    const fault = random.oneOf<CallFault>(['none', 'is-down', 'loses-answers', 'doubles']);
    during = `a kill in ${name}, and a way with the fault ${fault}`;
    way.fault = fault;
    const victim = random.oneOf(instances);
    await victim.kill();
    await Promise.all(loads.map((load) => load.more(5)));
    await victim.start();
    ofFront.write(directoryOf(addressesOf));
    front.directory.reload();
    await Promise.all(loads.map((load) => load.more(5)));
    way.fault = 'none';
  }
  during = 'the end';
  const seconds = Math.round((performance.now() - began) / 1_000);
  await Promise.all([...loads.map((load) => load.stop()), cross.stopPaying()]);
  for (const { pool } of all) await atRest(pool);
  await cross.stop();

  const histories = loads.map(({ history }) => history);
  console.log(
    `${kills} kills in ${seconds} s: ${histories.flat().length} commands within, ${cross.payments.length} payments across, ${cross.troubles} attempts disturbed (seed ${seed})`,
  );
  for (const [index, { pool }] of all.entries()) {
    const counts = await countsByDescription(pool);
    const made = histories[index]?.filter(({ operation }) => operation !== 'executeQuote') ?? [];
    expect(made.filter(({ key, outcome }) => outcome === 'succeeded' && counts.get(key) !== 1)).toEqual([]);
    expect(made.filter(({ key, outcome }) => outcome === 'refused' && counts.has(key))).toEqual([]);
    expect([...counts].filter(([, count]) => count > 1)).toEqual([]);
  }
  await checkAcross(all, cross.payments);
  for (const { instances, database, pool } of all) {
    expect(await audit({ url: database.url })).toEqual([]);
    await Promise.all(instances.map((instance) => instance.stop()));
    await pool.end();
  }
  await front.stop();
  await Promise.all([...ways.values()].map((way) => way.close()));
  for (const { database } of all) await database.drop();
  for (const file of [between, ofFront]) file.remove();
});

/** Makes a cluster: its database, its platform with two customers, and two instances. */
async function begin(name: Name, directory: string, way: CallProxy): Promise<Running> {
  const database = await freshDatabase();
  const furnishing = await startTestGateway(
    { ROLE: 'serve', CLUSTER: name, CLUSTER_DIRECTORY: directory, CLUSTER_KEY: clusterKey },
    database.url,
  );
  const platform = await furnishing.newPlatform(name);
  const scenes = [await makeScene(platform, 10_000_000_000n), await makeScene(platform, 10_000_000_000n)];
  await furnishing.stop();
  const environment = { ...settings, CLUSTER: name, CLUSTER_DIRECTORY: directory };
  const instances = [await startInstance(database.url, environment), await startInstance(database.url, environment)];
  const { platformId, authorization } = platform;
  const pool = new pg.Pool({ connectionString: database.url, max: 2 });
  return { name, database, pool, instances, way, scenes, platformId, authorization };
}

/** Waits until no order is under way and every event has its number. */
async function atRest(pool: pg.Pool): Promise<void> {
  for (;;) {
    const { rows } = await pool.query(
      'select ((select count(*) from outbox) + (select count(*) from rail_order where due_at is not null))::int as waiting',
    );
    if (rows[0].waiting === 0) return;
    await delay(200);
  }
}

async function countsByDescription(pool: pg.Pool): Promise<Map<string, number>> {
  const { rows } = await pool.query(
    "select description, count(*)::int as count from transaction where description is not null and type = 'OUTGOING' group by 1 union all select description, count(*)::int from transaction where description is not null and type = 'INCOMING' and source_kind = 'ACCOUNT' group by 1",
  );
  return new Map(rows.map(({ description, count }) => [description, count]));
}

interface Side {
  readonly status: string;
  readonly amount: string;
  readonly transaction_id: string;
}

/** Proves that each payment across has happened on both sides alike, or on neither, and that both books say the same. */
async function checkAcross(all: readonly Running[], payments: readonly CrossPayment[]): Promise<void> {
  const sides = async (direction: string) => {
    const found = new Map<string, Side>();
    for (const { pool } of all) {
      const { rows } = await pool.query(
        `select o.order_id, coalesce(t.status::text, 'REFUSED') as status, t.received_amount::text as amount, t.id as transaction_id
         from cluster_order o left join transaction t on t.platform_id = o.platform_id and t.id = o.transaction_id
         where o.direction = $1`,
        [direction],
      );
      for (const { order_id: id, ...side } of rows) found.set(id, side);
    }
    return found;
  };
  const [sent, received] = [await sides('SENT'), await sides('RECEIVED')];
  const isSettled = (side: Side | undefined) => side?.status === 'COMPLETED';
  const differing = [...new Set([...sent.keys(), ...received.keys()])].filter((id) => {
    const [here, there] = [sent.get(id), received.get(id)];
    return isSettled(here) !== isSettled(there) || (isSettled(here) && here?.amount !== there?.amount);
  });
  expect(differing).toEqual([]);
  const known = new Set([...sent.values()].map(({ transaction_id: id }) => `Transaction:${id}`));
  expect(payments.filter(({ transactionId }) => !known.has(transactionId))).toEqual([]);
  const settled = [...sent.values()].filter(isSettled).length;
  console.log(`${settled} of ${sent.size} payments across arrived, the others are back`);
  expect(settled).toBeGreaterThan(0);
  for (const [index, { name, database, way }] of all.entries()) {
    const other = names[1 - index] as Name;
    const file = directoryFile({
      clusters: { [name]: { instances: [way.url] }, [other]: { instances: [all[1 - index]?.way.url ?? ''] } },
      default: name,
    });
    const asking = await startTestGateway(
      { ROLE: 'serve', CLUSTER: name, CLUSTER_DIRECTORY: file.path, CLUSTER_KEY: clusterKey },
      database.url,
    );
    const { debts, differences, underWay } = await compareWith(asking.gateway.payments, other);
    await asking.stop();
    file.remove();
    console.log(`${name}:`, debts);
    expect({ differences, underWay }).toEqual({ differences: [], underWay: 0 });
    for (const { owedToThem, theyExpect, owedToUs, theyOwe } of debts) {
      expect([owedToThem, owedToUs]).toEqual([theyExpect, theyOwe]);
    }
  }
}

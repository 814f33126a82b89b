import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { type ChildGateway, startChildGateway } from '../setup/child-gateway.ts';
import { databaseProxy } from '../setup/database-proxy.ts';
import { freePort } from '../setup/free-port.ts';
import { connect, type Data, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { base } from '../setup/rest.ts';
import { startReplicated } from '../setup/standby.ts';

// Two instances in separate processes use a primary and two standbys. The standbys are paused, delayed and cut off at
// random. Each worker repeatedly writes to one of the instances and then reads from either, over both APIs. Every read
// must return the worker's own last write.

const reads = Number(process.env.REPLICA_READS ?? 1_000_000);
const workers = 64;
const readsPerWrite = 9;
const progressReads = 100_000;
const timeout = 10_800_000;

const servers = await startReplicated(2);
const disturbed = await Promise.all(
  servers.standbys.map(async (standby) => ({ standby, proxy: await databaseProxy(standby.url) })),
);
type Disturbed = (typeof disturbed)[number];
afterAll(async () => {
  for (const { proxy } of disturbed) await proxy.close();
  await servers.stop();
});
/** The gateway that does the background work. */
const worker = await testGateway({ ROLE: 'work' }, servers.primary.url);
const metricsPorts = [await freePort(), await freePort()];
const gateways: ChildGateway[] = [];
for (const port of metricsPorts) {
  const settings = {
    ...{ DATABASE_URL: servers.primary.url, DATABASE_READ_URL: disturbed.map(({ proxy }) => proxy.url).join(';') },
    // While responses are slow, the limit is only an eighth of MAX_IN_FLIGHT: one request per worker.
    ...{ ROLE: 'serve', METRICS_PORT: String(port), MAX_IN_FLIGHT: String(8 * workers) },
  };
  gateways.push(await startChildGateway(settings));
}
const { platformId, authorization } = await worker.newPlatform('reader');
const platforms = gateways.map(({ url }) => connect(url, platformId, authorization));
afterAll(async () => {
  for (const gateway of gateways) await gateway.end('SIGTERM');
});

const anyOf = <Item>(items: readonly Item[]): Item =>
  items[Math.floor(Math.random() * items.length)] ?? expect.fail('the list is empty');

/** Different ways to read a customer. Each returns the customer's metadata value. */
const ways: readonly ((platform: TestPlatform, id: string) => Promise<string>)[] = [
  async (platform, id) => (await platform.fieldsOf('customer', id, 'metadata { value }')).metadata[0].value,
  async (platform, id) => {
    const lists = 'customers(first: 20) { edges { node { id metadata { value } } } }';
    const nodes = 'nodes(ids: [$id]) { ... on Customer { metadata { value } } }';
    return (await platform.ask(`query ($id: ID!) { ${nodes} ${lists} }`, { id })).nodes[0].metadata[0].value;
  },
  async (platform, id) => (await readOverRest(platform, `/customers/${id}`)).metadata.n,
  async (platform, id) => {
    const { data } = await readOverRest(platform, '/customers?limit=100');
    return data.find((customer: Data) => customer.id === id)?.metadata.n ?? 'missing';
  },
];

async function readOverRest({ url, authorization }: TestPlatform, path: string): Promise<Data> {
  return (await fetch(`${url}${base}${path}`, { headers: { authorization } })).json();
}

/** Makes the standbys fall behind and cuts them off, until `isOver`. Returns how often it performed each act. */
async function disturb(isOver: () => boolean): Promise<Record<string, number>> {
  const acts = {
    async pause({ standby }: Disturbed) {
      await standby.pause();
      await delay(Math.random() * 3_000);
      await standby.resume();
    },
    async delay({ standby }: Disturbed) {
      await standby.delay(Math.random() * 200);
      await delay(Math.random() * 3_000);
      await standby.delay(0);
    },
    async cut({ proxy }: Disturbed) {
      await proxy.stopListening();
      await delay(Math.random() * 1_000);
      await proxy.startListening();
    },
    freeze: async ({ proxy }: Disturbed) => proxy.freeze(),
  };
  const done = { pause: 0, delay: 0, cut: 0, freeze: 0 };
  while (!isOver()) {
    const act = anyOf(['pause', 'delay', 'delay', 'cut', 'freeze'] as const);
    done[act] += 1;
    await acts[act](anyOf(disturbed));
    await delay(Math.random() * 2_000);
  }
  return done;
}

const secondsSince = (began: number) => Math.round((performance.now() - began) / 1_000);

test(`${reads} reads after writes never return older data, even while replicas lag and fail`, { timeout }, async () => {
  let left = reads;
  let writes = 0;
  const stale: object[] = [];
  const began = performance.now();
  const disturbing = disturb(() => left <= 0);
  const customers: string[] = [];
  for (let count = 0; count < workers; count += 1) customers.push(await anyOf(platforms).newCustomer());
  await Promise.all(
    customers.map(async (id) => {
      for (let value = 1; left > 0; value += 1) {
        writes += 1;
        const input = { customerId: id, metadata: [{ key: 'n', value: String(value) }] };
        await anyOf(platforms).succeed('updateCustomer', input);
        for (let count = 0; count < readsPerWrite && left > 0; count += 1) {
          left -= 1;
          if (left % progressReads === 0) console.log({ left, stale: stale.length, seconds: secondsSince(began) });
          const [platform, way] = [anyOf(platforms), anyOf(ways)];
          const shown = await way(platform, id);
          if (shown !== String(value)) stale.push({ id, instance: platform.url, way: ways.indexOf(way), value, shown });
        }
      }
    }),
  );
  console.log({ reads, writes, seconds: secondsSince(began), disturbances: await disturbing, stale: stale.length });
  for (const port of metricsPorts) {
    const figures = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    console.log(figures.match(/^payments_(reads|replica_fallbacks)_total.*/gm)?.join('\n'));
  }
  expect(stale).toEqual([]);
});

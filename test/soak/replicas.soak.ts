import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { succeed } from '../setup/acts.ts';
import { type ChildGateway, startChildGateway } from '../setup/child-gateway.ts';
import { databaseProxy } from '../setup/database-proxy.ts';
import { freePort } from '../setup/free-port.ts';
import { connect, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { base } from '../setup/rest.ts';
import { newCustomer } from '../setup/scene.ts';
import { startReplicated } from '../setup/standby.ts';

// Two instances in separate processes, with a primary and two standbys, which fall behind, are paused and are cut off
// at random. Each reader writes on one instance and reads on either, over both APIs. It must read at least its own last
// write, or a write that another reader has handed over to it.

const reads = Number(process.env.REPLICA_READS ?? 1_000_000);
const workers = 64;
const readsPerWrite = 9;
const progressReads = 100_000;
const timeout = 10_800_000;

const servers = await startReplicated(2);
const proxies = await Promise.all(servers.standbys.map(({ url }) => databaseProxy(url)));
afterAll(async () => {
  for (const proxy of proxies) await proxy.close();
  await servers.stop();
});
/** The gateway that does the background work. */
const worker = await testGateway({ ROLE: 'work' }, servers.primary.url);
const metricsPorts = [await freePort(), await freePort()];
const gateways: ChildGateway[] = [];
for (const port of metricsPorts) {
  const settings = {
    ...{ DATABASE_URL: servers.primary.url, DATABASE_READ_URL: proxies.map(({ url }) => url).join(';') },
    // While answers are slow, only an eighth of the places is available, which is still one for each reader.
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

/** The ways to read a customer: each returns the metadata value in the response. */
const ways: readonly ((platform: TestPlatform, url: string, id: string) => Promise<string>)[] = [
  async (platform, _url, id) =>
    (await platform.ask('query ($id: ID!) { node(id: $id) { ... on Customer { metadata { value } } } }', { id })).node
      .metadata[0].value,
  async (platform, _url, id) =>
    (
      await platform.ask(
        'query ($id: ID!) { nodes(ids: [$id]) { ... on Customer { metadata { value } } } customers(first: 20) { edges { node { id metadata { value } } } } }',
        { id },
      )
    ).nodes[0].metadata[0].value,
  async ({ authorization }, url, id) => {
    const response = await fetch(`${url}${base}/customers/${id}`, { headers: { authorization } });
    return ((await response.json()) as { metadata: { n: string } }).metadata.n;
  },
  async ({ authorization }, url, id) => {
    const response = await fetch(`${url}${base}/customers?limit=100`, { headers: { authorization } });
    const { data } = (await response.json()) as { data: { id: string; metadata: { n: string } }[] };
    return data.find((customer) => customer.id === id)?.metadata.n ?? 'missing';
  },
];

/** Makes the standbys fall behind and cuts them off, until `isOver`. Returns what it has done. */
async function disturb(isOver: () => boolean): Promise<Record<string, number>> {
  const done = { paused: 0, delayed: 0, cut: 0, frozen: 0 };
  while (!isOver()) {
    const at = Math.floor(Math.random() * servers.standbys.length);
    const [standby, proxy] = [servers.standbys[at], proxies[at]];
    if (!standby || !proxy) continue;
    switch (anyOf(['paused', 'delayed', 'delayed', 'cut', 'frozen'] as const)) {
      case 'paused':
        done.paused += 1;
        await standby.pause();
        await delay(Math.random() * 3_000);
        await standby.resume();
        break;
      case 'delayed':
        done.delayed += 1;
        await standby.delay(Math.random() * 200);
        await delay(Math.random() * 3_000);
        await standby.delay(0);
        break;
      case 'cut':
        done.cut += 1;
        await proxy.stopListening();
        await delay(Math.random() * 1_000);
        await proxy.startListening();
        break;
      case 'frozen':
        done.frozen += 1;
        proxy.freeze();
        break;
    }
    await delay(Math.random() * 2_000);
  }
  return done;
}

const secondsSince = (began: number) => Math.round((performance.now() - began) / 1_000);

async function figuresOf(): Promise<string[]> {
  const texts = await Promise.all(
    metricsPorts.map(async (port) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()),
  );
  return texts.flatMap((text) =>
    text.split('\n').filter((line) => /^payments_(reads|replica_fallbacks)_total/.test(line)),
  );
}

test(`${reads} reads after writes never return older data, while replicas lag and are lost`, { timeout }, async () => {
  let left = reads;
  let writes = 0;
  const stale: object[] = [];
  const began = performance.now();
  const disturbing = disturb(() => left <= 0);
  const customers: string[] = [];
  for (let count = 0; count < workers; count += 1) customers.push(await newCustomer(platforms[0] ?? expect.fail()));
  await Promise.all(
    customers.map(async (id) => {
      for (let value = 1; left > 0; value += 1) {
        writes += 1;
        const input = { customerId: id, metadata: [{ key: 'n', value: String(value) }] };
        await succeed(anyOf(platforms), 'updateCustomer', input);
        for (let count = 0; count < readsPerWrite && left > 0; count += 1) {
          left -= 1;
          if (left % progressReads === 0) console.log({ left, stale: stale.length, seconds: secondsSince(began) });
          const instance = Math.floor(Math.random() * platforms.length);
          const way = Math.floor(Math.random() * ways.length);
          const shown = await ways[way]?.(platforms[instance] ?? expect.fail(), gateways[instance]?.url ?? '', id);
          if (shown !== String(value)) stale.push({ id, instance, way, value, shown });
        }
      }
    }),
  );
  console.log({ reads, writes, seconds: secondsSince(began), disturbed: await disturbing, stale: stale.length });
  console.log((await figuresOf()).join('\n'));
  expect(stale).toEqual([]);
});

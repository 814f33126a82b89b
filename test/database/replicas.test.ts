import { afterAll, describe, expect, test, vi } from 'vitest';
import { PrimaryPosition } from '../../src/infra/database/replicas/primary-position.ts';
import { databaseProxy } from '../setup/database-proxy.ts';
import { connect, startTestGateway, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { runOps } from '../setup/ops.ts';
import { base } from '../setup/rest.ts';
import { startReplicated } from '../setup/standby.ts';

// Two instances on a primary with a streaming replica, which serves reads.

const servers = await startReplicated(1);
const [standby = expect.fail()] = servers.standbys;
const proxy = await databaseProxy(standby.url);
afterAll(async () => {
  await proxy.close();
  await servers.stop();
});
const start = () =>
  testGateway(
    {
      DATABASE_READ_URL: [proxy.url],
      METRICS_PORT: 0,
      PUBLIC_CONTRACT: true,
    },
    servers.primary.url,
    { pace: { replicas: { everyMs: 50 } } },
  );
const [one, two] = [await start(), await start()];
const atOne = await one.newPlatform('reader');
const atTwo = connect(two.url, atOne.platformId, atOne.authorization);
const customerId = await atOne.newCustomer();

/** Returns how many reads the replica and the primary have served for both instances, which share this process. */
async function answered(): Promise<Readonly<Record<'replica' | 'primary', number>>> {
  const text = await (await fetch(`${one.gateway.metricsUrl}/metrics`)).text();
  const of = (where: string) =>
    Number(new RegExp(`^payments_reads_total\\{where="${where}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  return { replica: of('replica'), primary: of('primary') };
}

/** Runs `work`, and returns how many reads the replica and the primary served while it ran. */
async function readsOf(work: () => Promise<unknown>) {
  const before = await answered();
  await work();
  const after = await answered();
  return { replica: after.replica - before.replica, primary: after.primary - before.primary };
}

let writes = 0;

/** Changes the customer. Returns the value that reads must return from now on. */
async function write(platform: TestPlatform): Promise<string> {
  writes += 1;
  const value = String(writes);
  await platform.succeed('updateCustomer', { customerId, metadata: [{ key: 'n', value }] });
  return value;
}

const byNode = 'query ($id: ID!) { node(id: $id) { ... on Customer { metadata { value } } } }';
const byList = '{ customers(first: 1) { edges { node { metadata { value } } } } }';
/** This query's first field is resolved in JavaScript, so graphql-js executes the query. */
const beside = 'query ($id: ID!) { viewer { feedCursor } node(id: $id) { ... on Customer { metadata { value } } } }';

const rest = async ({ url, authorization }: TestPlatform, path: string) => {
  const response = await fetch(`${url}${base}${path}`, { headers: { authorization } });
  expect(response.status).toBe(200);
  return response.json() as Promise<{ metadata: { n: string }; data: { metadata: { n: string } }[] }>;
};

/** All ways to read the customer. Each function returns the metadata value in the response. */
const reads: Readonly<Record<string, (platform: TestPlatform) => Promise<string>>> = {
  node: async (platform) => (await platform.ask(byNode, { id: customerId })).node.metadata[0].value,
  list: async (platform) => (await platform.ask(byList)).customers.edges[0].node.metadata[0].value,
  'beside JavaScript': async (platform) => (await platform.ask(beside, { id: customerId })).node.metadata[0].value,
  'REST, one': async (platform) => (await rest(platform, `/customers/${customerId}`)).metadata.n,
  'REST, list': async (platform) => (await rest(platform, '/customers?limit=1')).data[0]?.metadata.n ?? '',
};

/** Waits until the replica serves a read of the customer. */
const caughtUp = () =>
  vi.waitFor(async () => {
    const places = await readsOf(() => atOne.ask(byNode, { id: customerId }));
    expect(places).toEqual({ replica: 1, primary: 0 });
  }, 60_000);

/** Waits until both instances consider the replica to be in the given state. */
const seen = (state: { readonly isUsable: boolean; readonly keepsUp: boolean }) =>
  vi.waitFor(() => {
    for (const { gateway } of [one, two]) {
      const [replica = expect.fail()] = gateway.replicas?.all ?? [];
      expect({ isUsable: replica.isUsable, keepsUp: replica.keepsUp }).toEqual(state);
    }
  }, 60_000);

test('on a standby, an operator command that only the primary can run fails with a one-sentence error', async () => {
  const { code, err } = await runOps(servers.standbys[0]?.server.url, ['audit']);
  expect([code, err]).toEqual([1, 'The database cannot be used: recovery is in progress.']);
});

test('both APIs read nodes and lists from the replica, but run commands and read their results on the primary', async () => {
  await caughtUp();
  await write(atOne);
  for (const read of Object.values(reads))
    await vi.waitFor(async () => expect((await readsOf(() => read(atTwo))).replica).toBeGreaterThan(0), 60_000);
  const below = 'customer { id metadata { value } internalAccounts: accounts(first: 1) { edges { node { id } } } }';
  const input = { customerId, metadata: [{ key: 'n', value: 'below' }] };
  expect(await readsOf(() => atOne.succeed('updateCustomer', input, below))).toMatchObject({ replica: 0 });
});

describe.each(Object.keys(reads))('%s', (name) => {
  const read = reads[name] ?? expect.fail();

  test('never returns data older than a write, on any instance, while the replica falls behind and catches up', async () => {
    await caughtUp();
    for (let round = 0; round < 20; round += 1) {
      if (round === 5) await standby.pause();
      if (round === 10) await standby.resume();
      if (round === 12) await standby.delay(30);
      const [writer, reader] = round % 2 === 0 ? [atOne, atTwo] : [atTwo, atOne];
      const value = await write(writer);
      expect([round, await read(reader), await read(writer)]).toEqual([round, value, value]);
    }
    await standby.delay(0);
  });
});

test('a read does not use the result of a position query that was sent before it', async () => {
  const primary = new PrimaryPosition(one.gateway.payments.database);
  await primary.now();
  const sent = primary.now();
  await Promise.resolve();
  const [later, latest] = [primary.now(), primary.now()];
  expect(later).not.toBe(sent);
  expect(latest).toBe(later);
  const [before, after] = await Promise.all([sent, later]);
  expect(after?.lsn).toBeGreaterThanOrEqual(before?.lsn ?? expect.fail());
  await primary.close();
});

test('a client that has received an event or a feed cursor then reads data that is at least as recent', async () => {
  await caughtUp();
  const updates = atOne.watch(
    'subscription ($id: ID!) { customerUpdates(customerId: $id) { customer { metadata { value } } } }',
    { id: customerId },
  );
  await updates.next();
  await standby.delay(50);
  for (let round = 0; round < 5; round += 1) {
    const value = await write(atTwo);
    const shown = await atTwo.ask(
      '{ viewer { feedCursor } customers(first: 1) { edges { node { metadata { value } } } } }',
    );
    expect(shown.customers.edges[0].node.metadata[0].value).toBe(value);
    const { customer } = (await updates.next()).value.data.customerUpdates;
    expect(customer.metadata[0].value).toBe(value);
    expect(await reads.node?.(atTwo)).toBe(value);
  }
  await updates.return?.();
  await standby.delay(0);
});

test('a replica that stops replaying gets no reads until it catches up, and its lag is reported', async () => {
  await caughtUp();
  const [replica = expect.fail()] = one.gateway.replicas?.all ?? [];
  await standby.pause();
  const value = await write(atOne);
  await seen({ isUsable: true, keepsUp: false });
  const places = await readsOf(async () => expect(await reads.node?.(atOne)).toBe(value));
  expect(places).toEqual({ replica: 0, primary: 1 });
  expect(replica.lagBytes).toBeGreaterThan(0);
  await standby.resume();
  await seen({ isUsable: true, keepsUp: true });
  await vi.waitFor(() => expect(replica.lagBytes).toBe(0), 60_000);
});

test('a lost replica affects neither callers nor readiness, and is used again when it comes back', async () => {
  await caughtUp();
  const ready = async () => (await fetch(`${one.url}/health/ready`)).status;
  let stopped = false;
  const readers = Array.from({ length: 4 }, async () => {
    while (!stopped) expect((await atOne.send(byNode, { id: customerId })).errors).toBeUndefined();
  });
  await proxy.stopListening();
  await seen({ isUsable: false, keepsUp: false });
  expect(await ready()).toBe(200);
  const value = await write(atOne);
  expect(await reads.node?.(atTwo)).toBe(value);
  expect(await readsOf(() => atTwo.ask(byNode, { id: customerId }))).toMatchObject({ replica: 0 });
  await proxy.startListening();
  await seen({ isUsable: true, keepsUp: true });
  stopped = true;
  await Promise.all(readers);
  await caughtUp();
});

test('a server that is not a standby of the database gets no reads', async () => {
  const wrong = await startTestGateway({ DATABASE_READ_URL: [servers.primary.url] }, servers.primary.url);
  const [replica = expect.fail()] = wrong.gateway.replicas?.all ?? [];
  expect(replica.trouble).toMatch('it is not a standby of this database');
  await wrong.stop();
});

import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { Cursors } from '../../src/core/cursors.ts';
import { PrimaryPosition } from '../../src/infra/database/replicas/primary-position.ts';
import { ReadTokens } from '../../src/infra/database/replicas/read-token.ts';
import { cursors } from '../setup/cursors.ts';
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
let customerId = await atOne.newCustomer();

/** Returns how many reads the replica and the primary have served for both instances, which share this process. */
async function answered(): Promise<Readonly<Record<'replica' | 'primary', number>>> {
  const text = await (await fetch(`${one.gateway.metricsUrl}/metrics`)).text();
  const of = (where: string) =>
    Number(new RegExp(`^payments_reads_total\\{where="${where}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  return { replica: of('replica'), primary: of('primary') };
}

/** Runs `work`. Returns how many reads the replica and the primary have served in the meantime. */
async function readsOf(work: () => Promise<unknown>) {
  const before = await answered();
  await work();
  const after = await answered();
  return { replica: after.replica - before.replica, primary: after.primary - before.primary };
}

let writes = 0;

/** Changes the customer. Returns the value that reads must return from now on, and the response's read token. */
async function write(platform: TestPlatform, id = customerId) {
  writes += 1;
  const value = String(writes);
  const response = await platform.post({
    query: `mutation ($input: UpdateCustomerInput!) { updateCustomer(input: $input) { __typename } }`,
    variables: { input: { customerId: id, metadata: [{ key: 'n', value }] } },
  });
  const { data, extensions } = (await response.json()) as {
    data: { updateCustomer: { __typename: string } };
    extensions: { readAfter: string };
  };
  expect(data.updateCustomer.__typename).toBe('UpdateCustomerSuccess');
  expect(response.headers.get('payments-read-after')).toBe(extensions.readAfter);
  return { value, token: extensions.readAfter };
}

const byNode = 'query ($id: ID!) { node(id: $id) { ... on Customer { metadata { value } } } }';
const byList = '{ customers(first: 1) { edges { node { metadata { value } } } } }';
/** This query's first field is resolved in JavaScript, so graphql-js executes the query. */
const beside = 'query ($id: ID!) { viewer { feedCursor } node(id: $id) { ... on Customer { metadata { value } } } }';

const rest = async (platform: TestPlatform, path: string, headers: Readonly<Record<string, string>> = {}) => {
  const { url, authorization } = platform;
  const response = await fetch(`${url}${base}${path}`, { headers: { authorization, ...headers } });
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

/** Waits until both instances have noticed that the replica is unusable or does not keep up. */
const seen = (state: { readonly isUsable: boolean; readonly keepsUp: boolean }) =>
  vi.waitFor(() => {
    for (const { gateway } of [one, two]) {
      const [replica = expect.fail()] = gateway.replicas?.all ?? [];
      expect({ isUsable: replica.isUsable, keepsUp: replica.keepsUp }).toEqual(state);
    }
  }, 60_000);

test('an operator command that only the primary can run says so in one sentence on a standby', async () => {
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
      const { value } = await write(writer);
      expect([round, await read(reader), await read(writer)]).toEqual([round, value, value]);
    }
    await standby.delay(0);
  });
});

test('a read does not use the result of a position query that was sent before it', async () => {
  const primary = new PrimaryPosition(one.gateway.payments.database);
  await primary.now();
  const [sent, later, latest] = [primary.now(), primary.now(), primary.now()];
  expect(later).not.toBe(sent);
  expect(latest).toBe(later);
  const [before, after] = await Promise.all([sent, later]);
  expect(after?.lsn).toBeGreaterThanOrEqual(before?.lsn ?? expect.fail());
  await primary.close();
});

describe('with a token', () => {
  test('a lagging replica returns what it has replayed, but never less than the token requires', async () => {
    await caughtUp();
    const before = await write(atOne);
    await caughtUp();
    await standby.pause();
    // The write goes through the other instance: an instance never returns data older than its own writes.
    const after = await write(atTwo);
    await seen({ isUsable: true, keepsUp: false });
    const read = (token: string) => rest(atOne, `/customers/${customerId}`, { 'payments-read-after': token });
    const places = await readsOf(async () => expect((await read(before.token)).metadata.n).toBe(before.value));
    expect(places).toEqual({ replica: 1, primary: 0 });
    expect((await read(after.token)).metadata.n).toBe(after.value);
    expect((await read('latest')).metadata.n).toBe(after.value);
    const extensions = { readAfter: before.token };
    const asked = await atOne.post({ query: byNode, variables: { id: customerId }, extensions });
    expect(await asked.json()).toEqual({ data: { node: { metadata: [{ value: before.value }] } } });
    const own = await write(atOne);
    expect((await read(before.token)).metadata.n).toBe(own.value);
    await standby.resume();
  });

  test('a read whose token is from the far future or another history neither waits nor returns older data', async () => {
    await caughtUp();
    const { value, token } = await write(atTwo);
    await caughtUp();
    const tokens = new ReadTokens(cursors);
    const { rows } = await one.owner.query('select history from read_position()');
    const { history } = rows[0];
    const seal = (lsn: bigint, of = history) => tokens.seal(atOne.platformId, { lsn, history: of });
    const { lsn } = tokens.open(atOne.platformId, token) ?? expect.fail();
    const given = {
      future: seal(0x7fff_ffff_ffff_ffffn),
      beginning: seal(0n),
      'another history': seal(lsn, 'another'),
      'another platform': tokens.seal(randomUUID(), { lsn, history }),
      'another secret': new ReadTokens(new Cursors([randomBytes(32)])).seal(atOne.platformId, { lsn, history }),
    };
    for (const [name, forged] of Object.entries(given)) {
      const places = await readsOf(async () => {
        const read = await rest(atOne, `/customers/${customerId}`, { 'payments-read-after': forged });
        expect([name, read.metadata.n]).toEqual([name, value]);
      });
      // The replica has replayed everything. A read that required more would go to the primary.
      expect([name, places]).toEqual([name, { replica: 1, primary: 0 }]);
    }
  });

  test('a token does not reveal its position, even when two tokens are compared', async () => {
    const { token } = await write(atOne);
    const { token: next } = await write(atOne);
    const bytes = (text: string) => Buffer.from(text.replace('wal_', ''), 'base64url');
    const [first, second] = [bytes(token), bytes(next)];
    const { lsn } = new ReadTokens(cursors).open(atOne.platformId, token) ?? expect.fail();
    expect(first.includes(Buffer.from(lsn.toString(16).padStart(16, '0'), 'hex'))).toBe(false);
    // Positions taken moments apart share most digits, but their tokens have nothing in common.
    const same = [...first].filter((byte, position) => byte === second[position]).length;
    expect(same).toBeLessThan(first.length / 4);
  });

  test('a page after a cursor is not older than the page before it', async () => {
    await caughtUp();
    const { token } = await write(atOne);
    await caughtUp();
    await standby.pause();
    const newest = await atTwo.newCustomer();
    // A reader who has seen this first page must not get an older second page.
    const { value } = await write(atTwo);
    const headers = { 'payments-read-after': token };
    type Page = { data: { id: string; metadata?: { n: string } }[]; nextCursor: string };
    const first = (await rest(atTwo, '/customers?limit=1')) as unknown as Page;
    expect(first.data[0]?.id).toBe(newest);
    const after = `/customers?limit=1&sortOrder=desc&cursor=${first.nextCursor}`;
    const next = (await rest(atOne, after, headers)) as unknown as Page;
    expect(next.data[0]).toMatchObject({ id: customerId, metadata: { n: value } });
    const page =
      'customers(first: 1, after: $after) { edges { node { id metadata { value } } } pageInfo { endCursor } }';
    const { customers } = await atTwo.ask(`query ($after: String) { ${page} }`);
    expect(customers.edges[0].node.id).toBe(newest);
    const answer = await atOne.post({
      query: `query ($after: String) { ${page} }`,
      variables: { after: customers.pageInfo.endCursor },
      extensions: { readAfter: token },
    });
    expect((await answer.json()).data.customers.edges).toEqual([{ node: { id: customerId, metadata: [{ value }] } }]);
    await standby.resume();
    await caughtUp();
    customerId = newest;
    await write(atOne);
  });

  test('an invalid token is rejected, with the field and the reason', async () => {
    const answer = await fetch(`${one.url}${base}/customers`, {
      headers: { authorization: atOne.authorization, 'payments-read-after': 'yesterday' },
    });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toMatch(/Payments-Read-After.*expected a read token/s);
    const refused = await atOne.post({ query: '{ viewer { kind } }', extensions: { readAfter: 1 } });
    expect((await refused.json()).errors[0]).toMatchObject({
      extensions: { code: 'INVALID_INPUT', field: 'extensions.readAfter' },
    });
  });
});

test('a client that has received an event or a feed cursor reads data at least as recent', async () => {
  await caughtUp();
  const updates = atOne.watch(
    'subscription ($id: ID!) { customerUpdates(customerId: $id) { cursor customer { metadata { value } } } }',
    { id: customerId },
  );
  await updates.next();
  await standby.delay(50);
  for (let round = 0; round < 5; round += 1) {
    const { value } = await write(atTwo);
    const shown = await atTwo.ask(
      '{ viewer { feedCursor } customers(first: 1) { edges { node { metadata { value } } } } }',
    );
    expect(shown.customers.edges[0].node.metadata[0].value).toBe(value);
    const { cursor, customer } = (await updates.next()).value.data.customerUpdates;
    expect(customer.metadata[0].value).toBe(value);
    expect(await reads.node?.(atTwo)).toBe(value);
    const after = await rest(atTwo, `/customers/${customerId}`, { 'payments-read-after': cursor });
    expect(after.metadata.n).toBe(value);
  }
  await updates.return?.();
  await standby.delay(0);
});

test('a replica that stops replaying gets no reads without a token until it catches up, and its lag is reported', async () => {
  await caughtUp();
  const [replica = expect.fail()] = one.gateway.replicas?.all ?? [];
  await standby.pause();
  const { value } = await write(atOne);
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
  const { value } = await write(atOne);
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

import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { freezeCustomer } from '../src/domain/commands/freezing.ts';
import { openDatabase } from '../src/infra/database/database.ts';
import { readConfig } from '../src/server/config.ts';
import { openPayments } from '../src/server/gateway.ts';
import { prepareSandboxPlatform } from '../src/server/start/sandbox-platform.ts';
import { between, execute, quote, transactionOf } from './setup/acts.ts';
import { type ChildGateway, startChildGateway, temporaryDataDirectory } from './setup/child-gateway.ts';
import { freshDatabase } from './setup/database.ts';
import { connect, type Data, type TestPlatform } from './setup/gateway.ts';

const sandbox = `Basic ${Buffer.from('sandbox:sandbox').toString('base64')}`;
const soon = { timeout: 50_000, interval: 20 };

let data: Awaited<ReturnType<typeof temporaryDataDirectory>>;
const starts: Promise<ChildGateway>[] = [];

beforeEach(async () => {
  data = await temporaryDataDirectory();
});
afterEach(async () => {
  for (const one of await Promise.allSettled(starts.splice(0))) {
    if (one.status === 'fulfilled') await one.value.end('SIGTERM');
  }
  await rm(data.path, { recursive: true, force: true });
});

function start(): Promise<ChildGateway> {
  const gateway = startChildGateway({ DATA_DIR: data.path, SANDBOX_PACE_MS: '20' });
  starts.push(gateway);
  return gateway;
}

test('a sandbox whose Postgres is killed recovers without a restart, and can make payments again', async () => {
  const gateway = await start();
  const platform = connect(gateway.url, '', sandbox);
  const before = await accounts(platform);
  const killed = await postmaster();
  process.kill(killed, 'SIGKILL');
  await vi.waitFor(async () => {
    expect(await postmaster()).not.toBe(killed);
    expect((await fetch(`${gateway.url}/health/ready`)).status).toBe(200);
  }, soon);
  expect((await fetch(`${gateway.url}/health/live`)).status).toBe(200);
  expect(await accounts(platform)).toEqual(before);
  await pay(platform, before);
  expect(gateway.output()).toMatch(/embedded Postgres runs again/);
  expect(await gateway.end('SIGTERM')).toBe(0);
});

test('two concurrent first starts both succeed, with the same sandbox platform and data', async () => {
  const both = await Promise.all([start(), start()]);
  const [one = [], two] = await Promise.all(both.map((gateway) => accounts(connect(gateway.url, '', sandbox))));
  expectFurnished(one);
  expect(two).toEqual(one);
});

test('preparing the sandbox platform concurrently yields one platform, with its sample data created once', async () => {
  const fresh = await freshDatabase();
  const open = () => openDatabase({ url: fresh.url, role: 'gateway_work', poolSize: 2 });
  const [operators, ...instances] = [open(), open(), open(), open()];
  const log = pino({ level: 'silent' });
  const prepared = await Promise.all(
    instances.map(async (database) => {
      const payments = await openPayments(database, readConfig({}), log);
      const { payer } = await prepareSandboxPlatform(payments);
      return () => payer(payments);
    }),
  );
  const payers = () => Promise.all(prepared.map((payer) => payer()));
  const [first, ...others] = await payers();
  expect(others).toEqual([first, first]);
  // A sample customer who can no longer pay is replaced, but only once.
  const freezing = { by: 'a person', reason: 'for a test', frozen: true };
  await freezeCustomer(operators, first?.customerId ?? '', freezing);
  const [second, ...again] = await payers();
  expect(second?.customerId).not.toBe(first?.customerId);
  expect(again).toEqual([second, second]);
  const where = { platformCustomerId: { startsWith: 'individual-' } };
  const orderBy = { platformCustomerId: 'asc' } as const;
  const persons = await operators.prisma.customer.findMany({ where, orderBy });
  expect(persons.map(({ searchName }) => searchName)).toEqual(['sample person', 'sample person 2']);
  const [platforms] = await Promise.all(instances.map((database) => database.prisma.platform.count()));
  expect(platforms).toBe(1);
  for (const database of [operators, ...instances]) await database.close();
  await fresh.drop();
});

function expectFurnished(nodes: readonly Data[]): void {
  expect(new Set(nodes.map((node) => node.customer.id)).size).toBe(2);
  expect(nodes.filter((node) => node.__typename === 'ExternalAccount')).toHaveLength(6);
  const dollars = nodes.filter((node) => node.__typename === 'InternalAccount' && node.currency.code === 'USD');
  expect(dollars.map((node) => node.balance.amount)).toEqual(['2500000', '2500000']);
}

async function pay(platform: TestPlatform, nodes: readonly Data[]): Promise<void> {
  const find = (kind: string, code: string) =>
    nodes.find((node) => node.__typename === kind && node.currency.code === code)?.id;
  const input = between(find('InternalAccount', 'USD'), find('ExternalAccount', 'EUR'), 10_000);
  const { id, transaction } = await quote(platform, input);
  expect(await execute(platform, id)).toMatchObject({ quote: { status: 'PROCESSING' } });
  await vi.waitFor(async () => {
    expect(await transactionOf(platform, transaction.id)).toMatchObject({ status: 'COMPLETED' });
  }, soon);
}

async function accounts(platform: TestPlatform): Promise<Data[]> {
  const answer = await platform.ask(
    `{ accounts(first: 100) { edges { node { id __typename currency { code } customer { id customerType }
       ... on InternalAccount { balance { amount } } } } } }`,
  );
  return answer.accounts.edges.map((edge: Data) => edge.node).filter((node: Data) => node.customer !== null);
}

async function postmaster(): Promise<number> {
  return Number((await readFile(path.join(data.path, 'postgres/data/postmaster.pid'), 'utf8')).split('\n')[0]);
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { freezeCustomer } from '../src/domain/commands/adjustments.ts';
import { openDatabase } from '../src/infra/database/database.ts';
import { startEmbeddedPostgres } from '../src/infra/database/embedded/embedded.ts';
import { execute } from '../src/infra/database/migrations/throwaway.ts';
import { readConfig } from '../src/server/config.ts';
import { openPayments } from '../src/server/gateway.ts';
import { prepareSandboxPlatform } from '../src/server/start/sandbox-platform.ts';
import { between } from './setup/acts.ts';
import { runToEnd, startChildGateway, temporaryDataDirectory } from './setup/child-gateway.ts';
import { ownDatabase } from './setup/database.ts';
import { ownDataDirectory } from './setup/embedded-servers.ts';
import { listen } from './setup/free-port.ts';
import { connect, type Data, ownClient, startTestGateway } from './setup/gateway.ts';

const root = path.resolve(import.meta.dirname, '..');
const openKeys = { CLIENT_TOKEN_KEY: 'a key that only tests use, for nothing else', SECRET_KEY: 'ab'.repeat(32) };
const sandbox = `Basic ${Buffer.from('sandbox:sandbox').toString('base64')}`;
const soon = { timeout: 50_000, interval: 20 };

async function accountsAt(url: string): Promise<Data[]> {
  const { accounts } = await connect(url, '', sandbox).ask(
    `{ accounts(first: 100) { edges { node { id __typename currency { code } customer { id customerType }
       ... on InternalAccount { balance { amount } } ... on ExternalAccount { status } } } } }`,
  );
  return accounts.edges.map((edge: Data) => edge.node).filter((node: Data) => node.customer !== null);
}

function expectFurnished(accounts: readonly Data[]): void {
  expect(new Set(accounts.map(({ customer }) => customer.customerType))).toEqual(new Set(['INDIVIDUAL', 'BUSINESS']));
  expect(new Set(accounts.map(({ customer }) => customer.id)).size).toBe(2);
  const dollars = accounts.filter(
    ({ __typename: type, currency }) => type === 'InternalAccount' && currency.code === 'USD',
  );
  expect(dollars.map(({ balance }) => balance.amount)).toEqual(['2500000', '2500000']);
  const outside = accounts.filter((node) => node.__typename === 'ExternalAccount' && node.status === 'ACTIVE');
  expect(outside).toHaveLength(6);
  expect(new Set(outside.map(({ currency }) => currency.code))).toEqual(new Set(['USD', 'MXN', 'BTC', 'EUR']));
}

describe('npm start', () => {
  let data: Awaited<ReturnType<typeof temporaryDataDirectory>>;
  beforeAll(async () => {
    data = await temporaryDataDirectory();
  });
  afterAll(() => data.remove());

  test('starts a sandbox with sample data, prints every address, and keeps the data across a restart', async () => {
    const first = await startChildGateway({ DATA_DIR: data.path });
    const before = await accountsAt(first.url);
    expect(first.output()).toContain('clientId sandbox, secret sandbox');
    expect(first.output()).toMatch(/curl -s -u sandbox:sandbox http:\S+\/graphql/);
    expect(await first.end('SIGINT')).toBe(0);
    expectFurnished(before);

    const second = await startChildGateway({ DATA_DIR: data.path });
    expect(await accountsAt(second.url)).toEqual(before);
    expect(await second.end('SIGTERM')).toBe(0);
  });

  test('creates a sandbox with sample data that passes the audit', () => {
    const { status, stdout } = runToEnd({ DATA_DIR: data.path }, { script: ['src/commands.ts', 'ops', 'audit'] });
    expect(stdout).toContain('The ledger is sound');
    expect(status).toBe(0);
  });

  test('says in one sentence which folder to remove if its data comes from earlier migrations', async () => {
    const server = await startEmbeddedPostgres({ dataDir: data.path });
    await execute(server.url, `update _prisma_migrations set migration_name = '20250101000000_earlier'`);
    await server.stop();
    for (const script of [['src/main.ts'], ['src/commands.ts', 'ops', 'audit']]) {
      const { status, stderr } = runToEnd({ DATA_DIR: data.path }, { script });
      expect(stderr).toMatch(
        /^This database was created by an earlier series .* remove the folder \S+ and start again\.\n$/,
      );
      expect(stderr).toContain(`remove the folder ${server.dataDirectory} and`);
      expect(status).toBe(1);
    }
  });
});

test('SIGTERM sent to npm start stops the gateway that it started', async () => {
  const database = await ownDatabase();
  const { url, end } = await startChildGateway({ DATABASE_URL: database.url }, ['npm', 'start']);
  expect(await end('SIGTERM')).toBe(0);
  await expect(fetch(`${url}/health/live`)).rejects.toThrow('fetch failed');
});

/** One setting of each kind; test/settings.test.ts and test/database/reaching.test.ts cover more. */
describe('a wrong setting stops startup before anything is created, and is reported without a stack trace', () => {
  test.each([
    [{ PORT: 'eighty' }, 'PORT must be a whole number'],
    [
      { NODE_ENV: 'production', DATABASE_URL: 'postgres://db.example/payments' },
      'DATABASE_URL connects without TLS: add sslmode=verify-full, and sslrootcert=FILE for your own certificate authority. ALLOW_UNSAFE=unverified-tls allows it',
    ],
    [{ HOST: '0.0.0.0' }, 'not the loopback interface'],
    [
      { HOST: '192.0.2.1', DATABASE_URL: 'postgres://127.0.0.1:1/payments' },
      'HOST 192.0.2.1 is not an address of this',
    ],
    [{ METRICS_PORT: '0', METRICS_HOST: 'nowhere.invalid' }, 'METRICS_HOST nowhere.invalid is not an address of this'],
    [{ DATABASE_URL: 'postgres://127.0.0.1/payments?schema=app' }, 'DATABASE_URL has the parameter schema'],
  ])('%o', async (environment, message) => {
    const folder = await ownDataDirectory();
    const { status, stderr } = runToEnd({ DATA_DIR: folder, ...environment });
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^ +at /m);
    expect([status, await readdir(folder)]).toEqual([1, []]);
  });
});

test('an interrupted or killed first start leaves nothing behind that affects the next one', async () => {
  const folder = await ownDataDirectory();
  const begin = async () => {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'src/main.ts'], {
      cwd: root,
      env: { ...process.env, NODE_ENV: 'development', PORT: '0', DATA_DIR: folder, ...openKeys },
      stdio: 'ignore',
    });
    const exited = once(child, 'exit');
    await vi.waitFor(async () => expect(await readdir(folder)).toHaveLength(1), { timeout: 60_000, interval: 1 });
    return { child, exited };
  };
  const killed = await begin();
  killed.child.kill('SIGKILL');
  await killed.exited;
  const [abandoned = ''] = await readdir(folder);
  expect(abandoned).toMatch(/^postgres-/);

  // The programs that create the cluster outlive the killed process and exit on their own.
  const gateway = await startChildGateway({ DATA_DIR: folder, ...openKeys });
  expect(await readdir(folder)).toEqual(['postgres']);
  expect(await gateway.end('SIGINT')).toBe(0);
  await rm(path.join(folder, 'postgres'), { recursive: true });

  const interrupted = await begin();
  interrupted.child.kill('SIGINT');
  expect(await interrupted.exited).toEqual([0, null]);
  expect((await readdir(folder)).filter((name) => name !== 'postgres')).toEqual([]);
});

test('shell variables for another Postgres do not affect the embedded server', async () => {
  const folder = await ownDataDirectory();
  const shell = {
    ...{ PGSSLMODE: 'require', PGOPTIONS: '-c search_path=elsewhere', PGHOST: 'db.invalid', PGPORT: '1' },
    ...{ PGUSER: 'ada', PGPASSWORD: 'wrong', PGDATABASE: 'other', PGAPPNAME: 'psql', PGCLIENT_ENCODING: 'LATIN1' },
  };
  const gateway = await startChildGateway({ DATA_DIR: folder, ...shell });
  expect(await connect(gateway.url, '', sandbox).ask('{ viewer { kind } }')).toEqual({ viewer: { kind: 'PLATFORM' } });
  const { status, stdout } = runToEnd({ DATA_DIR: folder, ...shell }, { script: ['src/commands.ts', 'ops', 'audit'] });
  expect([status, stdout]).toEqual([0, expect.stringContaining('The ledger is sound')]);
  expect(await gateway.end('SIGTERM')).toBe(0);
});

test('if a port is in use, startup fails and names the port, and no process keeps running', async () => {
  const other = createServer();
  const port = await listen(other);
  const database = await ownDatabase();
  const { status, stderr } = runToEnd({ PORT: String(port), DATABASE_URL: database.url });
  expect(stderr).toBe(
    `Invalid settings:\n  - PORT ${port} of 127.0.0.1 is in use by another process: stop it, or set another PORT\n`,
  );
  expect(status).toBe(1);

  await expect(startTestGateway({ PORT: port }, database.url)).rejects.toThrow(`PORT ${port}`);
  const left = `select count(*)::int as count from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
  const probe = await ownClient(database.url);
  await vi.waitFor(async () => expect((await probe.query(left)).rows).toEqual([{ count: 0 }]), 60_000);
  other.close();
});

describe('npm run ops -- platform', () => {
  test('creates a platform, prints its token once and changes its limits; the fixed sandbox token is refused', async () => {
    const database = await ownDatabase();
    const ops = (...args: string[]) =>
      runToEnd({ DATABASE_URL: database.url }, { script: ['src/commands.ts', 'ops', ...args] });
    const { status, stdout } = ops('platform', 'create', 'acme', '--sandbox');
    expect(status).toBe(0);
    const authorization = /Authorization +(Basic \S+)/.exec(stdout)?.[1] ?? '';

    const gateway = await startChildGateway({ DATABASE_URL: database.url });
    const { viewer } = await connect(gateway.url, '', authorization).ask('{ viewer { kind environment permissions } }');
    const permissions = ['VIEW', 'TRANSACT', 'APPROVE', 'MANAGE'];
    expect(viewer).toEqual({ kind: 'PLATFORM', environment: 'SANDBOX', permissions });
    expect((await connect(gateway.url, '', sandbox).send('{ viewer { kind } }')).status).toBe(401);
    const probe = await ownClient(database.url);
    const { rows } = await probe.query('select setting from key_in_use order by setting');
    expect(rows).toEqual([{ setting: 'CLIENT_TOKEN_KEY' }, { setting: 'SECRET_KEY' }]);
    expect(await gateway.end('SIGTERM')).toBe(0);

    const again = ops('platform', 'create', 'acme');
    expect(again.stderr).toContain('already exists');
    expect(again.status).toBe(1);

    const changed = ops('platform', 'limits', 'acme', '--platform', '500/2500', '--client-token', '20');
    const rates = [...changed.stdout.matchAll(/^ {2}(?:in total|each \w+ token) +(.*)$/gm)].map(([, rate]) => rate);
    expect(rates).toEqual(['500/2500', '20000/40000 (from the settings)', '20/40']);
    const wrong = ops('platform', 'limits', 'acme', '--platform', '0');
    expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining('0 is not a rate')]);
  });
});

test('a sandbox whose Postgres is killed recovers without a restart, and can make payments again', async () => {
  const folder = await ownDataDirectory();
  const gateway = await startChildGateway({ DATA_DIR: folder, SANDBOX_PACE_MS: '20' });
  const before = await accountsAt(gateway.url);
  const postmaster = async () =>
    Number((await readFile(path.join(folder, 'postgres/data/postmaster.pid'), 'utf8')).split('\n')[0]);
  const killed = await postmaster();
  process.kill(killed, 'SIGKILL');
  await vi.waitFor(async () => {
    expect(await postmaster()).not.toBe(killed);
    expect((await fetch(`${gateway.url}/health/ready`)).status).toBe(200);
  }, soon);
  expect((await fetch(`${gateway.url}/health/live`)).status).toBe(200);
  expect(await accountsAt(gateway.url)).toEqual(before);

  const platform = connect(gateway.url, '', sandbox);
  const find = (kind: string, code: string) =>
    before.find((node) => node.__typename === kind && node.currency.code === code)?.id;
  const input = between(find('InternalAccount', 'USD'), find('ExternalAccount', 'EUR'), 10_000);
  const { id, transaction } = await platform.quote(input);
  expect(await platform.execute(id)).toMatchObject({ quote: { status: 'PROCESSING' } });
  await vi.waitFor(async () => {
    expect(await platform.transactionOf(transaction.id)).toMatchObject({ status: 'COMPLETED' });
  }, soon);
  expect(gateway.output()).toMatch(/embedded Postgres is running again/);
  expect(await gateway.end('SIGTERM')).toBe(0);
});

test('two concurrent first starts both succeed, with the same sandbox platform and data', async () => {
  const folder = await ownDataDirectory();
  const both = await Promise.all([1, 2].map(() => startChildGateway({ DATA_DIR: folder })));
  const [one = [], two] = await Promise.all(both.map(({ url }) => accountsAt(url)));
  expectFurnished(one);
  expect(two).toEqual(one);
  for (const { end } of both) expect(await end('SIGTERM')).toBe(0);
});

test('preparing the sandbox platform concurrently yields one platform, with its sample data created once', async () => {
  const fresh = await ownDatabase();
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
});

import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startEmbeddedPostgres } from '../src/infra/database/embedded/embedded.ts';
import { execute } from '../src/infra/database/migrations/throwaway.ts';
import { startChildGateway, temporaryDataDirectory } from './setup/child-gateway.ts';
import { freshDatabase } from './setup/database.ts';
import { connect, type Data, startTestGateway } from './setup/gateway.ts';

const root = path.resolve(import.meta.dirname, '..');
const sandbox = `Basic ${Buffer.from('sandbox:sandbox').toString('base64')}`;

/** Runs a script of the project to its end. */
function runScript(script: string, args: readonly string[], environment: Readonly<Record<string, string>>) {
  return spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', script, ...args], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, NODE_ENV: 'development', LOG_LEVEL: 'silent', PORT: '0', ...environment },
  });
}

describe('npm start', () => {
  let data: Awaited<ReturnType<typeof temporaryDataDirectory>>;
  beforeAll(async () => {
    data = await temporaryDataDirectory();
  });
  afterAll(() => data.remove());

  test('brings up a furnished sandbox, says where everything is, and keeps its data over a restart', async () => {
    const accounts = `{ accounts(first: 100) { edges { node { id __typename currency { code } customer { customerType }
      ... on InternalAccount { balance { amount } } ... on ExternalAccount { status } } } } }`;

    const first = await startChildGateway({ DATA_DIR: data.path });
    const before = await connect(first.url, '', sandbox).ask(accounts);
    expect(first.output()).toContain('clientId sandbox, secret sandbox');
    expect(first.output()).toMatch(/curl -s -u sandbox:sandbox http:\S+\/graphql/);
    expect(await first.end('SIGINT')).toBe(0);

    const nodes: Data[] = before.accounts.edges.map((edge: Data) => edge.node);
    for (const customerType of ['INDIVIDUAL', 'BUSINESS']) {
      const usd = nodes.find(
        (node: Data) =>
          node.__typename === 'InternalAccount' &&
          node.currency.code === 'USD' &&
          node.customer?.customerType === customerType,
      );
      expect(BigInt(usd.balance.amount)).toBeGreaterThanOrEqual(1_000_000n);
    }
    for (const code of ['USD', 'EUR', 'MXN']) {
      expect(
        nodes.some(
          (node: Data) =>
            node.__typename === 'ExternalAccount' && node.currency.code === code && node.status === 'ACTIVE',
        ),
      ).toBe(true);
    }

    const second = await startChildGateway({ DATA_DIR: data.path });
    expect(await connect(second.url, '', sandbox).ask(accounts)).toEqual(before);
    expect(await second.end('SIGTERM')).toBe(0);
  });

  test('the audit proves the furnished sandbox', () => {
    const { status, stdout } = runScript('src/commands.ts', ['ops', 'audit'], { DATA_DIR: data.path });
    expect(stdout).toContain('The ledger is sound');
    expect(status).toBe(0);
  });

  test('on data of an earlier series of migrations says in one sentence which folder to remove', async () => {
    const server = await startEmbeddedPostgres({ dataDir: data.path });
    await execute(server.url, `update _prisma_migrations set migration_name = '20250101000000_earlier'`);
    await server.stop();
    for (const [script, ...args] of [['src/main.ts'], ['src/commands.ts', 'ops', 'audit']] as const) {
      const { status, stderr } = runScript(script, args, { DATA_DIR: data.path });
      expect(stderr).toMatch(
        /^This database was made by an earlier series .* remove the folder \S+ and start again\.\n$/,
      );
      expect(stderr).toContain(`remove the folder ${server.dataDirectory} and`);
      expect(status).toBe(1);
    }
  });
});

test('SIGTERM to npm start stops the gateway behind it', async () => {
  const database = await freshDatabase();
  const { url, end } = await startChildGateway({ DATABASE_URL: database.url }, ['npm', 'start']);
  expect(await end('SIGTERM')).toBe(0);
  await expect(fetch(`${url}/health/live`)).rejects.toThrow('fetch failed');
  await database.drop();
});

/** One that is wrong by itself, one that is unsafe, and one that is wrong with the database: test/settings.test.ts has more. */
describe('a wrong setting stops the start and is named', () => {
  test.each([
    [{ PORT: 'eighty' }, 'PORT must be a whole number'],
    [
      { NODE_ENV: 'production', DATABASE_URL: 'postgres://db.example/payments' },
      'DATABASE_URL connects without TLS: add sslmode=verify-full, and sslrootcert=FILE for a certificate authority of your own. ALLOW_UNSAFE=unverified-tls allows it',
    ],
    [{ HOST: '0.0.0.0' }, 'not the loopback interface'],
  ])('%o', async (environment, message) => {
    const data = await temporaryDataDirectory();
    const { status, stderr } = runScript('src/main.ts', [], { DATA_DIR: data.path, ...environment });
    await data.remove();
    expect(stderr).toContain(message);
    expect(status).toBe(1);
  });
});

test('a port that another process has stops the start and is named; nothing goes on behind it', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const database = await freshDatabase();
  const child = execFile(process.execPath, ['--disable-warning=ExperimentalWarning', 'src/main.ts'], {
    cwd: root,
    env: { ...process.env, LOG_LEVEL: 'silent', PORT: String(port), DATABASE_URL: database.url },
  });
  let said = '';
  child.stderr?.on('data', (text: string) => {
    said += text;
  });
  const [status] = await once(child, 'close');
  expect(said).toBe(
    `The settings are wrong:\n  - PORT ${port} of 127.0.0.1 is in use by another process: stop it, or set another PORT\n`,
  );
  expect(status).toBe(1);

  await expect(startTestGateway({ PORT: port }, database.url)).rejects.toThrow(`PORT ${port}`);
  const left = `select count(*)::int as count from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
  const probe = new pg.Client(database.url);
  await probe.connect();
  await vi.waitFor(async () => expect((await probe.query(left)).rows).toEqual([{ count: 0 }]), 5_000);
  await probe.end();
  await database.drop();
  other.close();
});

describe('npm run ops -- platform', () => {
  test('prints a token once that works on the database it was made in, and changes limits; the fixed sandbox token does not work', async () => {
    const database = await freshDatabase();
    const { status, stdout } = runScript('src/commands.ts', ['ops', 'platform', 'create', 'acme', '--sandbox'], {
      DATABASE_URL: database.url,
    });
    expect(status).toBe(0);
    const authorization = /Authorization +(Basic \S+)/.exec(stdout)?.[1] ?? '';

    const gateway = await startChildGateway({ DATABASE_URL: database.url });
    const { viewer } = await connect(gateway.url, '', authorization).ask('{ viewer { kind environment permissions } }');
    expect(viewer).toEqual({ kind: 'PLATFORM', environment: 'SANDBOX', permissions: ['VIEW', 'TRANSACT', 'MANAGE'] });
    expect((await connect(gateway.url, '', sandbox).send('{ viewer { kind } }')).status).toBe(401);
    const probe = new pg.Client(database.url);
    await probe.connect();
    const { rows } = await probe.query('select setting from key_in_use order by setting');
    await probe.end();
    expect(rows).toEqual([{ setting: 'CLIENT_TOKEN_KEY' }, { setting: 'SECRET_KEY' }]);
    expect(await gateway.end('SIGTERM')).toBe(0);

    const again = runScript('src/commands.ts', ['ops', 'platform', 'create', 'acme'], { DATABASE_URL: database.url });
    expect(again.stderr).toContain('exists already');
    expect(again.status).toBe(1);

    const limits = ['ops', 'platform', 'limits', 'acme', '--platform', '500/2500', '--client-token', '20'];
    const changed = runScript('src/commands.ts', limits, { DATABASE_URL: database.url });
    expect([...changed.stdout.matchAll(/^ {2}(?:in all|each \w+ token) +(.*)$/gm)].map(([, rate]) => rate)).toEqual([
      '500/2500',
      '20000/40000 (as the settings say)',
      '20/40',
    ]);
    const wrong = runScript('src/commands.ts', ['ops', 'platform', 'limits', 'acme', '--platform', '0'], {});
    expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining('0 is no rate')]);
    await database.drop();
  });
});

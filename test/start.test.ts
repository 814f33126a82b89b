import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startEmbeddedPostgres } from '../src/infra/database/embedded/embedded.ts';
import { execute } from '../src/infra/database/migrations/throwaway.ts';
import { startChildGateway, temporaryDataDirectory } from './setup/child-gateway.ts';
import { freshDatabase } from './setup/database.ts';
import { listen } from './setup/free-port.ts';
import { connect, type Data, openClient, ownClient, startTestGateway } from './setup/gateway.ts';

const root = path.resolve(import.meta.dirname, '..');
const openKeys = { CLIENT_TOKEN_KEY: 'a key that only tests use, for nothing else', SECRET_KEY: 'ab'.repeat(32) };
const sandbox = `Basic ${Buffer.from('sandbox:sandbox').toString('base64')}`;

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

  test('starts a sandbox with sample data, prints every address, and keeps the data across a restart', async () => {
    const accounts = `{ accounts(first: 100) { edges { node { id __typename currency { code } customer { customerType }
      ... on InternalAccount { balance { amount } } ... on ExternalAccount { status } } } } }`;

    const first = await startChildGateway({ DATA_DIR: data.path });
    const before = await connect(first.url, '', sandbox).ask(accounts);
    expect(first.output()).toContain('clientId sandbox, secret sandbox');
    expect(first.output()).toMatch(/curl -s -u sandbox:sandbox http:\S+\/graphql/);
    expect(await first.end('SIGINT')).toBe(0);

    const nodes: Data[] = before.accounts.edges.map((edge: Data) => edge.node);
    for (const customerType of ['INDIVIDUAL', 'BUSINESS']) {
      const ofType = nodes.filter(({ customer }) => customer?.customerType === customerType);
      const usd = ofType.find(
        ({ __typename, currency }) => __typename === 'InternalAccount' && currency.code === 'USD',
      );
      expect(BigInt(usd?.balance.amount)).toBeGreaterThanOrEqual(1_000_000n);
    }
    for (const code of ['USD', 'EUR', 'MXN']) {
      const active = { __typename: 'ExternalAccount', currency: { code }, status: 'ACTIVE' };
      expect(nodes).toContainEqual(expect.objectContaining(active));
    }

    const second = await startChildGateway({ DATA_DIR: data.path });
    expect(await connect(second.url, '', sandbox).ask(accounts)).toEqual(before);
    expect(await second.end('SIGTERM')).toBe(0);
  });

  test('creates a sandbox with sample data that passes the audit', () => {
    const { status, stdout } = runScript('src/commands.ts', ['ops', 'audit'], { DATA_DIR: data.path });
    expect(stdout).toContain('The ledger is sound');
    expect(status).toBe(0);
  });

  test('if the data has earlier migrations, says in one sentence which folder to remove', async () => {
    const server = await startEmbeddedPostgres({ dataDir: data.path });
    await execute(server.url, `update _prisma_migrations set migration_name = '20250101000000_earlier'`);
    await server.stop();
    for (const [script, ...args] of [['src/main.ts'], ['src/commands.ts', 'ops', 'audit']] as const) {
      const { status, stderr } = runScript(script, args, { DATA_DIR: data.path });
      expect(stderr).toMatch(
        /^This database was created by an earlier series .* remove the folder \S+ and start again\.\n$/,
      );
      expect(stderr).toContain(`remove the folder ${server.dataDirectory} and`);
      expect(status).toBe(1);
    }
  });
});

test('SIGTERM sent to npm start stops the gateway that it has started', async () => {
  const database = await freshDatabase();
  const { url, end } = await startChildGateway({ DATABASE_URL: database.url }, ['npm', 'start']);
  expect(await end('SIGTERM')).toBe(0);
  await expect(fetch(`${url}/health/live`)).rejects.toThrow('fetch failed');
  await database.drop();
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
    const data = await temporaryDataDirectory();
    const { status, stderr } = runScript('src/main.ts', [], { DATA_DIR: data.path, ...environment });
    const made = await readdir(data.path);
    await data.remove();
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^ +at /m);
    expect([status, made]).toEqual([1, []]);
  });
});

test('an interrupted or killed first start leaves nothing behind that affects the next one', async () => {
  const data = await temporaryDataDirectory();
  const begin = async () => {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'src/main.ts'], {
      cwd: root,
      env: { ...process.env, NODE_ENV: 'development', PORT: '0', DATA_DIR: data.path, ...openKeys },
      stdio: 'ignore',
    });
    const exited = once(child, 'exit');
    await vi.waitFor(async () => expect(await readdir(data.path)).toHaveLength(1), { timeout: 60_000, interval: 1 });
    return { child, exited };
  };
  const killed = await begin();
  killed.child.kill('SIGKILL');
  await killed.exited;
  const [abandoned = ''] = await readdir(data.path);
  expect(abandoned).toMatch(/^postgres-/);

  // The programs that create the cluster outlive the killed process and exit on their own.
  const gateway = await startChildGateway({ DATA_DIR: data.path, ...openKeys });
  expect(await readdir(data.path)).toEqual(['postgres']);
  expect(await gateway.end('SIGINT')).toBe(0);
  await rm(path.join(data.path, 'postgres'), { recursive: true });

  const interrupted = await begin();
  interrupted.child.kill('SIGINT');
  expect(await interrupted.exited).toEqual([0, null]);
  const left = await readdir(data.path);
  expect(left.filter((name) => name !== 'postgres')).toEqual([]);
  await data.remove();
});

test('shell variables for another Postgres do not affect the embedded server', async () => {
  const data = await temporaryDataDirectory();
  const shell = {
    ...{ PGSSLMODE: 'require', PGOPTIONS: '-c search_path=elsewhere', PGHOST: 'db.invalid', PGPORT: '1' },
    ...{ PGUSER: 'ada', PGPASSWORD: 'wrong', PGDATABASE: 'other', PGAPPNAME: 'psql', PGCLIENT_ENCODING: 'LATIN1' },
  };
  const gateway = await startChildGateway({ DATA_DIR: data.path, ...shell });
  expect(await connect(gateway.url, '', sandbox).ask('{ viewer { kind } }')).toEqual({ viewer: { kind: 'PLATFORM' } });
  const { status, stdout } = runScript('src/commands.ts', ['ops', 'audit'], { DATA_DIR: data.path, ...shell });
  expect([status, stdout]).toEqual([0, expect.stringContaining('The ledger is sound')]);
  expect(await gateway.end('SIGTERM')).toBe(0);
  await data.remove();
});

test('a port that is in use stops startup and is named, and no process keeps running', async () => {
  const other = createServer();
  const port = await listen(other);
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
    `Invalid settings:\n  - PORT ${port} of 127.0.0.1 is in use by another process: stop it, or set another PORT\n`,
  );
  expect(status).toBe(1);

  await expect(startTestGateway({ PORT: port }, database.url)).rejects.toThrow(`PORT ${port}`);
  const left = `select count(*)::int as count from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
  const probe = await openClient(database.url);
  await vi.waitFor(async () => expect((await probe.query(left)).rows).toEqual([{ count: 0 }]), 60_000);
  await probe.end();
  await database.drop();
  other.close();
});

describe('npm run ops -- platform', () => {
  test('creates a platform, prints its token once and changes its limits; the fixed sandbox token is refused', async () => {
    const database = await freshDatabase();
    const ops = (...args: string[]) => runScript('src/commands.ts', ['ops', ...args], { DATABASE_URL: database.url });
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
    await probe.end();
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
    await database.drop();
  });
});

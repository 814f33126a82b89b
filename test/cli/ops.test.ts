import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { keyId, SecretBox, sealedWith } from '../../src/core/secret-box.ts';
import { openDatabase } from '../../src/infra/database/database.ts';
import { makeServingLogin, servingUrl } from '../../src/infra/database/embedded/serving-login.ts';
import { checkKeys, listKeysInUse } from '../../src/server/start/keys-in-use.ts';
import { emptyDatabase } from '../setup/database.ts';
import { connect, type Data, ownClient, testGateway } from '../setup/gateway.ts';
import { waitForLocks } from '../setup/locks.ts';
import { askOps, type OpsResult, runOps, typeIn } from '../setup/ops.ts';

const [firstKey, secondKey] = [randomBytes(32), randomBytes(32)];
const [firstId, secondId] = [keyId('SECRET_KEY', firstKey), keyId('SECRET_KEY', secondKey)];

const t = await testGateway({ SECRET_KEY: firstKey });
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

type Environment = Readonly<Record<string, string>>;
const secret = { SECRET_KEY: firstKey.toString('base64') };

const ops = (args: readonly string[], environment?: Environment) =>
  runOps(t.databaseUrl, args, { ...secret, ...environment });

const answer = (args: readonly string[], environment?: Environment): Promise<Data> =>
  askOps(t.databaseUrl, args, { ...secret, ...environment });

async function refusal(args: readonly string[], environment?: Environment): Promise<string> {
  const { code, out, err } = await ops(args, environment);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  return err;
}

test('the policy commands list what is left of each limit, and the payments waiting for approval by a second person', async () => {
  expect(await ops(['policy', 'list', 'test'])).toMatchObject({ code: 0, out: 'The platform test has no policy.' });
  expect((await ops(['policy', 'held', 'test'])).out).toBe('No payment of the platform test is waiting for approval.');
  const scene = await t.platform.makeScene();
  const clerk = await t.platform.serverOf('VIEW', 'TRANSACT');
  const limits = [
    { period: 'DAY', currency: 'USD', amount: { decimal: '500.00' } },
    { period: 'MONTH', payments: 20 },
  ];
  const approval = { above: [{ currency: 'USD', amount: { decimal: '100.00' } }] };
  const rest = { kinds: ['TRANSFER_OUT'], receiverCountries: ['US'], hoursFrom: '00:00', hoursTo: '24:00' };
  await t.platform.succeed('setPolicy', { subjectId: clerk.tokenId, limits, approval, ...rest });
  await clerk.pay(scene, 10_000);
  const { id } = await clerk.pay(scene, 10_001);
  expect(await answer(['policy', 'list', 'test'])).toMatchObject([
    {
      ...{ subject: clerk.tokenId, kinds: ['TRANSFER_OUT'], receivers: ['US'], hours: '00:00-24:00', timeZone: 'UTC' },
      ...{ left: ['DAY 299.99 USD of 500.00 USD', 'MONTH 18 of 20 payments'], approval: ['above 100.00 USD'] },
    },
  ]);
  const held = { transaction: id, amount: '100.01 USD', customer: scene.customerId, askedBy: clerk.tokenId };
  expect(await answer(['policy', 'held', 'test'])).toEqual([{ ...held, until: expect.any(String) }]);
});

describe('the commands about rails', () => {
  test("read a platform's connection from standard input, store it encrypted, and say what cannot be checked", async () => {
    typeIn('{"baseUrl":"https://upstream.example/2025-10-13","clientId":"a","secret":"hidden"}');
    expect(await answer(['rails', 'connect', 'test'])).toEqual({ connected: 'test' });
    const { rows } = await t.owner.query('select sealed from rail_connection');
    expect(rows).toHaveLength(1);
    expect(sealedWith(rows[0].sealed)).toBe(firstId);
    expect(rows[0].sealed.toString('latin1')).not.toContain('hidden');
    expect(await refusal(['rails', 'check', 'test'])).toBe('The rail sandbox has no connection to check.');
    expect(await refusal(['rails', 'connect', 'nobody'])).toBe('There is no platform named "nobody".');
    // Another test retires the key, so nothing encrypted with it may remain.
    await t.owner.query('delete from rail_connection');
  });

  test("list the contradictions in rails' reports, and refuse to close a contradiction that is not open", async () => {
    expect((await ops(['cases', 'list'])).out).toBe('There are no open cases.');
    const id = 'Transaction:0197f2a0-0000-7000-8000-000000000001';
    const close = ['cases', 'close', id, '--by', 'Ada', '--reason', 'checked'];
    expect(await refusal(close)).toBe(`${id} has no open case`);
  });
});

describe('the command line', () => {
  test('has help for every command, and exits with 2 for wrong arguments', async () => {
    const help = await ops(['--help']);
    expect(help.code).toBe(0);
    const names = [...help.out.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name ?? '');
    expect(names).toEqual(
      expect.arrayContaining(['doctor', 'config', 'migrate', 'platform', 'token', 'suspense', 'audit', 'keys']),
    );
    for (const name of names.filter((one) => one !== 'help')) {
      const { code, out } = await ops([name, '--help']);
      expect(code).toBe(0);
      expect(out).toContain(`Usage: npm run ops -- ${name}`);
    }
    const wrong = [[], ['platforms'], ['token', 'issue', 'test', '--name', 'x', '--permissions', 'ALL'], ['keys']];
    for (const args of wrong) {
      const { code, out, err } = await ops(args);
      expect([args, code, out]).toEqual([args, 2, '']);
      expect(err).toContain('Usage:');
    }
  });

  test('migrates only with the migrate command', async () => {
    const empty = await emptyDatabase();
    const environment = { DATABASE_URL: empty.url, NODE_ENV: 'development' };
    expect(await refusal(['platform', 'list'], environment)).toMatch(/lacks the migrations? .*npm run migrate/);
    const owner = { NODE_ENV: 'production', DATABASE_URL: '', DATABASE_OWNER_URL: empty.url };
    const migrated = await ops(['migrate'], owner);
    expect(migrated).toMatchObject({ code: 0, out: expect.stringMatching(/^Applied \d{14}_init/) });
    expect(await answer(['migrate'], environment)).toEqual({ applied: [], pooled: false });
    await makeServingLogin(empty.url);
    expect(await refusal(['migrate'], { DATABASE_URL: servingUrl(empty.url) })).toBe(
      "The login gateway may not apply migrations: use a connection URL for the tables' owner (DATABASE_OWNER_URL).",
    );
    expect(await answer(['platform', 'list'], environment)).toEqual([]);
  });

  test('prints a table for people and JSON for machines, with the same contents', async () => {
    const [platform] = (await answer(['platform', 'list'])) as Data[];
    expect(platform).toMatchObject({ name: 'test', environment: 'SANDBOX', id: `Platform:${t.platform.platformId}` });
    const { code, out } = await ops(['platform', 'list']);
    const [head, row] = out.split('\n');
    expect(code).toBe(0);
    expect(head?.split(/ {2,}/)).toEqual(['name', 'environment', 'id', 'umaDomain', 'createdAt']);
    expect(row?.split(/ {2,}/)).toEqual(Object.values(platform));
    const again = await ops(['--json', 'platform', 'create', 'test']);
    expect(again).toMatchObject({ code: 1, err: '' });
    const error = 'a platform named "test" already exists (CONFLICT)';
    expect(JSON.parse(again.out)).toEqual({ error, code: 'CONFLICT' });
  });
});

test('tokens are issued, listed and revoked, but the last one with MANAGE cannot be revoked', async () => {
  await t.newPlatform('tokens');
  const [first] = (await answer(['token', 'list', 'tokens'])) as Data[];
  const permissions = ['--permissions', 'VIEW', '--permissions', 'MANAGE'];
  const issued = await answer(['token', 'issue', 'tokens', '--name', 'second', ...permissions]);
  const { viewer } = await connect(t.url, '', issued.authorization).ask('{ viewer { permissions } }');
  expect(viewer.permissions).toEqual(['VIEW', 'MANAGE']);
  const listed = await answer(['token', 'list', 'tokens']);
  expect(listed.map(({ id, name }: Data) => [id, name])).toEqual([
    [first.id, 'first token'],
    [issued.id, 'second'],
  ]);
  expect(JSON.stringify(listed)).not.toContain(issued.secret);

  expect(await answer(['token', 'revoke', 'tokens', issued.id])).toMatchObject({ revokedId: issued.id });
  expect(await refusal(['token', 'revoke', 'tokens', first.id])).toContain('last token with MANAGE');
  expect((await answer(['token', 'list', 'tokens'])).map(({ id }: Data) => id)).toEqual([first.id]);
  expect((await ops(['token', 'list', 'nobody'])).err).toBe('There is no platform named "nobody".');
});

test('settings are printed with their sources, and without secrets', async () => {
  const environment = {
    DATABASE_URL: 'postgres://gateway:hidden-password@db.example/payments?sslmode=verify-full&password=hidden-too',
    ...{ PORT: '4321', TRUSTED_PROXIES: '10.0.0.0/8,::1', RATE_LIMIT_PLATFORM: '100/500' },
    RAILS: '{"PRODUCTION": {"module": "acme", "settings": {"apiKey": "hidden-key"}}}',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector:hidden@otel.example',
  };
  const rows: Data[] = await answer(['config', 'print'], environment);
  const row = (setting: string) => rows.find((one) => one.setting === setting);
  expect(row('PORT')).toEqual({ setting: 'PORT', value: '4321', from: 'environment' });
  expect([row('TRUSTED_PROXIES').value, row('RATE_LIMIT_PLATFORM').value]).toEqual(['10.0.0.0/8, ::1/128', '100/500']);
  expect(row('HOST')).toEqual({ setting: 'HOST', value: '127.0.0.1', from: 'default' });
  expect(row('DATABASE_URL').value).toBe('postgres://gateway:***@db.example/payments?sslmode=verify-full&password=***');
  expect(row('SECRET_KEY').value).toBe(`the key with the id ${firstId}`);
  const { out } = await ops(['config', 'print'], environment);
  for (const secret of ['hidden', firstKey.toString('base64'), 'a key that only tests use']) {
    expect(out + JSON.stringify(rows)).not.toContain(secret);
  }
});

test('blocked sessions are shown as a tree, with statements, durations and the cost of ending them', async () => {
  expect((await ops(['blocked'])).out).toBe('No session is waiting for a lock.');
  const person = await ownClient(t.databaseUrl, { application_name: 'psql' });
  await person.query('begin');
  await person.query('lock table api_token');
  const asked = t.platform.send('{ viewer { kind } }');
  let shown: OpsResult;
  do shown = await ops(['blocked']);
  while (shown.out === 'No session is waiting for a lock.');
  const [holder, advice, waiting] = shown.out.split('\n');
  expect(holder).toMatch(
    /^process \d+ \(psql, login postgres\), whose transaction has been open for \d+ s: idle in transaction after "lock table api_token"$/,
  );
  expect(advice).toMatch(/^ {2}To end it: select pg_terminate_backend\(\d+\)\. Its uncommitted changes are lost/);
  expect(waiting).toMatch(
    /^ {2}process \d+ \(payments-gateway \S+ \S+:\d+, login gateway\).*"\w+", has waited for AccessShareLock on api_token for \d+ s$/,
  );
  await person.query('rollback');
  await asked;
});

test('the doctor exits with 1 if it finds a fault, and commands without a database print a single sentence', async () => {
  const owner = { DATABASE_URL: t.databaseUrl, CORS_ORIGINS: '*', ALLOW_UNSAFE: 'loopback-webhooks' };
  const { code, out } = await ops(['--json', 'doctor'], owner);
  expect(code).toBe(1);
  expect(JSON.parse(out)).toEqual(
    expect.arrayContaining([
      { check: 'settings', result: 'fault', detail: expect.stringContaining('CORS_ORIGINS is *') },
      { check: 'login', result: 'fault', detail: expect.stringContaining('is a superuser') },
    ]),
  );
  const away = { DATABASE_URL: 'postgres://127.0.0.1:1/none' };
  const said = /^DATABASE_URL does not lead to a usable database: nothing answers .*\.$/;
  for (const command of ['audit', 'blocked', 'platform list', 'restored --yes', 'migrate', 'keys list'])
    expect(await refusal(command.split(' '), away)).toMatch(said);
});

test("the commands list and retry a payment's orders, replay its webhooks, and print its account's statement", async () => {
  const scene = await t.platform.makeScene();
  const slow = { sandboxScenario: { delayMs: 600_000 } };
  const transaction = await t.platform.pay(scene, 10_000, slow);
  const listed: Data[] = await answer(['order', 'list']);
  const order = listed.find((one) => one.transaction === transaction.id);
  expect(order).toMatchObject({ status: 'PENDING', platform: 'test' });
  const ofStatus = async (status: string) =>
    (await answer(['order', 'list', '--platform', 'test', '--status', status])).map((one: Data) => one.transaction);
  expect(await ofStatus('PENDING')).toContain(transaction.id);
  expect(await ofStatus('COMPLETED')).not.toContain(transaction.id);
  expect((await ops(['order', 'list', '--status', 'GONE'])).code).toBe(2);
  await t.platform.pay(scene, 10_000, slow);
  expect((await ops(['order', 'list', '--limit', '1'])).out).toMatch(/Showing 1 of \d+: use --limit to list more\./);
  expect(await answer(['order', 'retry', transaction.id])).toEqual({ transaction: transaction.id, orders: 1 });
  expect((await ops(['order', 'retry', 'Transaction:0190f0f0-0000-7000-8000-000000000000'])).code).toBe(1);

  const from = '2020-01-01T00:00:00Z';
  const to = '2100-01-01T00:00:00Z';
  const csv = await ops(['statement', scene.usd, '--from', from, '--to', to]);
  expect(csv).toMatchObject({ code: 0, err: '' });
  expect(csv.out.split('\r\n')[0]).toBe('occurredAt,entryId,kind,transactionId,reference,amount,currency,balance');
  expect(csv.out).toContain(transaction.id);
  const { entries, closingBalance } = await answer(['statement', scene.usd, '--from', from, '--to', to]);
  expect(entries.at(-1).balance).toBe(closingBalance);
  expect((await ops(['statement', scene.usd, '--from', 'yesterday', '--to', to])).code).toBe(2);

  const endpoint = { url: 'https://hooks.acme.com/', eventTypes: ['OUTGOING_PAYMENT'] };
  const { id } = (await t.platform.act('createWebhookEndpoint', endpoint, 'secret endpoint { id }')).endpoint;
  expect(await answer(['webhook', 'list', 'test'])).toMatchObject([{ id, status: 'ENABLED' }]);
  const unknown = ['webhook', 'replay', 'test', id, '--event', 'Event:0190f0f0-0000-7000-8000-000000000000'];
  expect(await refusal(unknown)).toBe('no such event (EVENT_NOT_FOUND)');
  await t.platform.act('deleteWebhookEndpoint', { endpointId: id }, 'deletedId');
});

const config = (SECRET_KEY: Buffer | undefined, ...SECRET_KEY_FALLBACKS: Buffer[]) => ({
  NODE_ENV: 'production' as const,
  SECRET_KEY,
  SECRET_KEY_FALLBACKS,
  CLIENT_TOKEN_KEY: undefined,
  CLIENT_TOKEN_KEY_FALLBACKS: [],
});

test('an instance that lacks a key in use does not start, and a replaced key can be retired', async () => {
  const database = openDatabase({ url: servingUrl(t.databaseUrl), role: 'gateway_serving', poolSize: 2 });
  const endpoint = { url: 'https://hooks.acme.com/', eventTypes: ['OUTGOING_PAYMENT'] };
  const made = await t.platform.act('createWebhookEndpoint', endpoint, 'secret endpoint { id }');
  await t.platform.act('rotateWebhookSecret', { endpointId: made.endpoint.id }, 'secret');

  expect(await checkKeys(database, config(firstKey, secondKey))).toEqual([]);
  expect(await checkKeys(database, config(undefined))).toEqual([]);
  await expect(checkKeys(database, config(secondKey))).rejects.toThrow(
    `SECRET_KEY has the id ${secondId}, but instances on this database use the key with the id ${firstId}`,
  );
  const lenient = { ...config(secondKey), NODE_ENV: 'development' as const };
  expect(await checkKeys(database, lenient)).toEqual([expect.stringContaining(`retire ${firstId}`)]);
  expect(await checkKeys(database, config(secondKey, firstKey))).toEqual([]);
  expect((await listKeysInUse(database)).map(({ keyId: id }) => id).sort()).toEqual([firstId, secondId].sort());
  await database.close();

  const settings = { SECRET_KEY: secondKey.toString('hex'), SECRET_KEY_FALLBACKS: firstKey.toString('base64') };
  expect(await answer(['keys', 'list'], settings)).toMatchObject(
    expect.arrayContaining([
      expect.objectContaining({ id: firstId, here: 'fallback' }),
      expect.objectContaining({ id: secondId, here: 'in use' }),
    ]),
  );
  expect((await ops(['keys', 'retire', secondId], settings)).err).toContain('set a new key first');
  const without = { ...settings, SECRET_KEY_FALLBACKS: '' };
  expect((await ops(['keys', 'retire', firstId], without)).err).toContain('must be encrypted again');
  const retired = { retired: firstId, setting: 'SECRET_KEY', reencryptedEndpoints: 1, reencryptedConnections: 0 };
  expect(await answer(['keys', 'retire', firstId], settings)).toEqual(retired);
  const { rows } = await t.owner.query('select platform_id, id, secret, previous_secret from webhook_endpoint');
  const [row] = rows;
  expect([sealedWith(row.secret), sealedWith(row.previous_secret)]).toEqual([secondId, secondId]);
  const box = new SecretBox(secondKey);
  expect(box.open(row.previous_secret, `webhook_endpoint:${row.platform_id}:${row.id}`)).toBe(made.secret);
  expect((await answer(['keys', 'list'], without)).map(({ id }: Data) => id)).toEqual([secondId]);

  expect(await refusal(['rails', 'connect', 'test'], { SECRET_KEY: firstKey.toString('hex') })).toBe(
    `SECRET_KEY has the id ${firstId}, but instances on this database use the key with the id ${secondId}: set that key, or add it to SECRET_KEY_FALLBACKS. If it is no longer needed: npm run ops -- keys retire ${secondId}`,
  );
});

test('of two operators who retire a key at the same time, the second is told that it has been retired', async () => {
  const holder = await ownClient(t.databaseUrl);
  await holder.query("insert into key_in_use (setting, key_id) values ('CLIENT_TOKEN_KEY', 'deadbeef')");
  await holder.query('begin; lock table key_in_use in share mode');
  const both = Promise.all([1, 2].map(() => ops(['keys', 'retire', 'deadbeef'])));
  await waitForLocks(holder, 2);
  await holder.query('commit');
  expect((await both).map(({ code, err }) => `${code} ${err}`).sort()).toEqual([
    '0 ',
    '1 The key deadbeef has been retired in the meantime.',
  ]);
});

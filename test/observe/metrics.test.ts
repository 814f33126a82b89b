import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { stepLock } from '../../src/domain/events/sequencer.ts';
import { servingUrl } from '../../src/infra/database/embedded/serving-login.ts';
import { alertsIn, rulesFiles } from '../alerts/prometheus.ts';
import { stagedFaults } from '../alerts/staged-faults.ts';
import { moving, usdToEur } from '../setup/acts.ts';
import { ownClient, startTestGateway, testGateway } from '../setup/gateway.ts';
import { runOps } from '../setup/ops.ts';

const t = await testGateway({ METRICS_PORT: 0 });
const scene = await t.platform.makeScene(1_000_000n);

const scrape = async () => (await fetch(`${t.gateway.metricsUrl}/metrics`)).text();

async function seriesOf(series: string): Promise<number | undefined> {
  const line = (await scrape()).split('\n').find((candidate) => candidate.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

const transfer = (amount: number, idempotencyKey: string = crypto.randomUUID()) =>
  moving(scene.usd, scene.outsideUsd, amount, { idempotencyKey });

test('the port that serves the APIs does not serve metrics', async () => {
  expect((await fetch(`${t.url}/metrics`)).status).toBe(404);
  const live = await fetch(`${t.gateway.metricsUrl}/health/live`);
  const ready = await fetch(`${t.gateway.metricsUrl}/health/ready`);
  expect([live.status, ready.status]).toEqual([200, 200]);
});

const rest = (path: string) =>
  fetch(`${t.url}/2025-10-13${path}`, { headers: { authorization: t.platform.authorization } });
const commands = (operation: string, outcome: string) => ['commands_total', { operation, outcome }] as const;
const requests = (api: string, operation: string, code: string) =>
  ['request_seconds_count', { api, operation, code }] as const;
const againTransfer = () => t.platform.succeed('transferOut', transfer(100, 'again'));
const newToken = { name: 'a', permissions: ['VIEW'] };

test.each<[string, ReturnType<typeof commands | typeof requests>, () => Promise<unknown>]>([
  ['a successful command', commands('transferOut', 'done'), () => t.platform.succeed('transferOut', transfer(100))],
  ['a repeat', commands('transferOut', 'replayed'), () => againTransfer().then(againTransfer)],
  [
    'a refusal, by its code',
    commands('transferOut', 'INSUFFICIENT_BALANCE'),
    () => t.platform.act('transferOut', transfer(900_000_000)),
  ],
  [
    'an execution',
    commands('executeQuote', 'done'),
    async () => t.platform.execute((await t.platform.quote(usdToEur(scene))).id),
  ],
  ['a plain record', commands('createApiToken', 'done'), () => t.platform.succeed('createApiToken', newToken)],
  ['a query', requests('graphql', 'query customers', 'ok'), () => t.platform.ask('{ customers { totalCount } }')],
  [
    'an error of a query, by its code',
    requests('graphql', 'query customers', 'INVALID_INPUT'),
    () => t.platform.send('{ customers(after: "nonsense") { totalCount } }'),
  ],
  [
    'a REST request, by the path of its endpoint',
    requests('rest', 'GET /2025-10-13/customers/:customerId', '200'),
    () => rest(`/customers/${scene.customerId}`),
  ],
  [
    'a request for an unknown path, without the path',
    requests('rest', 'GET none', '404'),
    () => rest('/of-a-stranger/4711'),
  ],
])('counts %s', async (_name, [metric, labels], work) => {
  // The order of labels depends on the library.
  const parts = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const counted = async () => {
    const lines = (await scrape()).split('\n').filter((line) => line.startsWith(`payments_${metric}{`));
    const series = lines.find((line) => parts.every((part) => line.includes(part)));
    return Number(series?.split(' ').at(-1) ?? 0);
  };
  const before = await counted();
  await work();
  expect(await counted()).toBe(before + 1);
});

test('no label contains an id, and the number of series does not grow with the number of requests', async () => {
  const series = async () => (await scrape()).split('\n').filter((line) => line.startsWith('payments_')).length;
  const ask = async () => {
    await Promise.all([rest(`/customers/${scene.customerId}`), rest(`/customers/${crypto.randomUUID()}`)]);
    await t.platform.send(`query Named_${crypto.randomUUID().slice(0, 8)} { a: customers { totalCount } }`);
    await t.platform.send(`{ nothing_${crypto.randomUUID().slice(0, 8)} }`);
  };
  await ask();
  const before = await series();
  for (let i = 0; i < 5; i++) await ask();
  expect(await series()).toBe(before);
  expect(await scrape()).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
});

test('database metrics are current, and show the events in a stuck outbox and their age', async () => {
  await vi.waitFor(async () => expect(await seriesOf('payments_database_outbox_events')).toBe(0), 60_000);
  expect(await seriesOf('payments_database_up')).toBe(1);
  const owner = await t.owner.connect();
  await owner.query('select pg_advisory_lock($1)', [stepLock]);
  await t.platform.succeed('transferOut', transfer(100));
  expect(await seriesOf('payments_database_outbox_events')).toBeGreaterThan(0);
  expect(await seriesOf('payments_database_outbox_oldest_seconds')).toBeGreaterThan(0);
  await owner.query('select pg_advisory_unlock($1)', [stepLock]);
  owner.release();
  await vi.waitFor(async () => expect(await seriesOf('payments_database_outbox_events')).toBe(0), 60_000);
});

test('metrics show a statement that is waiting for a connection, and count its request until the response ends', async () => {
  const { pool } = t.gateway.serving;
  // Other tests in this process may have left some requests in flight.
  const before = (await seriesOf('payments_requests_in_flight')) ?? 0;
  const taken = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
  const waiting = t.platform.ask('{ customers { totalCount } }');
  await vi.waitFor(async () => expect(await seriesOf('payments_pool_waiting{pool="serving"}')).toBe(1), 60_000);
  expect(await seriesOf('payments_requests_in_flight')).toBe(before + 1);
  for (const client of taken) client.release();
  await waiting;
  await vi.waitFor(async () => expect(await seriesOf('payments_requests_in_flight')).toBe(before), 60_000);
});

test("metrics show the age of the login's oldest transaction", async () => {
  const holder = await ownClient(servingUrl(t.databaseUrl));
  await holder.query('begin isolation level repeatable read');
  const { rows } = await holder.query('select extract(epoch from clock_timestamp() - now())::float8 as age');
  expect(await seriesOf('payments_database_oldest_snapshot_seconds')).toBeGreaterThan(rows[0].age);
  await holder.query('rollback');
  // A transaction that has written also prevents old rows from being removed, even if it holds no snapshot.
  await holder.query('begin; create temporary table mine ()');
  const written = await holder.query('select extract(epoch from clock_timestamp() - now())::float8 as age');
  expect(await seriesOf('payments_database_oldest_snapshot_seconds')).toBeGreaterThan(written.rows[0].age);
});

test('metrics show lock waits on any table, the retained write-ahead log and the share of transaction ids used', async () => {
  const blocked = () => seriesOf('payments_database_blocked_sessions');
  // The gateway's own background work may briefly wait for locks.
  await vi.waitFor(async () => expect(await blocked()).toBe(0), 60_000);
  const [holder, waiting] = [await ownClient(t.databaseUrl), await ownClient(t.databaseUrl)];
  // The metrics must be available even though their queries also read this table.
  await holder.query('begin; lock table rail_order');
  const waits = waiting.query('select from rail_order');
  await vi.waitFor(async () => expect(await blocked()).toBeGreaterThan(0), 60_000);
  await holder.query('rollback');
  await waits;
  await vi.waitFor(async () => expect(await seriesOf('payments_database_up')).toBe(1), 60_000);
  expect(await seriesOf('payments_database_slot_kept_bytes')).toBeGreaterThanOrEqual(0);
  expect(await seriesOf('payments_database_transaction_numbers_used_ratio')).toBeLessThan(0.5);
  expect(await seriesOf('payments_database_size_bytes')).toBeGreaterThan(1_000_000);
});

test('metrics show when the last audit finished, and how many rules it found broken', async () => {
  const audited = async () => ({
    at: await seriesOf('payments_database_audit_last_timestamp_seconds'),
    broken: await seriesOf('payments_database_audit_broken_rules'),
  });
  const spoil = (by: number) =>
    t.owner.query(`begin; set local session_replication_role = replica;
      update account set posted = posted + ${by} where posted > 0; commit`);
  expect(await audited()).toEqual({ at: 0, broken: 0 });
  await spoil(1);
  expect(await runOps(t.databaseUrl, ['audit'])).toMatchObject({ code: 1 });
  const unsound = await audited();
  expect(unsound).toEqual({ at: expect.any(Number), broken: expect.any(Number) });
  expect(unsound.broken).toBeGreaterThan(0);
  await spoil(-1);
  expect(await runOps(t.databaseUrl, ['audit'])).toMatchObject({ code: 0 });
  const sound = await audited();
  expect(sound.broken).toBe(0);
  expect(sound.at).toBeGreaterThan(unsound.at ?? 0);
  const { rows } = await t.owner.query('select extract(epoch from now())::float8 - $1 as age', [sound.at]);
  expect(rows[0].age).toBeGreaterThanOrEqual(0);

  // An audit that continues from the last one does not check all rows.
  const full = () => seriesOf('payments_database_audit_full_last_timestamp_seconds');
  const fullAt = await full();
  expect(fullAt).toBe(sound.at);
  expect(await runOps(t.databaseUrl, ['audit'])).toMatchObject({ code: 0 });
  expect((await audited()).at).toBeGreaterThan(sound.at ?? 0);
  expect(await full()).toBe(fullAt);
  expect(await runOps(t.databaseUrl, ['audit', '--full'])).toMatchObject({ code: 0 });
  expect(await full()).toBeGreaterThan(fullAt ?? 0);
});

test('a series whose increase triggers an alert exists before it first increases', async () => {
  const text = await scrape();
  const loops = (metric: string) =>
    [...text.matchAll(new RegExp(`^${metric}{loop="([^"]+)"}`, 'gm'))].map(([, loop]) => loop);
  expect(loops('payments_loop_failures_total')).toContain('housekeeping');
  expect(loops('payments_loop_last_success_timestamp_seconds')).toEqual(loops('payments_loop_failures_total'));
  expect(text).toMatch(/^payments_early_refusals_total{code="SERVICE_UNAVAILABLE"} /m);
  expect(text).toMatch(/^payments_lost_races_total{result="gave_up"} /m);
});

test('alerts and panels name only existing metrics, and each metric has a panel', async () => {
  // An instance with a replica also has metrics for the replica, even if the replica cannot be reached.
  const nowhere = { DATABASE_READ_URL: ['postgres://127.0.0.1:1/none'] };
  const other = await startTestGateway({ ROLE: 'serve', METRICS_PORT: 0, ...nowhere }, t.databaseUrl);
  const ofReplica = await (await fetch(`${other.gateway.metricsUrl}/metrics`)).text();
  await other.stop();
  const there = new Set([...`${await scrape()}${ofReplica}`.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  const named = ['alerts.yml', 'dashboard.json'].flatMap((file) =>
    [...readFileSync(`deploy/prometheus/${file}`, 'utf8').matchAll(/\b((?:payments|nodejs|process)_\w+)/g)].map(
      ([, name = '']) => name.replace(/_(bucket|count|sum)$/, ''),
    ),
  );
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((name) => !there.has(name))).toEqual([]);
  const dashboard = readFileSync('deploy/prometheus/dashboard.json', 'utf8');
  const own = [...there].filter((name = '') => name.startsWith('payments_'));
  expect(own.filter((name = '') => !dashboard.includes(name))).toEqual([]);
});

test('the soak stages a fault for each alert, and docs/faults.md reports the results', () => {
  const alerts = rulesFiles.flatMap((file) => alertsIn(readFileSync(file, 'utf8')));
  const staged = new Set(Object.values(stagedFaults).flatMap((fault) => fault.alerts));
  expect(alerts.length).toBeGreaterThan(20);
  expect([...staged].sort()).toEqual([...alerts].sort());
  const page = readFileSync('docs/faults.md', 'utf8');
  for (const [name, { staged: how, alerts: seenBy }] of Object.entries(stagedFaults)) {
    const row = page.split('\n').find((line) => line.startsWith(`| **${name}**: ${how} |`)) ?? `no row of ${name}`;
    for (const alert of seenBy) expect(row).toContain(`\`${alert}\``);
  }
  const night = readFileSync('docs/night.md', 'utf8');
  expect(alerts.filter((alert) => !night.includes(`\`${alert}\``))).toEqual([]);
});

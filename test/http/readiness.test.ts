import { expect, test, vi } from 'vitest';
import { stepLock } from '../../src/domain/events/sequencer.ts';
import { testProxy } from '../setup/database-proxy.ts';
import { freePort } from '../setup/free-port.ts';
import { startTestGateway, testClient, testGateway } from '../setup/gateway.ts';

const standstillMs = 200;

const { database, proxy } = await testProxy();
const server = await testClient({ databaseUrl: database.url });
const t = await testGateway({ DATABASE_POOL: 2 }, proxy.url, {
  pace: { statementMs: 4_000, readiness: { standstillMs, sessionMs: 200, answerMs: 4_000 } },
});
const platform = await t.newPlatform('ready');

const good = { status: 'ok', database: true, writable: true, schema: true, feed: true };

async function statusAndBody() {
  const response = await fetch(`${t.url}/health/ready`);
  return [response.status, response.headers.get('retry-after'), await response.json()];
}

/** Takes every connection from the pool that serves requests. Returns a function that releases them. */
async function takeAllConnections(): Promise<() => void> {
  const { pool } = t.gateway.serving;
  const taken = [await pool.connect(), await pool.connect()];
  return () => {
    for (const client of taken) client.release();
  };
}

const untilReady = () => vi.waitFor(async () => expect(await statusAndBody()).toEqual([200, null, good]), 60_000);

test('a healthy instance is ready, even while every connection in its pool is taken', async () => {
  const release = await takeAllConnections();
  expect(await statusAndBody()).toEqual([200, null, good]);
  release();
});

test('every API asks callers to retry while no database connection is free', async () => {
  const customerId = await platform.newCustomer();
  const release = await takeAllConnections();
  const [list, refused, query] = await Promise.all([
    fetch(`${t.url}/2025-10-13/customers`, { headers: { authorization: platform.authorization } }),
    platform.act('createClientToken', { boundTo: { customerId }, permissions: ['VIEW'] }),
    platform.send('{ customers { edges { node { id } } } }'),
  ]);
  expect(await list.json()).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
  expect(refused).toMatchObject({ __typename: 'UnavailableError', code: 'SERVICE_UNAVAILABLE' });
  expect(query.errors?.[0]?.extensions).toEqual({ code: 'SERVICE_UNAVAILABLE', retryAfter: 1 });
  release();
});

test('an instance is unready if the database does not respond in time', async () => {
  await untilReady();
  proxy.stallOn(/./s);
  expect(await statusAndBody()).toEqual([
    503,
    '1',
    { status: 'unavailable', database: false, writable: false, schema: false, feed: false },
  ]);
  proxy.goOn();
  await untilReady();
});

test('an instance is unready while the database is read-only, and ready once it is writable', async () => {
  const name = new URL(database.url).pathname.slice(1);
  await server.query(`alter database ${name} set default_transaction_read_only = on`);
  await server.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name like '% readiness %'`,
    [name],
  );
  await vi.waitFor(async () => expect(await statusAndBody()).toMatchObject([503, '1', { writable: false }]), 60_000);
  await server.query(`alter database ${name} reset default_transaction_read_only`);
  await untilReady();
});

test('an instance is unready if the database has a different schema', async () => {
  await server.query(`update _prisma_migrations set checksum = reverse(checksum)`);
  expect(await statusAndBody()).toMatchObject([503, '1', { database: true, writable: true, schema: false }]);
  await server.query(`update _prisma_migrations set checksum = reverse(checksum)`);
  await server.query('alter function oldest_waiting() rename to oldest_waiting_before');
  expect(await statusAndBody()).toMatchObject([503, '1', { database: true, schema: false }]);
  await server.query('alter function oldest_waiting_before() rename to oldest_waiting');
  await untilReady();
});

test('an instance is unready if it lacks permission to call a command function, or if the function fails', async () => {
  for (const [broken, whole] of [
    [
      'revoke execute on function commit_batches from gateway_serving',
      'grant execute on function commit_batches to gateway_serving',
    ],
    [
      'revoke execute on function find_api_token from gateway_serving',
      'grant execute on function find_api_token to gateway_serving',
    ],
    ['alter function check_plan rename to check_plan_before', 'alter function check_plan_before rename to check_plan'],
  ] as const) {
    await server.query(broken);
    expect(await statusAndBody()).toMatchObject([503, '1', { database: true, schema: false }]);
    await server.query(whole);
    await untilReady();
  }
});

test('a locked table does not make an instance unready', async () => {
  await untilReady();
  await server.query('begin; lock table idempotency_record, customer, account, api_token');
  expect(await statusAndBody()).toEqual([200, null, good]);
  await server.query('rollback');
});

test('an instance is unready if the server refuses new sessions, even if open sessions still work', async () => {
  await untilReady();
  const name = new URL(database.url).pathname.slice(1);
  await server.query(`alter role gateway in database ${name} set session_preload_libraries = 'not_there'`);
  await vi.waitFor(async () => expect(await statusAndBody()).toMatchObject([503, '1', { database: false }]), 60_000);
  await server.query(`alter role gateway in database ${name} reset session_preload_libraries`);
  await untilReady();
});

test('a stalled feed is reported, but does not make an instance unready', async () => {
  // While this connection holds the sequencer's lock, no sequencer can proceed.
  await server.query('select pg_advisory_lock($1)', [stepLock]);
  await server.query(
    `insert into outbox (platform_id, event_id, type, occurred_at, version, snapshot)
     select id, uuid_v7(), 'TEST', now(), 1, '{}' from platform limit 1`,
  );
  expect(await statusAndBody()).toEqual([200, null, good]);
  await vi.waitFor(
    async () => expect(await statusAndBody()).toEqual([200, null, { ...good, status: 'degraded', feed: false }]),
    { timeout: 60_000, interval: standstillMs / 2 },
  );
  await server.query('select pg_advisory_unlock($1)', [stepLock]);
  await untilReady();
});

test('the metrics port reports readiness only while the instance accepts requests', async () => {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const ready = () =>
    fetch(`http://127.0.0.1:${metricsPort}/health/ready`).then(
      ({ status }) => status,
      () => undefined,
    );
  const settings = { PORT: port, METRICS_PORT: metricsPort, SHUTDOWN_DELAY_MS: 2_000 };
  const starting = startTestGateway(settings, database.url);
  while ((await ready()) !== 200);
  expect((await fetch(`http://127.0.0.1:${port}/health/live`)).status).toBe(200);
  const { gateway, owner } = await starting;
  const stopping = gateway.stop();
  expect(await ready()).toBe(503);
  expect((await fetch(`http://127.0.0.1:${port}/health/live`)).status).toBe(200);
  await stopping;
  await owner.end();
});

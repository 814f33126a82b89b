import pg from 'pg';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { servingUrl } from '../../src/infra/database/embedded/serving-login.ts';
import { readConfig } from '../../src/server/config.ts';
import { startGateway } from '../../src/server/gateway.ts';
import { openLog } from '../../src/server/observe/log.ts';
import { usdToEur } from '../setup/acts.ts';
import { secretKey } from '../setup/cursors.ts';
import { mutationDocument } from '../setup/documents.ts';
import { connect, type Data, testGateway } from '../setup/gateway.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';
import { ownReceiver } from '../webhooks/receiver.ts';

const lines: string[] = [];
const stream = { write: (line: string) => void lines.push(line) };
const parsed = (): Data[] => lines.map((line) => JSON.parse(line));
const lineWith = (message: string) =>
  vi.waitFor(() => expect(parsed().find(({ msg }) => msg === message)).toBeDefined(), { timeout: 60_000 });

const t = await testGateway({ ROLE: 'serve' });
const configOf = (environment: Readonly<Record<string, string>>) => ({
  ...readConfig({ NODE_ENV: 'test', PORT: '0', ACCESS_LOG: 'on', DATABASE_URL: t.databaseUrl, ...environment }),
  SECRET_KEY: Buffer.from(secretKey, 'hex'),
});
const start = (config: ReturnType<typeof configOf>) =>
  startGateway({ databaseUrl: servingUrl(t.databaseUrl), config, log: openLog('info', stream) });
const logging = await start({ ...configOf({ ROLE: 'serve' }), NODE_ENV: 'production' });
afterAll(() => logging.stop());
beforeEach(() => {
  lines.length = 0;
});

const platform = connect(logging.url ?? '', t.platform.platformId, t.platform.authorization);

/** Renames a database function while `work` runs, so that commands fail with internal errors instead of refusals. */
async function whileBroken(work: () => Promise<void>): Promise<void> {
  await t.owner.query('alter function commit_batches(jsonb) rename to commit_batches_away');
  try {
    await work();
  } finally {
    await t.owner.query('alter function commit_batches_away(jsonb) rename to commit_batches');
  }
}

const customer = {
  query: mutationDocument('createCustomer'),
  variables: {
    input: {
      idempotencyKey: 'logged',
      platformCustomerId: 'logged-customer',
      details: { individual: { fullName: 'Unlogged Person', birthDate: '1990-01-01', nationality: 'US' } },
    },
  },
};

describe('an error can be found in the log by the id in its response', () => {
  test('over HTTP, including by an id that a proxy assigned', async () => {
    await whileBroken(async () => {
      const response = await platform.post(customer, { 'x-request-id': 'from-the-proxy.1' });
      const { errors } = (await response.json()) as Data;
      expect(errors[0].extensions).toEqual({ code: 'INTERNAL_SERVER_ERROR', requestId: 'from-the-proxy.1' });
      expect(response.headers.get('x-request-id')).toBe('from-the-proxy.1');
    });
    const [line] = parsed().filter(({ msg }) => msg === 'a resolver failed');
    expect(line).toMatchObject({
      requestId: 'from-the-proxy.1',
      platform: t.platform.platformId,
      operation: 'mutation createCustomer',
      err: { type: 'DatabaseError', code: '42883', stack: expect.stringContaining('at ') },
    });
  });

  test('over a socket, where each operation has its own id', async () => {
    const ids = new Set<string>();
    await whileBroken(async () => {
      const socket = platform.socket();
      for (let count = 0; count < 2; count += 1) {
        for await (const { errors } of socket.iterate(customer)) ids.add(String(errors?.[0]?.extensions?.requestId));
      }
      await socket.dispose();
    });
    const logged = parsed().filter(({ msg }) => msg === 'a resolver failed');
    expect(logged.map(({ requestId }) => requestId)).toEqual([...ids]);
    expect(ids.size).toBe(2);
    expect(logged[0]).toMatchObject({ platform: t.platform.platformId, operation: 'mutation createCustomer' });
  });

  test('over REST', async () => {
    await whileBroken(async () => {
      const body = { platformCustomerId: 'logged', customerType: 'INDIVIDUAL', fullName: 'Unlogged Person' };
      const response = await platform.post(body, {}, '/2025-10-13/customers');
      expect(response.status).toBe(500);
      const requestId = response.headers.get('x-request-id');
      expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
      const [line] = parsed().filter(({ msg }) => msg === 'an endpoint failed');
      expect(line).toMatchObject({ requestId, operation: 'POST /2025-10-13/customers' });
    });
  });
});

test('a request id that could be used to forge log lines or headers is replaced', async () => {
  const response = await fetch(`${logging.url}/health/live`, { headers: { 'x-request-id': 'a "quoted" id' } });
  expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
});

test('the access log contains each request once, without its query, credentials or body', async () => {
  await platform.post(customer, {}, '/graphql?hidden-query');
  await lineWith('request');
  const [line] = parsed().filter(({ msg }) => msg === 'request');
  const measured = { status: expect.any(Number), ms: expect.any(Number), requestId: expect.any(String) };
  expect(line).toMatchObject({ method: 'POST', path: '/graphql', address: '127.0.0.1', ...measured });
  await platform.post({ query: '{ viewer { kind } }' });
  await expect.poll(() => parsed().filter(({ msg }) => msg === 'request')).toHaveLength(2);
  expect(parsed()[1]).toMatchObject({ status: 200, platform: t.platform.platformId, operation: 'query viewer' });
  expect(parsed()[1]).toMatchObject({ tokenId: (await t.owner.query('select id from api_token')).rows[0].id });
  for (const address of ['$hidden@uma.example', '%24hidden%40uma.example'])
    await fetch(`${logging.url}/2025-10-13/receiver/${address}`, {
      headers: { authorization: t.platform.authorization },
    });
  await expect.poll(() => parsed().filter(({ path }) => path === '/2025-10-13/receiver/…')).toHaveLength(2);
  const [, credentials = ''] = t.platform.authorization.split(' ');
  for (const secret of ['hidden', credentials, 'Unlogged Person']) expect(lines.join()).not.toContain(secret);
});

test('the log leads from a webhook to the request that caused it, and from the request to the webhook', async () => {
  const gateway = await start(configOf({ SANDBOX_PACE_MS: '20' }));
  const receiver = await ownReceiver();
  const client = connect(gateway.url ?? '', t.platform.platformId, t.platform.authorization);
  const scene = await client.makeScene();
  await createEndpoint(client, { url: receiver.url, eventTypes: ['OUTGOING_PAYMENT'] });
  const quoted = await client.quote(usdToEur(scene));
  const execution = { query: mutationDocument('executeQuote'), variables: { input: { quoteId: quoted.id } } };
  await client.post(execution, { 'x-request-id': 'the-execution' });
  await receiver.until((received) => received.some(({ body }) => body.transaction?.status === 'COMPLETED'));
  const lineOf = (requestId: string | undefined) => parsed().find((line) => line.requestId === requestId);
  const webhook = receiver.received.find(({ body }) => body.transaction?.status === 'COMPLETED');
  await expect.poll(() => lineOf(webhook?.headers['x-request-id'])).toBeDefined();
  expect(lineOf(webhook?.headers['x-request-id'])).toMatchObject({
    ...{ msg: 'webhook', status: 200, platform: t.platform.platformId, quote: quoted.id },
    ...{ transaction: webhook?.body.transaction.id, event: webhook?.body.eventId },
    requestId: expect.stringMatching(/^WebhookDelivery:[0-9a-f-]{36}:1$/),
  });
  const logged = { msg: 'request', operation: 'mutation executeQuote', made: [quoted.id] };
  expect(lineOf('the-execution')).toMatchObject(logged);
  await gateway.stop();
});

test('no error puts personal data or secrets into the log', async () => {
  const log = openLog('info', stream);
  const person = 'Nobody Of-That-Name';
  const { prisma } = t.gateway.payments.database;
  const failures = [
    () => t.owner.query(`select '${person}'::uuid`),
    () => t.owner.query(`create temp table people (name text primary key)`),
    () => t.owner.query('insert into people values ($1), ($1)', [person]),
    () => prisma.customer.findFirstOrThrow({ where: { platformCustomerId: person } }),
    () => prisma.customer.findFirstOrThrow({ where: { unknown: person } as object }),
    () => Promise.reject(new Error('outer', { cause: new pg.DatabaseError('x', 1, 'error') })),
  ];
  for (const fail of failures) await fail().catch((err: unknown) => log.error({ err }, 'failed'));
  log.info({ authorization: person, request: { headers: 1, password: person }, umaAddress: person }, 'hidden');
  expect(parsed().length).toBeGreaterThanOrEqual(6);
  expect(lines.join('\n')).not.toContain(person);
  expect(parsed().map(({ err }) => err?.code ?? err?.type)).toEqual(
    expect.arrayContaining(['22P02', '23505', 'P2025']),
  );
  expect(parsed().at(-1)).toMatchObject({ authorization: '[hidden]', request: { password: '[hidden]' } });
});

import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { makeScene } from '../setup/scene.ts';

let t: TestGateway;
beforeAll(async () => {
  t = await startTestGateway({ MAX_IN_FLIGHT: 1 });
});
afterAll(() => t.stop());

const transferOut = `mutation ($input: TransferOutInput!) { transferOut(input: $input) {
  ... on TransferOutSuccess { transaction { status } } ... on UserError { code message } } }`;

function post(query: string, accept = 'application/json'): Promise<Response> {
  const { authorization } = t.platform;
  return fetch(`${t.url}/graphql`, {
    method: 'POST',
    headers: { authorization, accept, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
}

test('one request too many is refused with 503 and Retry-After; when there is room again it is answered', async () => {
  const scene = await makeScene(t.platform, 10_000n);
  const holder = new pg.Client({ connectionString: t.databaseUrl });
  await holder.connect();
  await holder.query('begin');
  await holder.query('select from account where id = $1 for update', [scene.usd.split(':')[1]]);

  const held = t.platform.ask(transferOut, {
    input: { sourceAccountId: scene.usd, destinationAccountId: scene.outsideUsd, amount: 100 },
  });
  const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  while ((await holder.query(waiting)).rowCount === 0);

  const refused = await post('{ viewer { kind } }');
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toBe('1');
  expect((await refused.json()).errors[0].extensions).toEqual({ code: 'SERVICE_UNAVAILABLE', retryAfter: 1 });
  const overRest = await fetch(`${t.url}/2025-10-13/customers`, {
    headers: { authorization: t.platform.authorization },
  });
  expect(overRest.status).toBe(503);
  expect(overRest.headers.get('retry-after')).toBe('1');
  expect(await overRest.json()).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE', details: {} });
  expect((await fetch(`${t.url}/health/live`)).status).toBe(200);

  await holder.query('commit');
  await holder.end();
  expect((await held).transferOut.transaction.status).toBe('PENDING');
  expect(await (await post('{ viewer { kind } }')).json()).toEqual({ data: { viewer: { kind: 'PLATFORM' } } });
});

test('an open event stream takes no place from requests', async () => {
  const stream = await post('subscription { transactionUpdates { status } }', 'text/event-stream');
  expect(stream.status).toBe(200);
  expect((await post('{ viewer { kind } }')).status).toBe(200);
  await stream.body?.cancel();
});

import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Data, startTestGateway, type TestGateway } from '../setup/gateway.ts';
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

/** Holds up a transfer of the gateway inside the database until the returned function is called, which answers it. */
async function heldTransfer(of: TestGateway): Promise<() => Promise<Data>> {
  const scene = await makeScene(of.platform, 10_000n);
  const holder = new pg.Client({ connectionString: of.databaseUrl });
  await holder.connect();
  await holder.query('begin');
  await holder.query('select from account where id = $1 for update', [scene.usd.split(':')[1]]);
  const held = of.platform.ask(transferOut, {
    input: { sourceAccountId: scene.usd, destinationAccountId: scene.outsideUsd, amount: 100 },
  });
  const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  while ((await holder.query(waiting)).rowCount === 0);
  return async () => {
    await holder.query('commit');
    await holder.end();
    return held;
  };
}

test('one request too many is refused with 503 and Retry-After; when there is room again it is answered', async () => {
  const release = await heldTransfer(t);

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

  expect((await release()).transferOut.transaction.status).toBe('PENDING');
  expect(await (await post('{ viewer { kind } }')).json()).toEqual({ data: { viewer: { kind: 'PLATFORM' } } });
});

test('an open event stream takes no place from requests', async () => {
  const stream = await post('subscription { transactionUpdates { status } }', 'text/event-stream');
  expect(stream.status).toBe(200);
  expect((await post('{ viewer { kind } }')).status).toBe(200);
  await stream.body?.cancel();
});

test('while answers take too long, an eighth of the places is given, and never less than one', async () => {
  const slow = await startTestGateway({ MAX_IN_FLIGHT: 8 }, undefined, { pace: { slowMs: 0 } });
  const ask = () => slow.platform.send('{ viewer { kind } }');
  expect((await ask()).status).toBe(200);

  const release = await heldTransfer(slow);
  expect((await ask()).status).toBe(503);
  expect((await release()).transferOut.transaction.status).toBe('PENDING');
  expect((await ask()).status).toBe(200);
  await slow.stop();
});

import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { testProxy } from '../setup/database-proxy.ts';
import { connect, testGateway } from '../setup/gateway.ts';

/**
 * A request has a single time limit, which starts when it arrives. Here, the database stops responding and the
 * statement timeout is an hour, so only the request's limit can end it.
 */

const { database, proxy } = await testProxy();
const furnished = await testGateway({}, database.url);
const t = await testGateway({ DATABASE_POOL: 3 }, proxy.url, { pace: { operationMs: 1_500, statementMs: 3_600_000 } });
const owner = await furnished.newPlatform('waiting');
const scene = await owner.makeScene(1_000_000n);
const platform = connect(t.url, owner.platformId, owner.authorization);

const rest = (method: string, path: string, body?: object, { authorization } = platform) =>
  fetch(`${t.url}/2025-10-13${path}`, {
    method,
    headers: { authorization, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    ...(body && { body: JSON.stringify(body) }),
  });
const graphql = (query: string, by = platform) => by.post({ query });
const payment = () =>
  `mutation { transferOut(input: { sourceAccountId: "${scene.usd}", destinationAccountId: "${scene.outsideUsd}", amount: { units: 1 }, idempotencyKey: "${randomUUID()}" }) { __typename } }`;
const read = '{ customers(first: 1) { totalCount } }';
const away = 'SERVICE_UNAVAILABLE';

async function codeOf(sent: Promise<Response>): Promise<unknown> {
  const body = await (await sent).json();
  return body.code ?? body.errors?.[0]?.extensions?.code ?? body.data;
}

/** Sends requests concurrently while the database is silent, and returns the codes in the responses. */
async function codesInSilence(send: () => Promise<unknown>[]): Promise<unknown[]> {
  proxy.stallOn(/./s);
  const codes = await Promise.all(send()).finally(() => proxy.goOn());
  await vi.waitFor(async () => expect(await codeOf(graphql(read))).toEqual({ customers: { totalCount: 1 } }), 60_000);
  return codes;
}

/** Sends enough requests that some must wait for a connection, a turn or a lane. */
const many = (send: () => Promise<Response>) => Array.from({ length: 6 }, () => codeOf(send()));

// Sends one kind of request at a time, because the limit that ends one request also closes the others' connections.
test('every request gets a response at its time limit, whatever it is waiting for while the database is silent', async () => {
  // These credentials are not cached, because no request to this instance has used them yet.
  const unknown = connect(t.url, owner.platformId, (await owner.serverOf('VIEW')).authorization);
  const body = { source: { accountId: scene.usd }, destination: { accountId: scene.outsideUsd }, amount: 1 };
  // Requests that have not started are refused. The outcome of the others is unknown.
  for (const code of await codesInSilence(() => many(() => graphql(read)))) expect(['TIMEOUT', away]).toContain(code);
  for (const code of await codesInSilence(() => many(() => graphql(payment()))))
    expect(['TIMEOUT', away]).toContain(code);
  for (const code of await codesInSilence(() => many(() => rest('POST', '/transfer-out', body))))
    expect(['OUTCOME_UNKNOWN', away]).toContain(code);
  expect(new Set(await codesInSilence(() => many(() => rest('GET', '/customers'))))).toEqual(new Set([away]));
  const strangers = () => [codeOf(rest('GET', '/customers', undefined, unknown)), codeOf(graphql(read, unknown))];
  expect(await codesInSilence(strangers)).toEqual([away, away]);
}, 90_000);

import { randomUUID } from 'node:crypto';
import { afterAll, expect, test, vi } from 'vitest';
import { freshDatabase } from '../setup/database.ts';
import { databaseProxy } from '../setup/database-proxy.ts';
import { connect, testGateway } from '../setup/gateway.ts';
import { serverOf } from '../setup/new-credentials.ts';
import { makeScene } from '../setup/scene.ts';

/**
 * A request has one time limit from its arrival, whatever it waits for. In this test the database stops answering, and statements
 * may take as long as the test: only the limit can answer.
 */

const database = await freshDatabase();
const proxy = await databaseProxy(database.url);
afterAll(async () => {
  await proxy.close();
  await database.drop();
});
const furnished = await testGateway({}, database.url);
const t = await testGateway({ DATABASE_POOL: 3 }, proxy.url, { pace: { operationMs: 1_500, statementMs: 3_600_000 } });
const owner = await furnished.newPlatform('waiting');
const scene = await makeScene(owner, 1_000_000n);
const platform = connect(t.url, owner.platformId, owner.authorization);

const rest = (method: string, path: string, body?: object, by = platform) =>
  fetch(`${t.url}/2025-10-13${path}`, {
    method,
    headers: {
      authorization: by.authorization,
      'content-type': 'application/json',
      'idempotency-key': crypto.randomUUID(),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
const graphql = (query: string, by = platform) => by.post({ query });
const payment = () =>
  `mutation { transferOut(input: { sourceAccountId: "${scene.usd}", destinationAccountId: "${scene.outsideUsd}", amount: { units: 1 }, idempotencyKey: "${randomUUID()}" }) { __typename } }`;
const read = '{ customers(first: 1) { totalCount } }';

async function codeOf(sent: Promise<Response>): Promise<unknown> {
  const body = await (await sent).json();
  return body.code ?? body.errors?.[0]?.extensions?.code ?? body.data;
}

test('every request is answered at its time limit, whatever part of it waits for a silent database', async () => {
  // Credentials from another instance: this one has not cached them.
  const unknown = connect(t.url, owner.platformId, (await serverOf(owner, 'VIEW')).authorization);
  proxy.stallOn(/./s);
  try {
    // The REST requests come first, and have the connections.
    const restReads = Array.from({ length: 3 }, () => codeOf(rest('GET', '/customers')));
    // More than there are connections, turns and lanes, so that they wait for each other, too.
    const reads = [...Array.from({ length: 6 }, () => codeOf(graphql(read))), codeOf(graphql(read, unknown))];
    const payments = Array.from({ length: 6 }, () => codeOf(graphql(payment())));
    const body = { source: { accountId: scene.usd }, destination: { accountId: scene.outsideUsd }, amount: 1 };
    const restPayments = Array.from({ length: 3 }, () => codeOf(rest('POST', '/transfer-out', body)));
    const strangers = [codeOf(rest('GET', '/customers', undefined, unknown))];
    const codes = async (sent: readonly Promise<unknown>[]) => [...new Set(await Promise.all(sent))];
    // Requests that have not begun are refused; the outcome of the others is unknown.
    for (const code of await codes([...reads, ...payments])) expect(['TIMEOUT', 'SERVICE_UNAVAILABLE']).toContain(code);
    for (const code of await codes(restPayments)) expect(['OUTCOME_UNKNOWN', 'SERVICE_UNAVAILABLE']).toContain(code);
    expect(await codes([...restReads, ...strangers])).toEqual(['SERVICE_UNAVAILABLE']);
  } finally {
    proxy.goOn();
  }
  await vi.waitFor(async () => expect(await codeOf(graphql(read))).toEqual({ customers: { totalCount: 1 } }), 20_000);
}, 60_000);

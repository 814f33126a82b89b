import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ChildGateway, startChildGateway } from '../setup/child-gateway.ts';
import { mutationDocument, mutationVariables } from '../setup/documents.ts';
import { freePort } from '../setup/free-port.ts';
import { startTestGateway, type TestGateway, type TestPlatform } from '../setup/gateway.ts';
import { waitForLocks } from '../setup/locks.ts';
import { base } from '../setup/rest.ts';
import { makeScene, type Scene } from '../setup/scene.ts';

// What Postgres itself shows of the statements of an instance with SQL_COMMENTS=on. pg_stat_activity has the last text of each
// connection.

let t: TestGateway;
let scene: Scene;
let other: TestPlatform;
let commenting: ChildGateway;
let metricsPort: number;
beforeAll(async () => {
  t = await startTestGateway({ ROLE: 'serve' });
  scene = await makeScene(t.platform);
  other = await t.newPlatform('other');
  metricsPort = await freePort();
  commenting = await startChildGateway({
    ...{ DATABASE_URL: t.databaseUrl, ROLE: 'serve', METRICS_PORT: String(metricsPort), SQL_COMMENTS: 'on' },
  });
});
afterAll(async () => {
  expect(await commenting.end('SIGTERM')).toBe(0);
  await t.stop();
});

/** Returns the last texts of the connections that are about a request. */
async function textsOf(requestId: string): Promise<string[]> {
  const { rows } = await t.owner.query<{ query: string }>(
    `select query from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and query like $1`,
    [`%/*%request_id='${requestId}'%*/`],
  );
  return rows.map(({ query }) => query);
}

/** Returns how many plans wait for their commit. */
async function plansWaiting(): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return Number(/^payments_commit_plans (\d+)$/m.exec(metrics)?.[1]);
}

async function ask(url: string, requestId: string, body: object, as = t.platform): Promise<unknown> {
  const { authorization } = as;
  const headers = { authorization, 'content-type': 'application/json', 'x-request-id': requestId };
  const answer = await fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify(body) });
  return answer.json();
}

const transfer = (key: string) => ({
  query: mutationDocument('transferOut', ''),
  variables: mutationVariables('transferOut', {
    ...{ sourceAccountId: scene.usd, destinationAccountId: scene.outsideUsd, amount: 1, idempotencyKey: key },
  }),
});
const done = { data: { transferOut: { __typename: 'TransferOutSuccess' } } };
const accounts = { query: '{ accounts(first: 1) { edges { node { id } } } }' };

describe('a statement has the id of its request behind its text', () => {
  test.each([
    ['read-1', 'read-1'],
    ['read/2:a=b', 'read%2F2%3Aa%3Db'],
  ])('a read with the id %s', async (id, written) => {
    expect(await ask(commenting.url, id, accounts)).toMatchObject({ data: { accounts: { edges: [{}] } } });
    expect(await textsOf(written)).toContainEqual(expect.stringMatching(/^select .*account/s));
  });

  test('a read of REST', async () => {
    const headers = { authorization: t.platform.authorization, 'x-request-id': 'rest-1' };
    expect((await fetch(`${commenting.url}${base}/customers`, { headers })).status).toBe(200);
    expect(await textsOf('rest-1')).toContainEqual(expect.stringMatching(/^select .*customer/s));
  });

  test('the commit of a payment', async () => {
    expect(await ask(commenting.url, 'payment-1', transfer('one'))).toMatchObject(done);
    expect(await textsOf('payment-1')).toContainEqual(expect.stringContaining('commit_batches'));
  });
});

test('a statement that commits for several requests has the ids of all', async () => {
  const holder = new pg.Client({ connectionString: t.databaseUrl });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query(`select from account where id = $1 for update`, [scene.usd.replace(/^.*:/, '')]);
    const first = ask(commenting.url, 'before', transfer('before'));
    await waitForLocks(holder, 1);
    const names = ['a', 'b', 'c'];
    const answers = names.map((name) => ask(commenting.url, `shared-${name}`, transfer(name)));
    await expect.poll(plansWaiting).toBe(4);
    await holder.query('commit');
    expect(await Promise.all([first, ...answers])).toMatchObject([done, done, done, done]);
    const [text] = (await textsOf('shared-a')).filter((query) => query.includes('commit_batches'));
    for (const name of names) expect(text).toContain(`request_id='shared-${name}'`);
  } finally {
    await holder.end();
  }
});

test('platforms that take turns on the connections see their own rows alone', async () => {
  const read = { query: `{ account(id: "${scene.usd}") { id } }` };
  for (let turn = 0; turn < 20; turn += 1) {
    const both = await Promise.all([t.platform, other].map((as) => ask(commenting.url, `turn-${turn}`, read, as)));
    expect(both).toMatchObject([{ data: { account: { id: scene.usd } } }, { data: { account: null } }]);
  }
});

test('without the setting no statement has a comment', async () => {
  expect(await ask(t.url, 'plain', accounts)).toMatchObject({ data: { accounts: { edges: [{}] } } });
  expect(await textsOf('plain')).toEqual([]);
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { succeed } from '../setup/acts.ts';
import { connect, type Data, startTestGateway, type TestGateway, type TestPlatform } from '../setup/gateway.ts';
import { makeScene, type Scene } from '../setup/scene.ts';

// What a request was and did, for whoever builds on the sandbox (docs/command-line.md).

const most = 100;
let t: TestGateway;
let scene: Scene;
beforeAll(async () => {
  t = await startTestGateway({ INSPECT_REQUESTS: most });
  scene = await makeScene(t.platform);
});
afterAll(() => t.stop());

const selection = `{ requestId method path document input status durationMs made omittedStatements
  statements { name text startMs durationMs rows error } }`;

async function traceOf(id: string, platform: TestPlatform = t.platform): Promise<Data> {
  const { requestTrace } = await platform.ask(`query ($id: String!) { requestTrace(requestId: $id) ${selection} }`, {
    id,
  });
  return requestTrace;
}

/** Sends a document under an id, and returns the id. */
async function send(query: string, variables: object = {}, id: string = randomUUID()): Promise<string> {
  const response = await fetch(`${t.url}/graphql`, {
    method: 'POST',
    headers: { authorization: t.platform.authorization, 'content-type': 'application/json', 'x-request-id': id },
    body: JSON.stringify({ query, variables }),
  });
  await response.text();
  expect(response.headers.get('x-request-id')).toBe(id);
  return id;
}

const createQuote = `mutation ($input: CreateQuoteInput!) {
  createQuote(input: $input) { ... on CreateQuoteSuccess { quote { id } } ... on UserError { message } } }`;

const quoteInput = () => ({
  source: { account: { accountId: scene.usd } },
  destination: { account: { accountId: scene.outsideEur } },
  lockedCurrencySide: 'SENDING',
  lockedCurrencyAmount: 1_000,
});

test('a mutation has its document, its variables, its statements with their time, and what it made', async () => {
  const trace = await traceOf(await send(createQuote, { input: quoteInput() }));
  expect(trace).toMatchObject({ method: 'POST', path: '/graphql', document: createQuote, status: 200 });
  expect(JSON.parse(trace.input)).toMatchObject({ input: { lockedCurrencySide: 'SENDING' } });
  expect(trace.made).toEqual([expect.stringMatching(/^Quote:/)]);
  expect(trace.statements.map(({ name }: Data) => name)).toContain('commit_batches');
  for (const { startMs, durationMs, error } of trace.statements) {
    expect(startMs + durationMs).toBeLessThanOrEqual(trace.durationMs);
    expect(error).toBeNull();
  }
});

test('a query has the one statement that reads it, and the text of a list has no values', async () => {
  const trace = await traceOf(await send('query ($id: ID!) { account(id: $id) { id } }', { id: scene.usd }));
  expect(trace.statements).toHaveLength(1);
  expect(JSON.stringify(trace.statements)).not.toContain(scene.usd.split(':')[1]);
  expect(trace.made).toEqual([]);
});

test('requests at the same time have their own statements each, also while they wait for a connection', async () => {
  const ids = await Promise.all(
    Array.from({ length: 30 }, (_, at) =>
      send(at % 2 === 0 ? createQuote : '{ accounts(first: 1) { edges { node { id } } } }', {
        ...(at % 2 === 0 && { input: quoteInput() }),
      }),
    ),
  );
  const traces = await Promise.all(ids.map((id) => traceOf(id)));
  const commits = traces.map(
    ({ statements }) => statements.filter(({ name }: Data) => name === 'commit_batches').length,
  );
  expect(commits).toEqual(ids.map((_, at) => (at % 2 === 0 ? 1 : 0)));
  expect(traces.filter((_, at) => at % 2 === 1).map(({ statements }) => statements.length)).toEqual(Array(15).fill(1));
});

test('secrets in variables are hidden, and long texts are cut', async () => {
  const query = `query ($secret: String, $note: String) { viewer { kind } events(first: 0, filter: { customerId: $secret }) { totalCount: __typename } account(id: $note) { id } }`;
  const trace = await traceOf(
    await send(query.replaceAll('String', 'ID'), { secret: 'Customer:hush', note: 'x'.repeat(9_000) }),
  );
  expect(trace.input).not.toContain('hush');
  expect(trace.input).toContain('[hidden]');
  expect(trace.input.length).toBeLessThan(4_100);
});

test('another platform, an app, and a platform of PRODUCTION see none; the newest push out the oldest', async () => {
  const id = await send('{ viewer { kind } }');
  const other = await t.newPlatform('inspects elsewhere');
  expect(await traceOf(id, other)).toBeNull();
  const production = await t.newPlatform('inspects in production', 'PRODUCTION');
  const own = await fetch(`${t.url}/graphql`, {
    method: 'POST',
    headers: { authorization: production.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ viewer { kind } }' }),
  });
  expect(await traceOf(own.headers.get('x-request-id') ?? '', production)).toBeNull();
  const { token } = await succeed(
    t.platform,
    'createClientToken',
    { customerId: scene.customerId, permissions: ['VIEW'] },
    'token',
  );
  const app = connect(t.url, t.platform.platformId, `Bearer ${token}`);
  await expect(traceOf(id, app)).rejects.toThrow('does not have the permission');
  expect(await traceOf(id)).toMatchObject({ requestId: id });
  expect(await traceOf(randomUUID())).toBeNull();
  for (let sent = 0; sent < most; sent += 1) await send('{ viewer { kind } }');
  expect(await traceOf(id)).toBeNull();
});

test('nothing is kept where the setting is 0, which it is with a database of its own', async () => {
  expect(readConfig({}).INSPECT_REQUESTS).toBe(1_000);
  expect(readConfig({ DATABASE_URL: t.databaseUrl }).INSPECT_REQUESTS).toBe(0);
  const without = await startTestGateway({ ROLE: 'serve', INSPECT_REQUESTS: 0 }, t.databaseUrl);
  const platform = connect(without.url, t.platform.platformId, t.platform.authorization);
  const response = await fetch(`${without.url}/graphql`, {
    method: 'POST',
    headers: { authorization: t.platform.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ viewer { kind } }' }),
  });
  expect(await traceOf(response.headers.get('x-request-id') ?? '', platform)).toBeNull();
  await without.stop();
});

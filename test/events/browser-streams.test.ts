import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { parse } from 'graphql';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ended, feedEnd, mint, pay, succeed } from '../setup/acts.ts';
import { type Data, startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { makeScene, type Scene } from '../setup/scene.ts';
import { openEventStream } from '../setup/streams.ts';

/** Streams as browsers take them without a library: by a ticket in an address, and as multipart responses. */

let t: TestGateway;
let scene: Scene;
let token: string;
let tokenId: string;
beforeAll(async () => {
  t = await startTestGateway();
  scene = await makeScene(t.platform);
  ({ token, tokenId } = await mint(t.platform, { customerId: scene.customerId }));
});
afterAll(() => t.stop());

const query =
  'subscription ($after: String) { transactionUpdates(after: $after) { cursor status transaction { id } } }';

async function ticket(operation: object, authorization = `Bearer ${token}`): Promise<{ status: number; body: Data }> {
  const response = await fetch(`${t.url}/graphql/stream/ticket`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(operation),
  });
  return { status: response.status, body: await response.json() };
}

/** Opens a stream as an EventSource does: a GET with no credentials. */
const open = (path: string, headers: Record<string, string> = {}) =>
  openEventStream(`${t.url}${path}`, '', undefined, headers);

test('a ticket opens the stream of its operation without credentials, and resumes it by Last-Event-ID', async () => {
  const after = await feedEnd(t.platform);
  const { status, body } = await ticket({ query, variables: { after } });
  expect(status).toBe(201);
  expect(Date.parse(body.expiresAt) - Date.now()).toBeLessThanOrEqual(300_000 + 5_000);
  const stream = await open(body.url);
  expect(stream.status).toBe(200);
  const { id } = await pay(t.platform, scene);
  const seen: Data[] = [];
  for await (const { data } of stream.events) {
    seen.push(data.data.transactionUpdates);
    if (seen.at(-1).status === 'COMPLETED') break;
  }
  stream.cut();
  expect(seen.every(({ transaction }) => transaction.id === id)).toBe(true);
  const again = await open(body.url, { 'last-event-id': seen[0].cursor });
  const { value } = await again.events.next();
  expect(value?.data.data.transactionUpdates).toEqual(seen[1]);
  again.cut();
});

test('a ticket is for its own operation, for streams, for its time, and for as long as its token lives', async () => {
  const { body } = await ticket({ query });
  const url = new URL(body.url, t.url);
  const changed = new URL(url);
  changed.searchParams.set('query', '{ customers { totalCount } }');
  const added = new URL(url);
  added.searchParams.set('variables', '{}');
  const forged = new URL(url);
  forged.searchParams.set('ticket', `${url.searchParams.get('ticket')?.slice(0, -2)}xx`);
  for (const one of [changed, added, forged]) expect((await open(`${one.pathname}${one.search}`)).status).toBe(401);
  // It is no token: neither in the header nor for a request of another kind.
  const asToken = await fetch(`${t.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${url.searchParams.get('ticket')}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ viewer { feedCursor } }' }),
  });
  expect(asToken.status).toBe(401);

  expect(await ticket({ query }, t.platform.authorization)).toMatchObject({
    status: 403,
    body: { errors: [{ extensions: { code: 'FORBIDDEN' } }] },
  });
  expect(await ticket({ query }, 'Bearer nonsense')).toMatchObject({ status: 401 });
  expect(await ticket({ query: '{ viewer { feedCursor } }' })).toMatchObject({ status: 400 });
  expect(await ticket({ query: 'subscription { nonsense }' })).toMatchObject({ status: 400 });

  const other = await mint(t.platform, { customerId: scene.customerId });
  const { body: ofOther } = await ticket({ query }, `Bearer ${other.token}`);
  const stream = await open(ofOther.url);
  expect(stream.status).toBe(200);
  stream.cut();
  await succeed(t.platform, 'revokeClientToken', { tokenId: other.tokenId });
  await vi.waitFor(async () => expect((await open(ofOther.url)).status).toBe(401), { timeout: 5_000 });
  expect(tokenId).not.toBe(other.tokenId);
});

test('Apollo’s HTTP link follows over multipart responses, with messages, their end and refusals', async () => {
  const client = new ApolloClient({
    link: new HttpLink({ uri: `${t.url}/graphql`, headers: { authorization: t.platform.authorization } }),
    cache: new InMemoryCache(),
  });
  const { id } = await pay(t.platform, scene);
  await ended(t.platform, id);
  const results: Data[] = [];
  await new Promise<void>((resolve, reject) => {
    client
      .subscribe({
        query: parse('subscription ($id: ID!) { transactionUpdates(transactionId: $id) { status terminal } }'),
        variables: { id },
      })
      .subscribe({ next: (result) => results.push(result), error: reject, complete: resolve });
  });
  expect(results).toMatchObject([{ data: { transactionUpdates: { status: 'COMPLETED', terminal: true } } }]);

  const refused = await new Promise<Data>((resolve) => {
    client
      .subscribe({ query: parse('subscription { transactionUpdates(after: "nonsense") { status } }') })
      .subscribe({ next: resolve, error: (error) => resolve({ error }) });
  });
  expect(JSON.stringify(refused.error ?? refused)).toContain('not a cursor');
});

test('a multipart response has the form of its protocol', async () => {
  const { id } = await pay(t.platform, scene);
  await ended(t.platform, id);
  const response = await fetch(`${t.url}/graphql`, {
    method: 'POST',
    headers: {
      authorization: t.platform.authorization,
      'content-type': 'application/json',
      accept: 'multipart/mixed;boundary="graphql";subscriptionSpec="1.0", application/json',
    },
    body: JSON.stringify({ query: `subscription { transactionUpdates(transactionId: "${id}") { status } }` }),
  });
  expect(response.headers.get('content-type')).toBe('multipart/mixed;boundary="graphql";subscriptionSpec="1.0"');
  expect(await response.text()).toBe(
    '--graphql\r\ncontent-type: application/json\r\n\r\n{"payload":{"data":{"transactionUpdates":{"status":"COMPLETED"}}}}\r\n--graphql--\r\n',
  );
});

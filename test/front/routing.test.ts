import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect, type TestPlatform } from '../setup/gateway.ts';
import { nextOf, openEventStream, openRawSocket } from '../setup/streams.ts';
import { startTwoClusters, type TwoClusters } from '../setup/two-clusters.ts';

/** A front leads each platform to its cluster, whatever API and transport it uses. */

let t: TwoClusters;
/** The platforms of both clusters, through the front. */
let north: TestPlatform;
let south: TestPlatform;
let each: readonly (readonly [string, TestPlatform])[];
beforeAll(async () => {
  t = await startTwoClusters();
  const through = ({ platform: { platformId, authorization } }: { readonly platform: TestPlatform }) =>
    connect(t.front.url, platformId, authorization);
  [north, south] = [through(t.north), through(t.south)];
  each = [
    ['north', north],
    ['south', south],
  ];
});
afterAll(() => t.stop());

const nameQuery = '{ platform { id name } }';
const changes = 'subscription { events { type subject { id } } }';

async function makeCustomer(platform: TestPlatform, key: string): Promise<string> {
  const { createCustomer } = await platform.ask(
    `mutation { createCustomer(input: { platformCustomerId: "${key}", idempotencyKey: "${key}",
      details: { individual: { fullName: "Ana Lima", birthDate: "1990-01-01", nationality: "BR" } } }) {
        ... on CreateCustomerSuccess { customer { id } } ... on UserError { code message } } }`,
  );
  return createCustomer.customer.id;
}

async function clientToken(platform: TestPlatform, customerId: string): Promise<string> {
  const { createClientToken } = await platform.ask(
    `mutation { createClientToken(input: { customerId: "${customerId}", permissions: [VIEW], expiresInSeconds: 600 }) {
      ... on CreateClientTokenSuccess { token } ... on UserError { code message } } }`,
  );
  return `Bearer ${createClientToken.token}`;
}

describe('each platform reaches its own cluster', () => {
  test('by the client id of a server: GraphQL by POST and GET, and REST', async () => {
    for (const [name, platform] of each) {
      const clientId = Buffer.from(platform.authorization.slice(6), 'base64').toString().split(':')[0] ?? '';
      expect(clientId).toMatch(new RegExp(`^${name}\\.[\\w-]{22}\\.[\\w-]{16}$`));
      expect(await platform.ask(nameQuery)).toMatchObject({ platform: { name } });
      const { authorization } = platform;
      const get = await fetch(`${t.front.url}/graphql?query=${encodeURIComponent(nameQuery)}`, {
        headers: { authorization, accept: 'application/json' },
      });
      expect(await get.json()).toMatchObject({ data: { platform: { name } } });
      const rest = await fetch(`${t.front.url}/2025-10-13/config`, { headers: { authorization } });
      expect(await rest.json()).toMatchObject({ umaDomain: `${name}.${name}.uma.money` });
    }
  });

  test('by a token that it makes later', async () => {
    for (const [name, platform] of each) {
      const { createApiToken } = await platform.ask(
        'mutation { createApiToken(input: { name: "another", permissions: [VIEW] }) { ... on CreateApiTokenSuccess { secret apiToken { clientId } } } }',
      );
      const { secret, apiToken } = createApiToken;
      const authorization = `Basic ${Buffer.from(`${apiToken.clientId}:${secret}`).toString('base64')}`;
      expect(await connect(t.front.url, '', authorization).ask(nameQuery)).toMatchObject({ platform: { name } });
    }
  });

  test('by WebSocket, and by an event stream of one operation', async () => {
    for (const [name, platform] of each) {
      const raw = await openRawSocket(t.front.url, platform.authorization);
      raw.send({ type: 'subscribe', id: '1', payload: { query: changes } });
      const stream = await openEventStream(`${t.front.url}/graphql`, platform.authorization, { query: changes });
      const id = await makeCustomer(platform, `watched-${name}`);
      const streamed: string[] = [];
      while (!streamed.includes(id)) streamed.push((await nextOf(stream.events)).data?.data.events.subject?.id);
      for (;;) {
        const { payload } = await raw.receive('next');
        if (payload.data.events.subject?.id === id) break;
      }
      stream.cut();
      raw.socket.close();
      await raw.closed;
    }
  });

  test("by an app's token: WebSocket, REST's refusal, a ticket and a reserved event stream", async () => {
    for (const [name, platform] of each) {
      const customerId = await makeCustomer(platform, `app-${name}`);
      const authorization = await clientToken(platform, customerId);
      const raw = await openRawSocket(t.front.url, authorization);
      raw.send({ type: 'subscribe', id: '1', payload: { query: '{ viewer { customer { id } } }' } });
      expect((await raw.receive('next')).payload.data).toEqual({ viewer: { customer: { id: customerId } } });
      raw.socket.close();

      const json = { authorization, 'content-type': 'application/json' };
      const ticket = await fetch(`${t.front.url}/graphql/stream/ticket`, {
        method: 'POST',
        headers: json,
        body: JSON.stringify({ query: 'subscription { events { type } }' }),
      });
      const { url } = (await ticket.json()) as { url: string };
      const stream = await fetch(`${t.front.url}${url}`, { headers: { accept: 'text/event-stream' } });
      expect([ticket.status, stream.status, stream.headers.get('content-type')]).toEqual([
        201,
        200,
        expect.stringContaining('text/event-stream'),
      ]);
      await stream.body?.cancel();

      const reserved = await fetch(`${t.front.url}/graphql/stream`, { method: 'PUT', headers: { authorization } });
      const token = await reserved.text();
      expect(token).toMatch(new RegExp(`^${name}:`));
      // An EventSource sends no credentials: the token says where its stream is.
      const opened = await openEventStream(`${t.front.url}/graphql/stream?token=${token}`, '');
      const started = await fetch(`${t.front.url}/graphql/stream`, {
        method: 'POST',
        headers: { ...json, 'x-graphql-event-stream-token': token },
        body: JSON.stringify({ query: '{ viewer { customer { id } } }', extensions: { operationId: 'one' } }),
      });
      expect([opened.status, started.status]).toEqual([200, 202]);
      const { data } = await nextOf(opened.events);
      expect(data).toMatchObject({ id: 'one', payload: { data: { viewer: { customer: { id: customerId } } } } });
      opened.cut();
    }
  });

  test('webhooks of providers, by the cluster or the platform in their path', async () => {
    const post = async (url: string) => (await fetch(url, { method: 'POST', body: '{}' })).status;
    const path = `Platform:${south.platformId}/webhooks`;
    // Nothing signs it: each cluster refuses it, as it does without a front.
    expect(await post(`${t.south.url}/rails/${path}`)).toBe(401);
    expect(await post(`${t.front.url}/rails/south/${path}`)).toBe(401);
    expect(await post(`${t.front.url}/rails/${path}`)).toBe(401);
  });
});

describe('what no cluster knows', () => {
  test.each([
    ['no credentials', undefined],
    ['an unknown client id', `Basic ${Buffer.from('nobody:secret').toString('base64')}`],
    ['a cluster that there is not', `Basic ${Buffer.from(`west.${'a'.repeat(22)}.b:secret`).toString('base64')}`],
    ['a token that is none', 'Bearer a.b.c'],
    ['no credentials at all', 'nonsense'],
  ])('%s: the same refusal as of a single installation', async (_name, authorization) => {
    const ask = async (url: string) => {
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
        body: JSON.stringify({ query: nameQuery }),
      });
      return [response.status, await response.text()];
    };
    expect(await ask(t.front.url)).toEqual(await ask(t.north.url));
    expect(await openRawSocket(t.front.url, authorization ?? '').then(({ closed }) => closed)).toMatchObject({
      code: 4403,
    });
  });

  test("the credentials of one cluster with the other's name", async () => {
    const { clientId = '', secret = '' } =
      /^(?<clientId>[^:]+):(?<secret>.+)$/.exec(Buffer.from(south.authorization.slice(6), 'base64').toString())
        ?.groups ?? {};
    const forged = Buffer.from(`${clientId.replace('south', 'north')}:${secret}`).toString('base64');
    expect((await connect(t.front.url, '', `Basic ${forged}`).send(nameQuery)).status).toBe(401);
  });

  test('calls between clusters do not pass', async () => {
    expect((await fetch(`${t.front.url}/clusters/orders`)).status).toBe(404);
  });
});

test('a platform that has moved, or is being moved', async () => {
  const { directory, write } = t;
  const moved = (place: string | { paused: string }) =>
    write({ ...directory, platforms: { [`Platform:${south.platformId}`]: place } });
  const raw = await openRawSocket(t.front.url, south.authorization);
  const stream = await openEventStream(`${t.front.url}/graphql`, south.authorization, { query: changes });
  const other = await openRawSocket(t.front.url, north.authorization);
  moved({ paused: 'south' });
  expect(await raw.closed).toMatchObject({ code: 1012 });
  await expect(nextOf(stream.events)).rejects.toThrow();
  const paused = await fetch(`${t.front.url}/graphql`, {
    method: 'POST',
    headers: { authorization: south.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ query: nameQuery }),
  });
  expect([paused.status, paused.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await paused.json()).toMatchObject({ errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE' } }] });
  expect(await openRawSocket(t.front.url, south.authorization).then(({ closed }) => closed)).toMatchObject({
    code: 1013,
  });
  expect(await north.ask(nameQuery)).toMatchObject({ platform: { name: 'north' } });
  // Here it has not been copied, so north knows nobody of that name.
  moved('north');
  expect((await south.send(nameQuery)).status).toBe(401);
  write(directory);
  expect(await south.ask(nameQuery)).toMatchObject({ platform: { name: 'south' } });
  other.send({ type: 'ping' });
  expect(await other.receive('pong')).toMatchObject({ type: 'pong' });
  other.socket.close();
});

test('a faulty directory changes nothing', async () => {
  const { directory, write } = t;
  write({ ...directory, default: 'west' });
  expect(await south.ask(nameQuery)).toMatchObject({ platform: { name: 'south' } });
  write(directory);
});

import diagnostics from 'node:diagnostics_channel';
import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { BodyReader, maxReads, maxStrangers } from '../../src/api/http/bodies.ts';
import { InFlight, WatchedResponse } from '../../src/api/http/in-flight.ts';
import { Turns } from '../../src/api/http/turns.ts';
import { ownGateway, startTestGateway, type TestGateway, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { type HangingUpload, hangingUpload } from '../setup/hanging-upload.ts';
import { heldTransfer, lockedCustomers, patient } from '../setup/locks.ts';
import { openConnection } from '../setup/raw-http.ts';
import { openRawSocket } from '../setup/streams.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';
import { answer, ownReceiver } from '../webhooks/receiver.ts';

/** Keeps credentials cached, because a request occupies a place while its credentials are looked up. */
const pace = { ...patient, credentialsMs: 3_600_000 } as const;

const t = await testGateway({ MAX_IN_FLIGHT: 1 }, undefined, { pace });

const post = (query: string, accept = 'application/json') => t.platform.post({ query }, { accept });

test('one request too many is refused with 503 and Retry-After, and is served once there is room', async () => {
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

  expect((await release()).status).toBe('PENDING');
  expect(await (await post('{ viewer { kind } }')).json()).toEqual({ data: { viewer: { kind: 'PLATFORM' } } });
});

test('excess requests are refused immediately if no other platform is active, and otherwise with a delay', async () => {
  const one = await startTestGateway({ MAX_IN_FLIGHT: 1 }, undefined, { pace: { ...pace, now: () => 0 } });
  const other = await one.newPlatform('other');
  const release = await heldTransfer(one);
  const statusOf = async (platform: TestPlatform) => (await platform.send('{ viewer { kind } }')).status;

  // The clock is stopped, so a platform that becomes active remains active.
  for (let refused = 0; refused < 80; refused += 1) expect(await statusOf(one.platform)).toBe(503);

  // The other platform is not known yet when its first request arrives, so only the second one makes it active.
  for (let asked = 0; asked < 2; asked += 1) expect(await statusOf(other)).toBe(200);
  let answered = 0;
  let arrived = 0;
  const arrive = (message: unknown) => {
    const { request } = message as { readonly request: IncomingMessage };
    if (request.headers.authorization === one.platform.authorization) arrived += 1;
  };
  diagnostics.subscribe('http.server.request.start', arrive);
  const refused = Array.from({ length: 120 }, async () => {
    const status = await statusOf(one.platform);
    answered += 1;
    return status;
  });
  // The first fifty refusals are not delayed. If no others were delayed, all responses would arrive while the other
  // platform sends its requests.
  while (answered < 50) expect(await statusOf(other)).toBe(200);
  // Waits until all requests have arrived, because any that arrive after the release would be served.
  while (arrived < 120) expect(await statusOf(other)).toBe(200);
  for (let asked = 0; asked < 20; asked += 1) expect(await statusOf(other)).toBe(200);
  expect(answered).toBeLessThan(120);
  diagnostics.unsubscribe('http.server.request.start', arrive);

  expect((await release()).status).toBe('PENDING');
  await one.stop();
  expect(new Set(await Promise.all(refused))).toEqual(new Set([503]));
});

test('an open event stream does not occupy a place', async () => {
  const stream = await post('subscription { transactionUpdates { status } }', 'text/event-stream');
  expect(stream.status).toBe(200);
  expect((await post('{ viewer { kind } }')).status).toBe(200);
  await stream.body?.cancel();
});

test('while responses are slow, only an eighth of the places is available, but at least one', async () => {
  const slow = await ownGateway({ MAX_IN_FLIGHT: 8 }, undefined, { pace: { ...pace, slowMs: 0 } });
  const ask = () => slow.platform.send('{ viewer { kind } }');
  expect((await ask()).status).toBe(200);

  const release = await heldTransfer(slow);
  expect((await ask()).status).toBe(503);
  expect((await release()).status).toBe('PENDING');
  expect((await ask()).status).toBe(200);
});

test.each([
  ['a query', ['POST /graphql HTTP/1.1']],
  ['an event stream', ['POST /graphql HTTP/1.1', 'Accept: text/event-stream']],
  ['a REST command', ['POST /2025-10-13/quotes HTTP/1.1']],
])('%s occupies no place until its body has arrived, and stalled bodies do not delay others', async (_name, head) => {
  const authorization = `Authorization: ${t.platform.authorization}`;
  const hanging = await hangingUpload(t.url, [...head, authorization, 'Content-Type: application/json']);
  expect((await post('{ viewer { kind } }')).status).toBe(200);
  expect(hanging.answer()).toBe('');
  await hanging.breakOff();
});

test('stalled bodies do not count as slow responses', async () => {
  const slow = await ownGateway({ MAX_IN_FLIGHT: 8 }, undefined, { pace: { slowMs: 0 } });
  for (let n = 0; n < 8; n++) await (await hangingUpload(slow.url)).breakOff();
  const hanging = await hangingUpload(slow.url);
  expect((await slow.platform.send('{ viewer { kind } }')).status).toBe(200);
  await hanging.breakOff();
});

/** Returns a function that admits a tenant's request to an instance with `maxInFlight` places, if one is free. */
function admission(maxInFlight: number) {
  const inFlight = new InFlight({ maxInFlight, slowMs: 200, turns: new Turns(maxInFlight, maxInFlight) });
  return (key: string) => {
    const response = new WatchedResponse(new IncomingMessage(new Socket()));
    return { response, request: inFlight.admit(response, { key, isPlatform: true }) };
  };
}

test('a response abandoned by its client does not count as slow', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const admit = admission(8);
  const { response } = admit('one');
  vi.advanceTimersByTime(3_600_000);
  response.emit('close');
  expect(Array.from({ length: 9 }, () => admit('one').request !== undefined)).toEqual([...Array(8).fill(true), false]);
  vi.useRealTimers();
});

test("stalled uploads without credentials evict each other, but never a platform's uploads", async () => {
  const head = ['POST /graphql HTTP/1.1', 'Content-Type: application/json'];
  const own = await hangingUpload(t.url, [...head, `Authorization: ${t.platform.authorization}`]);
  const wrong = `Authorization: Basic ${Buffer.from('nobody:knows').toString('base64')}`;
  const hanging: HangingUpload[] = [];
  for (let n = 0; n < maxStrangers + 1; n++) hanging.push(await hangingUpload(t.url, n % 2 ? head : [...head, wrong]));
  expect((await post('{ viewer { kind } }')).status).toBe(200);

  const [first, second] = hanging;
  while (!first?.answer().includes('"errors"')) if (first) await once(first.socket, 'data');
  expect(first.answer()).toMatch(/^HTTP\/1\.1 503 /);
  expect(first.answer()).toMatch(/^retry-after: 1\r$/im);
  expect(first.answer()).toContain('"SERVICE_UNAVAILABLE"');
  expect(second?.answer()).toBe('');
  for (let n = 0; n < 20; n++) hanging.push(await hangingUpload(t.url));
  expect(own.answer()).toBe('');
  // The rest of the upload's 50 bytes.
  own.socket.write('"query":"{ viewer { kind } }"}'.padEnd(49));
  while (!own.answer().includes('"PLATFORM"')) await once(own.socket, 'data');
  expect(own.answer()).toMatch(/^HTTP\/1\.1 200 /);
  await Promise.all([own, ...hanging].map(({ breakOff }) => breakOff()));
});

const uploadsTo = (bodies: BodyReader) => (authorization?: string) => {
  const request = new IncomingMessage(new Socket());
  request.headers = { 'content-length': '2', ...(authorization && { authorization }) };
  return { request, body: bodies.read(new ServerResponse(request)) };
};

test('an upload whose credentials are not cached counts as one without credentials until they are looked up', async () => {
  let isLookedUp: (platform: string | undefined) => void = () => undefined;
  const bodies = new BodyReader({
    known: () => undefined,
    lookUp: () =>
      new Promise((resolve) => {
        isLookedUp = resolve;
      }),
  });
  const upload = uploadsTo(bodies);
  const own = upload('Basic eDp5');
  await setImmediate();
  isLookedUp('a platform');
  await setImmediate();
  const strangers = Array.from({ length: maxStrangers + 1 }, () => upload());
  expect(await strangers[0]?.body).toBe('EVICTED');
  own.request.push('ok');
  own.request.push(null);
  expect(String(await own.body)).toBe('ok');
  // Invalid credentials do not protect an upload.
  const wrong = upload('Basic eDp6');
  await setImmediate();
  isLookedUp(undefined);
  await setImmediate();
  for (let n = 0; n < maxStrangers; n++) upload();
  expect(await wrong.body).toBe('EVICTED');
});

test('the platform with the most slow uploads loses one of them', async () => {
  const bodies = new BodyReader({ known: ({ headers }) => headers.authorization, lookUp: async () => undefined });
  const upload = uploadsTo(bodies);
  const few = upload('few');
  const many = Array.from({ length: maxReads }, () => upload('many'));
  expect(await many[0]?.body).toBe('EVICTED');
  few.request.push('ok');
  few.request.push(null);
  expect(String(await few.body)).toBe('ok');
});

/** Opens connections without credentials, and never reads from them. */
async function readNothing(of: TestGateway): Promise<Socket[]> {
  const sockets = await Promise.all(Array.from({ length: 4 }, () => openConnection(of.url)));
  return sockets.map((socket) => socket.pause());
}

const much = 'GET /2025-10-13/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n';

test('unread responses occupy no place', async () => {
  const few = await ownGateway({ MAX_IN_FLIGHT: 8 });
  const sockets = await readNothing(few);
  // Together, the responses exceed what the system buffers for these connections.
  for (let round = 0; round < 50; round++) {
    for (const socket of sockets) {
      socket.write(much.repeat(2));
      expect((await few.platform.send('{ viewer { kind } }')).status).toBe(200);
    }
  }
  for (const socket of sockets) socket.destroy();
});

test('responses queued behind a stream on the same connection occupy no place, even after the connection is closed', async () => {
  const few = await ownGateway({ MAX_IN_FLIGHT: 4 });
  const socket = await openConnection(few.url);
  const body = JSON.stringify({ query: 'subscription { transactionUpdates { status } }' });
  const stream = [
    'POST /graphql HTTP/1.1',
    'Host: localhost',
    `Authorization: ${few.platform.authorization}`,
    'Accept: text/event-stream',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    '',
    body,
  ];
  socket.write(stream.join('\r\n'));
  expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
  await new Promise((sent) => socket.write(much.repeat(8), sent));
  expect((await fetch(`${few.url}/health/live`)).status).toBe(200);
  // Once the responses that can be sent have been sent, their places are free again.
  while ((await few.platform.send('{ viewer { kind } }')).status !== 200);
  socket.destroy();
  expect((await few.platform.send('{ viewer { kind } }')).status).toBe(200);
});

test('requests that wait for a webhook receiver do not slow other requests', async () => {
  const few = await ownGateway({ MAX_IN_FLIGHT: 8 });
  const unanswered: ServerResponse[] = [];
  const silent = await ownReceiver((response) => unanswered.push(response));
  const { id } = await createEndpoint(few.platform, { url: silent.url, eventTypes: ['OUTGOING_PAYMENT'] });
  const test = 'mutation ($input: SendTestWebhookInput!) { sendTestWebhook(input: $input) { __typename } }';
  const waiting = Array.from({ length: 16 }, async () => {
    for (;;) {
      // A request frees its place only once it is waiting for the receiver, so some may be refused at first.
      const { status, data } = await few.platform.send(test, { input: { endpointId: id } });
      if (status === 200) return data.sendTestWebhook.__typename;
    }
  });
  await silent.until((received) => received.length >= 8);
  expect((await few.platform.send('{ viewer { kind } }')).status).toBe(200);
  silent.answer = answer(200);
  for (const response of unanswered) response.end();
  await Promise.all(waiting);
});

const readingIn = async ({ owner }: TestGateway) =>
  (
    await owner.query(`select from pg_stat_activity where datname = current_database()
      and wait_event_type = 'Lock' and application_name like '%serving%'`)
  ).rowCount;

const few = await testGateway({ DATABASE_POOL: 3 }, undefined, { pace });
const other = await few.newPlatform('other');

describe('with three connections to the database', () => {
  const query = '{ customers { totalCount } }';

  /** Checks that another platform can read while six reads of locked customers wait, `count` of them in Postgres. */
  async function besideOther(count: number, run: () => Promise<Promise<unknown>[]>): Promise<void> {
    const lock = await lockedCustomers(few.databaseUrl);
    let ended = 0;
    const answers = (await run()).map((answer) => answer.then(() => (ended += 1)));
    while ((await readingIn(few)) !== count);
    expect((await other.send('{ webhookEndpoints { edges { node { id } } } }')).status).toBe(200);
    expect([await readingIn(few), ended]).toEqual([count, 0]);
    await lock.release();
    await Promise.all(answers);
  }

  test('the only active platform leaves one connection for newcomers, however slow its reads are', async () => {
    await few.platform.send(query);
    await besideOther(2, async () => Array.from({ length: 6 }, () => few.platform.send(query)));
  });

  test('if several platforms are active, each has one turn, even if it queries and subscribes on a socket', async () => {
    const raw = await openRawSocket(few.url, few.platform.authorization);
    // Caches the other platform's credentials, so that it counts as active.
    for (let asked = 0; asked < 2; asked += 1) await other.send('{ viewer { kind } }');
    await besideOther(1, async () =>
      Array.from({ length: 6 }, (_, id) => {
        const list = id % 2 ? query : 'subscription { customerChanges { snapshot { totalCount } } }';
        raw.send({ id: String(id), type: 'subscribe', payload: { query: list } });
        return raw.receive('next');
      }),
    );
    raw.socket.close();
  });
});

test('places are shared equally by the tenants with requests in flight, and bounded in total', () => {
  const admit = admission(8);
  const admitted = (tenant: string) =>
    Array.from({ length: 20 }, () => admit(tenant)).filter(({ request }) => request !== undefined);
  const first = admitted('a');
  expect(first).toHaveLength(8);
  // The next tenants get half the places, a third, and so on, until there are twice as many requests as places.
  expect(['b', 'c', 'd', 'e', 'f'].map((tenant) => admitted(tenant).length)).toEqual([4, 3, 1, 0, 0]);
  for (const { response } of first) response.emit('close');
  // Once there is room again, the refused tenant is admitted.
  expect(admit('e').request).toBeDefined();
});

test("slow responses to one tenant do not cause another tenant's requests to be refused", () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const admitted = admission(16);
  const admit = (tenant: string) => {
    const { request } = admitted(tenant);
    request?.turn();
    return request;
  };
  const storm = Array.from({ length: 16 }, () => admit('storm'));
  vi.advanceTimersByTime(10_000);
  storm[0]?.onEnd();
  // Only two places (an eighth) are now available, but the first tenant still occupies fifteen.
  expect([admit('storm'), admit('calm') !== undefined]).toEqual([undefined, true]);
  vi.useRealTimers();
});

test("if several platforms are active, expensive queries get a quarter of a platform's turns, and other queries overtake them", async () => {
  const wide = await ownGateway({ DATABASE_POOL: 10 }, undefined, { pace });
  const other = await wide.newPlatform('other');
  const expensive =
    '{ customers(first: 100) { edges { node { id platformCustomerId umaAddress kycStatus createdAt } } } }';
  // Caches both platforms' credentials, so that both count as active.
  for (const platform of [wide.platform, other, wide.platform, other]) await platform.send('{ viewer { kind } }');
  const lock = await lockedCustomers(wide.databaseUrl);
  const answers = Array.from({ length: 10 }, () => wide.platform.send(expensive));
  await other.send('{ viewer { kind } }');
  while ((await readingIn(wide)) !== 2);
  for (const platform of [wide.platform, other]) {
    expect((await platform.send('{ webhookEndpoints { edges { node { id } } } }')).status).toBe(200);
  }
  expect(await readingIn(wide)).toBe(2);
  await lock.release();
  expect((await Promise.all(answers)).map(({ status, errors }) => [status, errors])).toEqual(
    Array(10).fill([200, undefined]),
  );
});

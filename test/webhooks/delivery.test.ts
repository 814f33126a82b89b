import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { fund, makeScene } from '../setup/scene.ts';
import { createEndpoint, endpointUntil, readEndpoint, replay, tryCreate, updateEndpoint } from './endpoint.ts';
import { type Answer, answer, type Received, startReceiver, verify } from './receiver.ts';

let t: TestGateway;
beforeAll(async () => {
  t = await startTestGateway({ WEBHOOK_TIME_SCALE: 20_000 });
});
afterAll(() => t.stop());

/** Deposits in an account, each of which makes one event. */
async function deposit(accountId: string, count: number): Promise<void> {
  for (let made = 0; made < count; made += 1) await fund(t.platform, accountId, 1n);
}

const distinct = (received: readonly Received[]) => new Set(received.map(({ id }) => id)).size;

const megabyte = Buffer.alloc(1_048_576);
const endless: Answer = (response) => {
  response.writeHead(500, { 'content-length': String(1_024 * megabyte.length) });
  const more = () => {
    while (!response.destroyed && response.write(megabyte));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
};

const faults: Readonly<Record<string, Answer>> = {
  'answers 500': answer(500),
  'answers nothing': () => undefined,
  'resets the connection': (_response, _received, request) => request.socket.resetAndDestroy(),
  'answers half a head': (_response, _received, request) => request.socket.write('HTTP/1.1 200 OK\r\nx-slow: '),
  'answers what is not HTTP': (_response, _received, request) => request.socket.end('220 ready\r\n'),
  'answers a gigabyte': endless,
};

test.for(Object.entries(faults))(
  'a receiver that %s gets every event once it is healed, once per id',
  async ([, fault]) => {
    const receiver = await startReceiver(fault);
    const scene = await makeScene(t.platform, 0n);
    const { id, secret } = await createEndpoint(t.platform, { url: receiver.url, eventTypes: ['ACCOUNT_STATUS'] });
    await deposit(scene.usd, 3);
    await receiver.until((received) => distinct(received) === 4);
    const taken: string[] = [];
    receiver.answer = (response, one) => {
      taken.push(one.id);
      response.writeHead(200).end();
    };
    await endpointUntil(t.platform, id, ({ deliveries }) =>
      deliveries.every((delivery: { status: string }) => delivery.status === 'DELIVERED'),
    );
    const endpoint = await readEndpoint(t.platform, id);
    expect(endpoint).toMatchObject({ status: 'ENABLED', failingSince: null });
    expect(endpoint.deliveries).toHaveLength(4);
    expect(taken.toSorted()).toEqual([...new Set(receiver.received.map((one) => one.id))].toSorted());
    for (const { attempts, nextAttemptAt } of endpoint.deliveries) {
      expect(attempts.length).toBeGreaterThan(1);
      expect(attempts[0].error).toEqual(expect.any(String));
      expect(attempts.at(-1)).toMatchObject({ responseStatus: 200, error: null });
      expect(nextAttemptAt).toBe(null);
    }
    for (const one of receiver.received) expect(verify(secret, one)).toEqual(one.body);
    await receiver.stop();
  },
);

test('a redirect is a failure and is not followed', async () => {
  const inside = await startReceiver();
  const receiver = await startReceiver(answer(301, { location: inside.url }));
  const { id } = await createEndpoint(t.platform, { url: receiver.url });
  const endpoint = await endpointUntil(t.platform, id, ({ deliveries }) => deliveries[0]?.attempts.length > 1);
  expect(endpoint.deliveries[0].attempts[0]).toMatchObject({
    responseStatus: 301,
    error: 'answered 301: redirects are not followed',
  });
  expect(inside.connections).toBe(0);
  await receiver.stop();
  await inside.stop();
});

test('an endless answer to a success costs nothing: its status counts, and the rest is not read', async () => {
  let written = 0;
  const receiver = await startReceiver((response) => {
    response.writeHead(200);
    const more = () => {
      while (!response.destroyed && response.write(megabyte)) written += 1;
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  });
  const { id } = await createEndpoint(t.platform, { url: receiver.url });
  const { deliveries } = await endpointUntil(t.platform, id, (one) => one.deliveries[0]?.attempts.length > 0);
  expect(deliveries[0]).toMatchObject({ status: 'DELIVERED', attempts: [{ responseStatus: 200, error: null }] });
  expect(written).toBeLessThan(64);
  await receiver.stop();
});

test('409 is a success, for the receiver has it already', async () => {
  const receiver = await startReceiver(answer(409));
  const { id } = await createEndpoint(t.platform, { url: receiver.url });
  const { deliveries, status } = await endpointUntil(t.platform, id, (one) => one.deliveries[0]?.attempts.length > 0);
  expect(status).toBe('ENABLED');
  expect(deliveries[0]).toMatchObject({ status: 'DELIVERED', attempts: [{ responseStatus: 409, error: null }] });
  await receiver.stop();
});

test('410 disables the endpoint at once, and its notice says so', async () => {
  const receiver = await startReceiver(answer(410));
  const { id } = await createEndpoint(t.platform, { url: receiver.url });
  const endpoint = await endpointUntil(t.platform, id, ({ status }) => status === 'DISABLED');
  expect(endpoint).toMatchObject({
    notice: 'Disabled: the receiver answered 410, it wants no more.',
    disabledAt: expect.any(String),
    deliveries: [{ status: 'FAILED', nextAttemptAt: null, attempts: [{ responseStatus: 410 }] }],
  });
  await receiver.stop();
});

test('hanging receivers hold up nobody else, and have no more than eight requests at a time', async () => {
  const hanging = await Promise.all([1, 2, 3].map(() => startReceiver(() => undefined)));
  const healthy = await startReceiver();
  const scene = await makeScene(t.platform, 0n);
  for (const { url } of [...hanging, healthy])
    await createEndpoint(t.platform, { url, eventTypes: ['ACCOUNT_STATUS'] });
  await deposit(scene.usd, 40);
  await healthy.until((received) => distinct(received) === 41);
  expect(healthy.received).toHaveLength(41);
  // An attempt ends after a second here; those that the hanging ones were sent meanwhile stay within their share.
  for (const one of hanging) expect(one.received.length).toBeLessThan(41);
  await Promise.all([...hanging, healthy].map((one) => one.stop()));
});

test('what a receiver asks for with Retry-After is granted, up to a day', async () => {
  const slow = await startTestGateway({ WEBHOOK_TIME_SCALE: 100 });
  const scaled = (seconds: number) => (seconds * 1_000) / 100;
  const pauseAfter = async (retryAfter: Record<string, string>) => {
    const receiver = await startReceiver(answer(503, retryAfter));
    const { id } = await createEndpoint(slow.platform, { url: receiver.url });
    const { deliveries } = await endpointUntil(slow.platform, id, (one) => one.deliveries[0]?.attempts.length > 0);
    const [{ attempts, nextAttemptAt }] = deliveries;
    await receiver.stop();
    return Date.parse(nextAttemptAt) - Date.parse(attempts.at(-1).at);
  };
  expect(await pauseAfter({ 'retry-after': '3600' })).toBeGreaterThanOrEqual(scaled(3_600));
  const day = await pauseAfter({ 'retry-after': '99999999' });
  expect(day).toBeGreaterThanOrEqual(scaled(86_400));
  expect(day).toBeLessThan(scaled(2 * 86_400));
  const date = new Date(Date.now() + 7_200_000).toUTCString();
  expect(await pauseAfter({ 'retry-after': date })).toBeGreaterThanOrEqual(scaled(7_100));
  await slow.stop();
});

test('an endpoint that only fails is FAILING, then disabled after days with a notice; a range replay brings all it missed', async () => {
  const fast = await startTestGateway({ WEBHOOK_TIME_SCALE: 200_000 });
  const receiver = await startReceiver(answer(500));
  const scene = await makeScene(fast.platform, 0n);
  const { cursor } = (await fast.platform.ask('{ viewer { cursor: feedCursor } }')).viewer;
  const { id, secret } = await createEndpoint(fast.platform, { url: receiver.url, eventTypes: ['ACCOUNT_STATUS'] });
  let deposits = 0;
  const failing = await endpointUntil(fast.platform, id, ({ status }) => status !== 'ENABLED');
  expect(failing).toMatchObject({ status: 'FAILING', failingSince: expect.any(String), notice: null });
  const disabled = await (async () => {
    for (;;) {
      await fund(fast.platform, scene.usd, 1n);
      deposits += 1;
      const endpoint = await readEndpoint(fast.platform, id);
      if (endpoint.status === 'DISABLED') return endpoint;
    }
  })();
  expect(disabled.notice).toMatch(/^Disabled: every attempt since \d{4}-.+Z has failed, the last one: answered 500$/);
  expect(disabled.deliveries.every((delivery: { status: string }) => delivery.status === 'FAILED')).toBe(true);

  receiver.answer = answer(200);
  const before = receiver.received.length;
  expect((await updateEndpoint(fast.platform, { endpointId: id, enabled: true })).endpoint).toMatchObject({
    status: 'ENABLED',
    failingSince: null,
  });
  const { count } = await replay(fast.platform, { endpointId: id, after: cursor });
  // Every deposit, and the test event.
  expect(count).toBe(deposits + 1);
  await receiver.until((received) => distinct(received.slice(before)) === deposits + 1);
  for (const one of receiver.received.slice(before)) expect(verify(secret, one)).toEqual(one.body);
  const healed = await endpointUntil(fast.platform, id, ({ deliveries }) =>
    deliveries.every((delivery: { status: string }) => delivery.status === 'DELIVERED'),
  );
  expect(healed.status).toBe('ENABLED');
  await fast.stop();
  await receiver.stop();
});

test('an event is attempted ten times over the schedule, and then given up, visibly', async () => {
  const fast = await startTestGateway({ WEBHOOK_TIME_SCALE: 50_000 });
  const receiver = await startReceiver(answer(404));
  const { id } = await createEndpoint(fast.platform, { url: receiver.url });
  const endpoint = await endpointUntil(fast.platform, id, ({ deliveries }) => deliveries[0]?.status === 'FAILED');
  const [{ attempts, nextAttemptAt, event }] = endpoint.deliveries;
  expect(attempts).toHaveLength(10);
  expect(attempts.map((attempt: { error: string }) => attempt.error)).toEqual(Array(10).fill('answered 404'));
  expect(nextAttemptAt).toBe(null);
  expect(distinct(receiver.received)).toBe(1);

  receiver.answer = answer(204);
  expect(await replay(fast.platform, { endpointId: id, eventId: event.id })).toEqual({ count: 1, replayed: false });
  await receiver.until((received) => received.length === 11);
  expect(distinct(receiver.received)).toBe(1);
  const after = await endpointUntil(fast.platform, id, ({ deliveries }) => deliveries[0].status === 'DELIVERED');
  expect(after.deliveries[0].attempts).toHaveLength(11);
  await fast.stop();
  await receiver.stop();
});

test('a process that stops gives back what it was sending, and the next one sends it at once', async () => {
  const SECRET_KEY = randomBytes(32);
  const serving = await startTestGateway({ ROLE: 'serve', SECRET_KEY });
  const receiver = await startReceiver(() => undefined);
  const { id, secret } = await createEndpoint(serving.platform, { url: receiver.url });
  const first = await startTestGateway({ ROLE: 'work', SECRET_KEY }, serving.databaseUrl);
  await receiver.until((received) => received.length === 1);
  await first.gateway.stop();
  expect((await readEndpoint(serving.platform, id)).deliveries).toMatchObject([{ status: 'PENDING', attempts: [] }]);

  receiver.answer = answer(200);
  const second = await startTestGateway({ ROLE: 'work', SECRET_KEY }, serving.databaseUrl);
  await receiver.until((received) => received.length === 2);
  expect(distinct(receiver.received)).toBe(1);
  for (const one of receiver.received) expect(verify(secret, one)).toEqual(one.body);
  await endpointUntil(serving.platform, id, ({ deliveries }) => deliveries[0].status === 'DELIVERED');
  await second.gateway.stop();
  await serving.stop();
  await receiver.stop();
});

test('where the key of the stored secrets is another, nothing is sent unsigned, and the attempts say why', async () => {
  const serving = await startTestGateway({ ROLE: 'serve' });
  const receiver = await startReceiver();
  const { id } = await createEndpoint(serving.platform, { url: receiver.url });
  const working = await startTestGateway({ ROLE: 'work', SECRET_KEY: randomBytes(32) }, serving.databaseUrl);
  const { deliveries } = await endpointUntil(serving.platform, id, (one) => one.deliveries[0]?.attempts.length > 0);
  expect(deliveries[0].attempts[0]).toMatchObject({
    responseStatus: null,
    error: 'not sent: the signing secret cannot be read; rotate it',
  });
  expect(receiver.connections).toBe(0);
  await working.gateway.stop();
  await serving.stop();
  await receiver.stop();
});

test('without a key there are no endpoints, and the refusal says what is missing', async () => {
  const keyless = await startTestGateway({ SECRET_KEY: undefined });
  expect(await tryCreate(keyless.platform, { url: 'https://hooks.example.com/' })).toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    message: 'webhooks are not set up here: SECRET_KEY is not set',
  });
  await keyless.stop();
});

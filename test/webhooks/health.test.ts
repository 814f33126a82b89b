import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { type Data, ownGateway, startTestGateway, uuidIn } from '../setup/gateway.ts';
import {
  createEndpoint,
  endpointUntil,
  hasAll,
  isAttempted,
  readEndpoint,
  replay,
  updateEndpoint,
} from './endpoint.ts';
import { answer, distinct, ownReceiver, verify } from './receiver.ts';

test("a receiver's Retry-After is respected, up to a day", async () => {
  const slow = await ownGateway({ WEBHOOK_TIME_SCALE: 100 });
  const scaled = (seconds: number) => (seconds * 1_000) / 100;
  const pauseAfter = async (retryAfter: Record<string, string>) => {
    const receiver = await ownReceiver(answer(503, retryAfter));
    const { id } = await createEndpoint(slow.platform, { url: receiver.url });
    // On a busy machine, an attempt can time out before the response arrives.
    const isAnswered = ({ deliveries: [one] }: Data) => one?.attempts.at(-1)?.responseStatus === 503;
    const { deliveries } = await endpointUntil(slow.platform, id, isAnswered);
    const [{ attempts, nextAttemptAt }] = deliveries;
    // The delay starts at the end of the attempt.
    return Date.parse(nextAttemptAt) - Date.parse(attempts.at(-1).at) - attempts.at(-1).durationMs;
  };
  expect(await pauseAfter({ 'retry-after': '3600' })).toBe(scaled(3_600));
  expect(await pauseAfter({ 'retry-after': '99999999' })).toBe(scaled(86_400));
  const date = new Date(Date.now() + 7_200_000).toUTCString();
  expect(await pauseAfter({ 'retry-after': date })).toBeGreaterThanOrEqual(scaled(7_100));
});

test('an endpoint that keeps failing becomes FAILING, and is later disabled with a notice; a replay sends all missed events', async () => {
  const fast = await ownGateway({ WEBHOOK_TIME_SCALE: 200_000 });
  const receiver = await ownReceiver(answer(500));
  const scene = await fast.platform.makeScene(0n);
  const cursor = await fast.platform.feedEnd();
  const { id, secret } = await createEndpoint(fast.platform, { url: receiver.url, eventTypes: ['ACCOUNT_STATUS'] });
  const failing = await endpointUntil(fast.platform, id, ({ status }) => status !== 'ENABLED');
  expect(failing).toMatchObject({ status: 'FAILING', failingSince: expect.any(String), notice: null });
  let deposits = 0;
  let disabled = failing;
  for (; disabled.status !== 'DISABLED'; deposits += 1) {
    await fast.platform.fund(scene.usd, 1n);
    disabled = await readEndpoint(fast.platform, id);
  }
  expect(disabled.notice).toMatch(/^Disabled: every attempt since \d{4}-.+Z has failed, the last one: answered 500$/);
  // Immediately afterwards, pending deliveries are abandoned in batches.
  await endpointUntil(fast.platform, id, hasAll('FAILED'));

  // A deposit reaches the feed a moment after its response.
  const query = 'query ($after: String) { events(after: $after, filter: { types: [ACCOUNT_STATUS] }) { totalCount } }';
  const inFeed = async () => (await fast.platform.ask(query, { after: cursor })).events.totalCount;
  while ((await inFeed()) < deposits) await fast.gateway.feed.waitForChange(50);

  receiver.answer = answer(200);
  const before = receiver.received.length;
  const { endpoint } = await updateEndpoint(fast.platform, { endpointId: id, enabled: true });
  expect(endpoint).toMatchObject({ status: 'ENABLED', failingSince: null });
  const { count } = await replay(fast.platform, { endpointId: id, events: { between: { after: cursor } } });
  // The replay includes all deposits and the test event.
  expect(count).toBe(deposits + 1);
  await receiver.until((received) => distinct(received.slice(before)) === deposits + 1);
  for (const one of receiver.received.slice(before)) expect(verify(secret, one)).toEqual(one.body);
  expect(await endpointUntil(fast.platform, id, hasAll('DELIVERED'))).toMatchObject({ status: 'ENABLED' });

  // A failure counts if its attempt began after the last success.
  receiver.answer = answer(410);
  await fast.platform.fund(scene.usd, 1n);
  await endpointUntil(fast.platform, id, ({ status }) => status === 'DISABLED');
});

test('a late failure does not count if the endpoint has since succeeded or changed its URL', async () => {
  const SECRET_KEY = randomBytes(32);
  const serving = await ownGateway({ ROLE: 'serve', SECRET_KEY });
  const late: ServerResponse[] = [];
  const slow = await ownReceiver((response) => late.push(response));
  const silent = await ownReceiver(() => undefined);
  const make = () => createEndpoint(serving.platform, { url: slow.url });
  const [healthy, moved] = [await make(), await make()];
  const working = await startTestGateway({ ROLE: 'work', SECRET_KEY }, serving.databaseUrl);
  await slow.until((received) => received.length === 2);

  await updateEndpoint(serving.platform, { endpointId: moved.id, url: silent.url });
  slow.answer = answer(200);
  await serving.platform.succeed('sendTestWebhook', { endpointId: healthy.id }, 'delivered');
  // The success is recorded a moment after the delivery.
  const recorded = 'select from webhook_endpoint where id = $1 and failures_after is not null';
  while ((await serving.owner.query(recorded, [uuidIn(healthy.id)])).rowCount === 0);

  for (const response of late) response.writeHead(410).end();
  for (const { id } of [healthy, moved])
    await endpointUntil(serving.platform, id, ({ deliveries }) => deliveries[0].status === 'FAILED');
  // The failed attempts have now been recorded. Stopping the gateway aborts the open request to the new URL.
  await silent.until((received) => received.length === 1);
  await working.gateway.stop();
  for (const { id } of [healthy, moved]) {
    const { deliveries, ...endpoint } = await readEndpoint(serving.platform, id);
    expect(deliveries[0]).toMatchObject({ status: 'FAILED', attempts: [{ responseStatus: 410 }] });
    expect(endpoint).toMatchObject({ status: 'ENABLED', failingSince: null, notice: null });
  }
});

test('a delivery is attempted ten times on schedule, and is then FAILED', async () => {
  const fast = await ownGateway({ WEBHOOK_TIME_SCALE: 25_000 });
  const receiver = await ownReceiver(answer(404));
  const { id } = await createEndpoint(fast.platform, { url: receiver.url });
  const endpoint = await endpointUntil(fast.platform, id, ({ deliveries }) => deliveries[0]?.status === 'FAILED');
  const [{ attempts, nextAttemptAt, event }] = endpoint.deliveries;
  expect(attempts).toHaveLength(10);
  expect(attempts.map((attempt: { error: string }) => attempt.error)).toEqual(Array(10).fill('answered 404'));
  expect(nextAttemptAt).toBe(null);
  expect(distinct(receiver.received)).toBe(1);

  receiver.answer = answer(204);
  const again = await replay(fast.platform, { endpointId: id, events: { eventId: event.id } });
  expect(again).toMatchObject({ count: 1, replayed: false });
  await receiver.until((received) => received.length === 11);
  expect(distinct(receiver.received)).toBe(1);
  const after = await endpointUntil(fast.platform, id, ({ deliveries }) => deliveries[0].status === 'DELIVERED');
  expect(after.deliveries[0].attempts).toHaveLength(11);
});

test('a process that stops releases its unsent webhooks, and the next process sends them immediately', async () => {
  const SECRET_KEY = randomBytes(32);
  const serving = await ownGateway({ ROLE: 'serve', SECRET_KEY });
  const receiver = await ownReceiver(() => undefined);
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
  await endpointUntil(serving.platform, id, hasAll('DELIVERED'));
  await second.gateway.stop();
});

test('if secrets were encrypted with a different key, nothing is sent, and the attempts say why', async () => {
  const serving = await ownGateway({ ROLE: 'serve' });
  const receiver = await ownReceiver();
  const { id } = await createEndpoint(serving.platform, { url: receiver.url });
  const working = await startTestGateway({ ROLE: 'work', SECRET_KEY: randomBytes(32) }, serving.databaseUrl);
  const { deliveries } = await endpointUntil(serving.platform, id, isAttempted);
  expect(deliveries[0].attempts[0]).toMatchObject({
    responseStatus: null,
    error: 'not sent: the signing secret cannot be decrypted; rotate it',
  });
  expect(receiver.connections).toBe(0);
  await working.gateway.stop();
});

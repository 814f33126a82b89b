import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { webhookTypes } from '../../src/api/webhooks/webhooks.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { restClient } from '../setup/rest.ts';
import { createEndpoint, endpointUntil, updateEndpoint } from '../webhooks/endpoint.ts';
import { answer, ownReceiver, type Received, verify } from '../webhooks/receiver.ts';

const t = await testGateway();
const rest = await restClient(t.url, t.platform.authorization);

const set = (webhookEndpoint: string | null, status = 200) => rest.ask('PATCH', '/config', { webhookEndpoint }, status);
const endpoints = async (): Promise<Data[]> => {
  const query = '{ webhookEndpoints(first: 50) { edges { node { id url status eventTypes } } } }';
  return (await t.platform.ask(query)).webhookEndpoints.edges.map((edge: Data) => edge.node);
};

test('a new endpoint’s secret is shown once, and the endpoint gets a signed test event and is visible over GraphQL', async () => {
  const receiver = await ownReceiver();
  expect(await rest.ask('GET', '/config')).not.toHaveProperty('webhookEndpoint');
  const before = await rest.ask('GET', '/config');
  const made = await set(receiver.url);
  expect(made).toEqual({
    ...before,
    webhookEndpoint: receiver.url,
    webhookSecret: expect.stringMatching(/^whsec_/),
    webhookTokenId: expect.stringMatching(/^ApiToken:/),
    updatedAt: made.updatedAt,
  });
  expect(made.updatedAt > before.updatedAt).toBe(true);
  const { webhookSecret, ...shown } = made;
  expect(await rest.ask('GET', '/config')).toEqual(shown);
  await receiver.until((received) => received.length === 1);
  const [event] = receiver.received as [Received];
  expect(verify(webhookSecret, event)).toMatchObject({ type: 'TEST', test: true });
  expect(await endpoints()).toMatchObject([{ url: receiver.url, status: 'ENABLED', eventTypes: webhookTypes }]);

  // Setting the same URL again changes nothing. Setting another URL updates the endpoint, which keeps its secret and
  // gets a test event.
  expect(await set(receiver.url)).not.toHaveProperty('webhookSecret');
  const moved = await set(`${receiver.url}/moved`);
  expect(moved).not.toHaveProperty('webhookSecret');
  await receiver.until((received) => received.length === 2);
  expect(verify(webhookSecret, receiver.received[1] as Received)).toMatchObject({ type: 'TEST' });
  expect(await endpoints()).toHaveLength(1);

  // An endpoint that is removed and set again gets a new secret.
  expect(await set(null)).not.toHaveProperty('webhookEndpoint');
  expect(await endpoints()).toEqual([]);
  expect((await set(receiver.url)).webhookSecret).not.toBe(webhookSecret);
  await set(null);
});

test('REST does not change webhook endpoints created through GraphQL, and setting a disabled endpoint again enables it', async () => {
  const [own, others] = [await ownReceiver(), await ownReceiver()];
  const { id } = await createEndpoint(t.platform, { url: others.url, eventTypes: ['KYC_STATUS'] });
  expect(await rest.ask('GET', '/config')).not.toHaveProperty('webhookEndpoint');
  await set(own.url);
  const [settings] = (await endpoints()).filter(({ url }) => url === own.url);
  expect((await endpoints()).map(({ url }) => url).sort()).toEqual([own.url, others.url].sort());

  await updateEndpoint(t.platform, { endpointId: settings.id, enabled: false });
  const refused = await rest.ask('POST', '/webhooks/test', undefined, 409);
  expect(refused).toMatchObject({ code: 'CONFLICT' });
  await set(own.url);
  expect(await endpointUntil(t.platform, settings.id, () => true)).toMatchObject({ status: 'ENABLED' });
  await set(null);
  expect(await endpoints()).toMatchObject([{ id, url: others.url, eventTypes: ['KYC_STATUS'], status: 'ENABLED' }]);
});

test('a test returns whatever status the receiver sends, and a repeated key returns the original result', async () => {
  const [own, others] = [await ownReceiver(), await ownReceiver(answer(418))];
  expect(await rest.ask('POST', '/webhooks/test', undefined, 400)).toMatchObject({ code: 'WEBHOOK_ENDPOINT_NOT_SET' });
  await set(own.url);
  await createEndpoint(t.platform, { url: others.url });
  expect(await rest.ask('POST', '/webhooks/test')).toEqual({ response_status: 200, url: own.url });
  const { url: elsewhere } = others;
  const teapot = { response_status: 418, url: elsewhere };
  expect(await rest.ask('POST', '/webhooks/test', { url: elsewhere })).toEqual(teapot);
  const nowhere = await rest.ask('POST', '/webhooks/test', { url: `${own.url}/nowhere` }, 400);
  expect(nowhere).toMatchObject({ code: 'WEBHOOK_ENDPOINT_NOT_SET', details: { field: 'url' } });

  // HTTP parsers accept any three-digit status code.
  own.answer = answer(999);
  const first = await rest.call('POST', '/webhooks/test', { key: 'one-test' });
  expect(first).toMatchObject({ status: 200, body: { response_status: 999 } });
  own.answer = answer(200);
  await set(`${own.url}/moved`);
  const again = await rest.call('POST', '/webhooks/test', { key: 'one-test' });
  expect([again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([200, first.text, 'true']);

  const { url } = own;
  await set(url);
  await own.stop();
  const silent = await rest.call('POST', '/webhooks/test', { key: 'nobody-there' });
  expect(silent).toMatchObject({
    status: 400,
    body: { code: 'WEBHOOK_DELIVERY_ERROR', details: { url, reason: expect.stringContaining('refused') } },
  });
  const same = await rest.call('POST', '/webhooks/test', { key: 'nobody-there' });
  expect([same.status, same.text, same.headers.get('idempotency-replayed')]).toEqual([400, silent.text, 'true']);
  await set(null);
});

test('a URL to which events must not be sent is refused, and nothing in the request is applied', async () => {
  const before = await rest.ask('GET', '/config');
  for (const webhookEndpoint of ['nonsense', 'http://example.com', 'https://10.0.0.1', 'https://example.com:22']) {
    const body = { webhookEndpoint, umaDomain: 'never.example.com' };
    const refused = await rest.ask('PATCH', '/config', body, 400);
    expect(refused).toMatchObject({ code: 'INVALID_INPUT', details: { field: 'webhookEndpoint' } });
  }
  const real = await restClient(t.url, (await t.newPlatform('real', 'PRODUCTION')).authorization);
  await real.ask('PATCH', '/config', { webhookEndpoint: 'http://127.0.0.1:9/' }, 400);

  // If the settings are refused, so is the endpoint that they contain.
  const taken = (await real.ask('GET', '/config')).umaDomain;
  const receiver = await ownReceiver();
  await rest.ask('PATCH', '/config', { umaDomain: taken, webhookEndpoint: receiver.url }, 409);
  expect(await rest.ask('GET', '/config')).toEqual(before);
});

test('a platform can have sixteen webhook tests waiting for a response; both APIs refuse one more as RATE_LIMITED', async () => {
  const silent: ServerResponse[] = [];
  const receiver = await ownReceiver((response) => silent.push(response));
  await set(receiver.url);
  const [endpoint] = await endpoints();
  const send = () => t.platform.act('sendTestWebhook', { endpointId: endpoint?.id }, 'delivered');
  const tests = Array.from({ length: 17 }, send);
  // Only the request beyond the limit completes before the receiver responds.
  const refused = await Promise.race(tests);
  const overRest = await rest.call('POST', '/webhooks/test');
  expect(refused).toMatchObject({ __typename: 'UnavailableError', code: 'RATE_LIMITED', retryAfter: 1 });
  expect(overRest).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
  expect(overRest.headers.get('retry-after')).toBe('1');
  receiver.answer = answer(200);
  for (const response of silent) response.end();
  const ends = await Promise.all(tests);
  expect(ends.filter(({ __typename }) => __typename === 'SendTestWebhookSuccess')).toHaveLength(16);
  await t.platform.act('sendTestWebhook', { endpointId: endpoint?.id }, 'delivered');
  // The receiver has received the new endpoint's first event, the sixteen concurrent ones, and the last one.
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(18);
  await set(null);
});

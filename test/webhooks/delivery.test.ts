import { expect, test } from 'vitest';
import { type Data, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { createEndpoint, endpointUntil, hasAll, isAttempted } from './endpoint.ts';
import { type Answer, answer, distinct, ownReceiver, verify } from './receiver.ts';

const t = await testGateway({ WEBHOOK_TIME_SCALE: 20_000 });

/** Makes deposits into an account. Each deposit causes one event. */
async function deposit(accountId: string, count: number): Promise<void> {
  for (let made = 0; made < count; made += 1) await t.platform.fund(accountId, 1n);
}

const megabyte = Buffer.alloc(1_048_576);
/** Responds with an endless body. */
const endless =
  (status: number, onWrite: () => unknown = () => undefined): Answer =>
  (response) => {
    response.writeHead(status);
    const more = () => {
      while (!response.destroyed && response.write(megabyte)) onWrite();
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  };

const faults: Readonly<Record<string, Answer>> = {
  'answers 500': answer(500),
  'does not answer': () => undefined,
  'resets the connection': (_response, _received, request) => request.socket.resetAndDestroy(),
  'sends half a response head': (_response, _received, request) => request.socket.write('HTTP/1.1 200 OK\r\nx-slow: '),
  'answers something other than HTTP': (_response, _received, request) => request.socket.end('220 ready\r\n'),
  'sends an endless answer': endless(500),
};

test.for(Object.entries(faults))(
  'a receiver that %s gets every event exactly once after it has recovered',
  async ([, fault]) => {
    const receiver = await ownReceiver(fault);
    const scene = await t.platform.makeScene(0n);
    const { id, secret } = await createEndpoint(t.platform, { url: receiver.url, eventTypes: ['ACCOUNT_STATUS'] });
    await deposit(scene.usd, 3);
    await receiver.until((received) => distinct(received) === 4);
    receiver.answer = answer(200);
    // The endpoint's health is stored right after the delivery.
    const isHealed = (one: Data) => one.failingSince === null && hasAll('DELIVERED')(one);
    const endpoint = await endpointUntil(t.platform, id, isHealed);
    expect(endpoint.status).toBe('ENABLED');
    expect(endpoint.deliveries).toHaveLength(4);
    for (const { attempts, nextAttemptAt } of endpoint.deliveries) {
      expect(attempts.length).toBeGreaterThan(1);
      expect(attempts[0].error).toEqual(expect.any(String));
      // On a slow machine, an attempt can time out even though the receiver has answered it.
      expect(attempts.filter(({ responseStatus }: Data) => responseStatus === 200)).toEqual([attempts.at(-1)]);
      expect(attempts.at(-1).error).toBe(null);
      expect(nextAttemptAt).toBe(null);
    }
    for (const one of receiver.received) expect(verify(secret, one)).toEqual(one.body);
  },
);

test('a redirect is a failure and is not followed', async () => {
  const inside = await ownReceiver();
  const receiver = await ownReceiver(answer(301, { location: inside.url }));
  const { id } = await createEndpoint(t.platform, { url: receiver.url });
  const endpoint = await endpointUntil(t.platform, id, ({ deliveries }) => deliveries[0]?.attempts.length > 1);
  expect(endpoint.deliveries[0].attempts[0]).toMatchObject({
    responseStatus: 301,
    error: 'answered 301: redirects are not followed',
  });
  expect(inside.connections).toBe(0);
});

test('an endless body in a successful response is harmless: only the status counts, and the rest is not read', async () => {
  let written = 0;
  const receiver = await ownReceiver(endless(200, () => (written += 1)));
  const { id } = await createEndpoint(t.platform, { url: receiver.url });
  const { deliveries } = await endpointUntil(t.platform, id, isAttempted);
  expect(deliveries[0]).toMatchObject({ status: 'DELIVERED', attempts: [{ responseStatus: 200, error: null }] });
  expect(written).toBeLessThan(64);
});

test('a 409 response counts as a success, because the receiver already has the event', async () => {
  const receiver = await ownReceiver(answer(409));
  const { id } = await createEndpoint(t.platform, { url: receiver.url });
  const { deliveries, status } = await endpointUntil(t.platform, id, isAttempted);
  expect(status).toBe('ENABLED');
  expect(deliveries[0]).toMatchObject({ status: 'DELIVERED', attempts: [{ responseStatus: 409, error: null }] });
});

test('a 410 response disables the endpoint immediately, and the notice says so', async () => {
  const receiver = await ownReceiver(answer(410));
  const { id } = await createEndpoint(t.platform, { url: receiver.url });
  const endpoint = await endpointUntil(t.platform, id, ({ status }) => status === 'DISABLED');
  expect(endpoint).toMatchObject({
    notice: 'Disabled: the receiver answered 410, so it wants no more events.',
    disabledAt: expect.any(String),
    deliveries: [{ status: 'FAILED', nextAttemptAt: null, attempts: [{ responseStatus: 410 }] }],
  });
});

test('hanging receivers do not delay other receivers, and get at most eight requests at a time', async () => {
  const hanging = await Promise.all([1, 2, 3].map(() => ownReceiver(() => undefined)));
  const healthy = await ownReceiver();
  const scene = await t.platform.makeScene(0n);
  for (const { url } of [...hanging, healthy])
    await createEndpoint(t.platform, { url, eventTypes: ['ACCOUNT_STATUS'] });
  await deposit(scene.usd, 40);
  await healthy.until((received) => distinct(received) === 41);
  // An attempt times out only after a second here, so no hanging endpoint has received all of its requests yet.
  for (const one of hanging) expect(one.received.length).toBeLessThan(41);
});

test('the feed contains each webhook’s body, byte for byte, in lists and in streams', async () => {
  const platform = await t.newPlatform('reads bodies');
  const receiver = await ownReceiver();
  await createEndpoint(platform, { url: receiver.url });
  const fields = 'id type webhookBody';
  const stream = `subscription ($after: String) { events(after: $after) { ${fields} } }`;
  const after = await platform.feedEnd();
  const scene = await platform.makeScene();
  const { id } = await platform.pay(scene);
  await platform.ended(id);
  await receiver.until((received) => received.some(({ body }) => body.transaction?.status === 'COMPLETED'));
  const { events } = await platform.ask(`{ events(first: 100) { edges { node { ${fields} } } } }`);
  const read = new Map<string, Data>(events.edges.map(({ node }: Data) => [node.id, node]));
  const types = new Set(receiver.received.map(({ body }) => body.type));
  expect([...types]).toEqual(expect.arrayContaining(['TEST', 'KYC_STATUS', 'ACCOUNT_STATUS', 'OUTGOING_PAYMENT']));
  for (const { body, raw } of receiver.received) expect(read.get(body.eventId)?.webhookBody).toBe(raw);
  for (const { type, webhookBody } of read.values()) {
    if (type === 'QUOTE_STATUS' || type.endsWith('_CHANGE')) expect(webhookBody).toBe(null);
  }
  const isLast = ({ webhookBody }: Data) => /"status":"COMPLETED"/.test(webhookBody);
  for (const event of await platform.followed(stream, { after }, isLast)) expect(event).toEqual(read.get(event.id));
});

test("a customer's app cannot read deliveries, or webhook bodies, which contain its platform's notes", async () => {
  const receiver = await ownReceiver();
  await createEndpoint(t.platform, { url: receiver.url, eventTypes: ['ACCOUNT_STATUS'] });
  const { customerId, usd } = await t.platform.makeScene(0n);
  await t.platform.fund(usd, 5n);
  await receiver.until((received) => received.some(({ body }) => body.accountId === usd));
  const app = await t.platform.appOf({ customerId, permissions: ['VIEW'] });
  const list = `query ($customerId: ID!) { events(last: 1, filter: { types: [ACCOUNT_STATUS], customerId: $customerId }) {
    edges { node { webhookBody deliveries { id endpoint { url } } } } } }`;
  const eventOf = async (viewer: TestPlatform) => (await viewer.ask(list, { customerId })).events.edges[0].node;
  expect(await eventOf(app)).toEqual({ webhookBody: null, deliveries: [] });
  const whole = await eventOf(t.platform);
  expect(JSON.parse(whole.webhookBody)).toMatchObject({ accountId: usd });
  expect(whole.deliveries).toContainEqual({ id: expect.any(String), endpoint: { url: receiver.url } });
});

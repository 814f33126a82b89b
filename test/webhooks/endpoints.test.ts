import { expect, test } from 'vitest';
import { webhookTypes } from '../../src/api/webhooks/webhooks.ts';
import { refusal, usdToEur } from '../setup/acts.ts';
import { type Data, ownGateway, type TestPlatform, testGateway, uuidIn, whileLocked } from '../setup/gateway.ts';
import { patient } from '../setup/locks.ts';
import { countedGateway } from '../setup/statements.ts';
import { createEndpoint, endpointUntil, replay, resend, tryCreate, updateEndpoint } from './endpoint.ts';
import { answer, ownReceiver, type Received, verify } from './receiver.ts';

const t = await testGateway({}, undefined, { pace: patient });
const counting = await countedGateway(t);

/** Waits until the given number of an account's balance changes have been assigned feed positions. */
async function feedHas(accountId: string, changes: number): Promise<void> {
  const { prisma } = t.gateway.payments.database;
  const where = { type: 'ACCOUNT_STATUS', accountId: uuidIn(accountId) } as const;
  while ((await prisma.event.count({ where })) < changes) await t.gateway.feed.waitForChange(50);
}

/** Sends a test event, and returns the receiver's response. */
const sendTest = (platform: TestPlatform, endpointId: string, idempotencyKey?: string): Promise<Data> =>
  platform.act('sendTestWebhook', { endpointId, idempotencyKey }, 'delivered responseStatus');

const isDelivered = ({ deliveries }: Data) => deliveries[0]?.status === 'DELIVERED';
const secretForm = /^whsec_[A-Za-z0-9+/]{43}=$/;
const types = (received: readonly Received[]) => received.map(({ body }) => body.type);

test("a new endpoint gets a test event with a signature that the standard's own library verifies", async () => {
  const receiver = await ownReceiver();
  const { id, secret } = await createEndpoint(t.platform, { url: receiver.url, description: 'books' });
  expect(secret).toMatch(secretForm);
  await receiver.until((received) => received.length === 1);
  const [event] = receiver.received as [Received];
  expect(verify(secret, event)).toEqual(event.body);
  expect(event.body).toMatchObject({ type: 'TEST', test: true, version: 1, webhookId: event.id });
  expect(event.headers['content-type']).toBe('application/json');

  const tampered = { ...event, raw: event.raw.replace('TEST', 'BEST') };
  expect(() => verify(secret, tampered)).toThrow();

  const endpoint = await endpointUntil(t.platform, id, isDelivered);
  expect(endpoint).toMatchObject({
    url: receiver.url,
    description: 'books',
    status: 'ENABLED',
    notice: null,
    eventTypes: webhookTypes,
  });
  const [delivery] = endpoint.deliveries;
  expect(delivery.event).toMatchObject({ type: 'TEST', cursor: event.body.cursor, id: event.body.eventId });
  expect(event.id.replace('Webhook:', 'Event:')).toBe(delivery.event.id);
  expect(delivery.attempts).toEqual([
    { at: expect.any(String), durationMs: expect.any(Number), responseStatus: 200, error: null },
  ]);
});

test("a payment's events are sent in the bodies that the specification shows, each with its feed position", async () => {
  const receiver = await ownReceiver();
  const scene = await t.platform.makeScene(100_000n);
  // The events about the scene's creation are already in the feed, so they come before the endpoint's first event.
  await feedHas(scene.usd, 1);
  const { secret } = await createEndpoint(t.platform, { url: receiver.url });
  const input = usdToEur(scene, { lockedCurrencyAmount: 10_000, immediatelyExecute: true, description: 'rent' });
  const shown = 'quote { id exchangeRate transaction { id } }';
  const { quote } = await t.platform.succeed('createQuote', input, shown);
  const isEnd = ({ body }: Received) => body.transaction?.status === 'COMPLETED';
  await receiver.until((received) => received.some(isEnd) && received.length >= 5);
  const events = receiver.received.toSorted((a, b) => a.body.sequence - b.body.sequence);
  for (const event of events) expect(verify(secret, event)).toEqual(event.body);
  expect(new Set(types(events))).toEqual(new Set(['TEST', 'OUTGOING_PAYMENT', 'ACCOUNT_STATUS']));
  const story = events.filter(({ body }) => body.type === 'OUTGOING_PAYMENT');
  expect(story.map(({ body }) => [body.transaction.status, body.version])).toEqual([
    ['PENDING', 1],
    ['PROCESSING', 2],
    ['COMPLETED', 3],
  ]);

  const usd = { code: 'USD', name: 'US Dollar', symbol: '$', decimals: 2 };
  const eur = { code: 'EUR', name: 'Euro', symbol: '€', decimals: 2 };
  const end: Data = events.find(isEnd)?.body;
  expect(end).toEqual({
    type: 'OUTGOING_PAYMENT',
    webhookId: expect.stringMatching(/^Webhook:[0-9a-f-]{36}$/),
    eventId: end.webhookId.replace('Webhook', 'Event'),
    timestamp: end.transaction.updatedAt,
    sequence: expect.any(Number),
    cursor: expect.any(String),
    version: 3,
    transaction: {
      id: quote.transaction.id,
      status: 'COMPLETED',
      type: 'OUTGOING',
      sentAmount: { amount: 10_000, currency: usd },
      receivedAmount: { amount: expect.any(Number), currency: eur },
      source: { sourceType: 'ACCOUNT', accountId: scene.usd, currency: 'USD' },
      destination: { destinationType: 'ACCOUNT', accountId: scene.outsideEur, currency: 'EUR' },
      customerId: scene.customerId,
      platformCustomerId: expect.stringMatching(/^customer-\d+$/),
      reconciliationInstructions: { reference: expect.stringMatching(/^PAY-/) },
      quoteId: quote.id,
      exchangeRate: Number(quote.exchangeRate),
      fees: expect.any(Number),
      rateDetails: expect.objectContaining({ serviceApiMultiplier: expect.any(Number) }),
      settledAt: expect.stringMatching(/Z$/),
      createdAt: expect.stringMatching(/Z$/),
      createdById: expect.stringMatching(/^ApiToken:/),
      updatedAt: expect.stringMatching(/Z$/),
      description: 'rent',
    },
  });
  const balance = events.find(({ body }) => body.type === 'ACCOUNT_STATUS')?.body;
  expect(balance).toMatchObject({
    accountId: scene.usd,
    oldBalance: { amount: 100_000, currency: usd },
    newBalance: { amount: 90_000, currency: usd },
    customerId: scene.customerId,
  });
});

test('the webhook about a failed transfer states the reason and where the money went', async () => {
  const receiver = await ownReceiver();
  const scene = await t.platform.makeScene(5_000n, '003');
  await createEndpoint(t.platform, { url: receiver.url, eventTypes: ['OUTGOING_PAYMENT'] });
  const paid = await t.platform.pay(scene, 1_200);
  const failed = () =>
    receiver.received.find(
      ({ body: { transaction } }) => transaction?.id === paid.id && transaction.status === 'FAILED',
    );
  await receiver.until(() => failed() !== undefined);
  const transaction = failed()?.body.transaction;
  expect(transaction).toMatchObject({
    failureReason: 'QUOTE_EXECUTION_FAILED',
    refund: { reference: expect.stringMatching(/^REFUND-PAY-/), initiatedAt: expect.stringMatching(/Z$/) },
    settledAt: null,
  });
  for (const absent of ['quoteId', 'exchangeRate', 'fees', 'rateDetails'])
    expect(transaction).not.toHaveProperty(absent);
});

test('endpoints are read in one statement, with their deliveries, events, attempts and totals', async () => {
  const receiver = await ownReceiver();
  const { id } = await createEndpoint(t.platform, { url: receiver.url });
  await endpointUntil(t.platform, id, isDelivered);
  const query = `{ webhookEndpoints(first: 5) { edges { node { id eventTypes deliveries(first: 5) { totalCount
    edges { node { status event { id type } attempts { responseStatus error } } } } } } } }`;
  const asked = await counting.statements.during(() => counting.platform.ask(query));
  const { webhookEndpoints } = asked.result;
  expect(webhookEndpoints.edges.length).toBeGreaterThan(1);
  expect(asked.statements).toHaveLength(1);
  const [{ node }] = webhookEndpoints.edges;
  const attempts = [{ responseStatus: 200, error: null }];
  const delivery = { status: 'DELIVERED', event: { type: 'TEST' }, attempts };
  expect(node).toMatchObject({ id, deliveries: { totalCount: 1, edges: [{ node: delivery }] } });
});

test('an endpoint gets only the event types that it subscribes to, and cannot subscribe to feed-only types', async () => {
  const receiver = await ownReceiver();
  const refused = await tryCreate(t.platform, { url: receiver.url, eventTypes: ['QUOTE_STATUS'] });
  expect(refused).toMatchObject({ code: 'INVALID_INPUT', path: ['input', 'eventTypes'] });
  expect(await tryCreate(t.platform, { url: receiver.url, eventTypes: [] })).toMatchObject({ code: 'INVALID_INPUT' });
  await createEndpoint(t.platform, { url: receiver.url, eventTypes: ['KYC_STATUS'] });
  const first = await t.platform.makeScene(5_000n);
  // The two webhooks are sent concurrently, so either may arrive first.
  await receiver.until(
    (received) => received.some(({ body }) => body.customerId === first.customerId) && types(received).includes('TEST'),
  );
  expect(new Set(types(receiver.received))).toEqual(new Set(['TEST', 'KYC_STATUS']));
  expect(receiver.received.find(({ body }) => body.type === 'KYC_STATUS')?.body).toMatchObject({
    customerId: first.customerId,
    platformCustomerId: expect.stringMatching(/^customer-/),
    kycStatus: 'APPROVED',
  });
});

test('during a rotation, signatures verify with the old and the new secret, and with no other', async () => {
  const receiver = await ownReceiver();
  const day = await ownGateway();
  const { id, secret } = await createEndpoint(day.platform, { url: receiver.url });
  await receiver.until((received) => received.length === 1);
  const rotated = await day.platform.act('rotateWebhookSecret', { endpointId: id }, 'secret endpoint { id }');
  expect(rotated).toMatchObject({ secret: expect.stringMatching(secretForm), endpoint: { id } });
  expect(rotated.secret).not.toBe(secret);
  expect(await sendTest(day.platform, id)).toMatchObject({ delivered: true, responseStatus: 200, replayed: false });
  const [, event] = receiver.received as [Received, Received];
  expect(event.headers['webhook-signature']?.split(' ')).toHaveLength(2);
  expect(verify(secret, event)).toEqual(event.body);
  expect(verify(rotated.secret, event)).toEqual(event.body);
  expect(() => verify(`whsec_${Buffer.alloc(32).toString('base64')}`, event)).toThrow();
});

test('two concurrent rotations run one after the other, and webhooks are then signed with both new secrets', async () => {
  const receiver = await ownReceiver();
  const { id, secret } = await createEndpoint(t.platform, { url: receiver.url });
  await receiver.until((received) => received.length === 1);
  const rotate = async (): Promise<string> =>
    (await t.platform.act('rotateWebhookSecret', { endpointId: id }, 'secret')).secret;
  // The lock lets both rotations finish reading before either can write.
  const lock = ['select from webhook_endpoint where id = $1 for update', uuidIn(id)] as const;
  const rotations = await whileLocked(t.databaseUrl, lock, async (holder) => {
    const begun = [rotate(), rotate()];
    // The second rotation waits for the first rotation, not for the lock holder, because the first is ahead in the
    // row's lock queue.
    const waiting = `select from pg_locks where locktype = 'tuple' and not granted
      and database = (select oid from pg_database where datname = current_database())`;
    while ((await holder.query(waiting)).rowCount === 0);
    return begun;
  });
  const secrets = await Promise.all(rotations);
  await sendTest(t.platform, id);
  const event = receiver.received.at(-1) as Received;
  for (const signing of secrets) expect(verify(signing, event)).toEqual(event.body);
  expect(() => verify(secret, event)).toThrow();
});

test("a test on demand returns the receiver's response", async () => {
  const receiver = await ownReceiver(answer(500));
  const { id } = await createEndpoint(t.platform, { url: receiver.url });
  expect(await sendTest(t.platform, id)).toMatchObject({ delivered: false, responseStatus: 500 });

  expect(await sendTest(t.platform, id, 'one-test')).toMatchObject({ responseStatus: 500, replayed: false });
  expect(await sendTest(t.platform, id, 'one-test')).toMatchObject({ responseStatus: 500, replayed: true });
  const receipt = await t.platform.receiptOf('sendTestWebhook', 'one-test');
  expect(receipt).toMatchObject({ outcome: 'SUCCEEDED', result: null });
});

test('a secret is shown only once: a repeated idempotency key is refused with a message that contains the endpoint’s id', async () => {
  const receiver = await ownReceiver();
  const input = { url: receiver.url, idempotencyKey: 'one-endpoint' };
  const { id } = await createEndpoint(t.platform, input);
  const named = { ...refusal('CONFLICT', 'idempotencyKey'), message: expect.stringContaining(id) };
  expect(await tryCreate(t.platform, input)).toMatchObject(named);
  const other = await tryCreate(t.platform, { ...input, description: 'other' });
  expect(other).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
  const receipt = await t.platform.receiptOf('createWebhookEndpoint', 'one-endpoint');
  expect(receipt).toMatchObject({ outcome: 'SUCCEEDED', result: { id } });
});

test('stored secrets are encrypted', async () => {
  const receiver = await ownReceiver();
  const { id, secret } = await createEndpoint(t.platform, { url: receiver.url });
  const { webhookEndpoint } = t.gateway.payments.database.prisma;
  const stored = await webhookEndpoint.findFirstOrThrow({ where: { id: uuidIn(id) } });
  const bytes = Buffer.from(stored.secret);
  expect(bytes.includes(Buffer.from(secret))).toBe(false);
  expect(bytes.includes(Buffer.from(secret.slice('whsec_'.length), 'base64'))).toBe(false);
});

test('an endpoint can be changed, disabled, enabled and deleted, and its missed events can be replayed', async () => {
  const receiver = await ownReceiver();
  const scene = await t.platform.makeScene(1_000n);
  await feedHas(scene.usd, 1);
  const { id } = await createEndpoint(t.platform, { url: receiver.url, eventTypes: ['ACCOUNT_STATUS'] });
  const before = await endpointUntil(t.platform, id, isDelivered);
  const off = await updateEndpoint(t.platform, { endpointId: id, enabled: false, description: 'off' });
  expect(off.endpoint).toMatchObject({
    status: 'DISABLED',
    description: 'off',
    notice: 'Disabled by the platform.',
    disabledAt: expect.any(String),
  });
  await t.platform.fund(scene.usd, 7n);
  await t.platform.fund(scene.usd, 8n);
  await feedHas(scene.usd, 3);
  const missed = { endpointId: id, events: { between: { after: before.deliveries[0].event.cursor } } };
  expect(await replay(t.platform, missed)).toMatchObject({ code: 'CONFLICT' });
  const on = await updateEndpoint(t.platform, { endpointId: id, enabled: true });
  expect(on.endpoint).toMatchObject({ status: 'ENABLED', description: 'off', notice: null, disabledAt: null });
  await t.platform.fund(scene.usd, 9n);
  const credited = ({ body }: Received) => body.newBalance && body.newBalance.amount - body.oldBalance.amount;
  await receiver.until((received) => received.map(credited).includes(9));
  expect(receiver.received.map(credited)).not.toContain(7);

  const unknown = { endpointId: id, events: { eventId: 'Event:1' } };
  expect(await replay(t.platform, unknown)).toMatchObject(refusal('EVENT_NOT_FOUND', 'events', 'eventId'));
  expect(await replay(t.platform, missed)).toMatchObject({ count: 3, replayed: false });
  await receiver.until((received) => received.length === 5);
  expect(receiver.received.map(credited).filter(Boolean).sort()).toEqual([7, 8, 9, 9]);
  const twice = receiver.received.filter((one) => credited(one) === 9);
  expect(new Set(twice.map((one) => one.id)).size).toBe(1);

  const deleted = await t.platform.act('deleteWebhookEndpoint', { endpointId: id }, 'deletedId');
  expect(deleted.deletedId).toBe(id);
  expect(await t.platform.fieldsOf('node', id, 'id')).toBe(null);
  const gone = await updateEndpoint(t.platform, { endpointId: id, enabled: true });
  expect(gone).toMatchObject({ code: 'WEBHOOK_ENDPOINT_NOT_FOUND' });
});

test('a delivery can always be resent, under its own id, and its earlier attempts are kept', async () => {
  const receiver = await ownReceiver(answer(503, { 'retry-after': '3600' }));
  const { id: endpointId } = await createEndpoint(t.platform, { url: receiver.url, eventTypes: ['TEST'] });
  const until = async (status: string, attempts: number): Promise<Data> => {
    const { deliveries } = await endpointUntil(t.platform, endpointId, ({ deliveries: [one] }) => {
      return one?.status === status && one.attempts.length === attempts;
    });
    return deliveries[0];
  };
  const { id, event } = await until('PENDING', 1);

  // The next scheduled attempt is an hour away, so only a resend causes one now.
  receiver.answer = answer(500);
  expect(await resend(t.platform, id)).toMatchObject({
    replayed: false,
    delivery: { id, status: 'PENDING', event: { id: event.id }, attempts: [{ responseStatus: 503 }] },
  });
  await until('PENDING', 2);
  await updateEndpoint(t.platform, { endpointId, enabled: false });
  await until('FAILED', 2);
  expect(await resend(t.platform, id)).toMatchObject({ __typename: 'ConflictError', code: 'CONFLICT' });
  await updateEndpoint(t.platform, { endpointId, enabled: true });

  receiver.answer = answer(204);
  await resend(t.platform, id, { idempotencyKey: 'once-more' });
  await until('DELIVERED', 3);
  const again = await resend(t.platform, id, { idempotencyKey: 'once-more' });
  expect(again).toMatchObject({ replayed: true, delivery: { id, status: 'DELIVERED' } });
  await resend(t.platform, id);
  const { attempts } = await until('DELIVERED', 4);
  expect(attempts.map(({ responseStatus }: Data) => responseStatus)).toEqual([503, 500, 204, 204]);
  expect(receiver.received.map((one) => one.id)).toEqual(Array(4).fill(event.id.replace('Event:', 'Webhook:')));
  const receipt = await t.platform.receiptOf('resendWebhookDelivery', 'once-more');
  expect(receipt).toMatchObject({ outcome: 'SUCCEEDED', result: { id } });
  const none = { __typename: 'NotFoundError', ...refusal('WEBHOOK_DELIVERY_NOT_FOUND', 'deliveryId') };
  for (const unknown of [endpointId, 'WebhookDelivery:1'])
    expect(await resend(t.platform, unknown)).toMatchObject(none);
});

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { publicId, uuidOf } from '../../src/core/ids.ts';
import { stepLock } from '../../src/domain/events/sequencer.ts';
import { usdToEur } from '../setup/acts.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { lockedCustomers, patient } from '../setup/locks.ts';
import { Statements } from '../setup/statements.ts';
import { openRawSocket, type RawSocket, subscribed } from '../setup/streams.ts';

/** Tests what followers of the same object share, and what they never share. */

const t = await testGateway();
/** An instance that serves only the streams, so that all of its statements belong to them. */
const serving = await testGateway({ ROLE: 'serve' }, t.databaseUrl, { pace: patient });
const statements = new Statements(serving.gateway.serving.pool);
const scene = await t.platform.makeScene();

const events = `subscription ($filter: EventFilter, $customers: Boolean = true, $name: String) {
  events(filter: $filter) { cursor type
    quote { id status transaction { id } } transaction { id status customer { id } }
    customer @include(if: $customers) { id transactions(first: 1, filter: { reference: $name }) { totalCount } } } }`;
const updates = `subscription ($customerId: ID!) { transactionUpdates(of: { customerId: $customerId }) {
  cursor status transaction { id status customer { id } quote { id status } } } }`;
const ofQuotes = { types: ['QUOTE_STATUS'] };

const newQuote = () => t.platform.quote(usdToEur(scene, { lockedCurrencyAmount: 10_000 }));

/** Subscribes on a socket once for each element of `variables`. An operation's id is its index in that list. */
async function follow(raw: RawSocket, query: string, variables: readonly object[]): Promise<void> {
  for (const [at, one] of variables.entries())
    raw.send({ id: String(at), type: 'subscribe', payload: { query, variables: one } });
}

async function messages(raw: RawSocket, count: number): Promise<Data[]> {
  const received = await Promise.all(Array.from({ length: count }, () => raw.receive('next')));
  return received.sort((a, b) => a.id - b.id);
}

test('an event and all its objects are read in one statement for all followers of the same object', async () => {
  for (const [query, variables] of [
    [events, { filter: ofQuotes }],
    [updates, { customerId: scene.customerId }],
  ] as const) {
    const raw = await openRawSocket(serving.url, t.platform.authorization);
    await follow(raw, query, Array(10).fill(variables));
    await subscribed(serving, 10);
    const { result, statements: sent } = await statements.during(async () => {
      const { id, transaction } = await newQuote();
      return { quoteId: id, transactionId: transaction.id, received: await messages(raw, 10) };
    });
    const { quoteId, transactionId, received } = result;
    expect(received.map(({ id }) => id)).toEqual(Array.from({ length: 10 }, (_, at) => String(at)));
    const [first] = received;
    const { transaction, quote: ofEvent } = first.payload.data.events ?? first.payload.data.transactionUpdates;
    expect(ofEvent ?? transaction.quote).toMatchObject({ id: quoteId, status: 'PENDING' });
    expect(transaction).toMatchObject({ id: transactionId, customer: { id: scene.customerId } });
    for (const { payload } of received) expect(payload).toEqual(first.payload);
    expect(sent).toHaveLength(1);
    raw.socket.close();
    await subscribed(serving, 0);
  }
});

test("streams that open together share statements, which check each caller's access separately", async () => {
  const [other, token] = [await t.platform.newCustomer(), await t.platform.appOf({ customerId: scene.customerId })];
  const platform = await openRawSocket(serving.url, t.platform.authorization);
  const app = await openRawSocket(serving.url, token.authorization);
  const of = (customerId: string) => ({ customerId });
  const nobody = publicId('Customer', randomUUID());
  const { statements: sent } = await statements.during(async () => {
    await follow(platform, updates, [...Array(10).fill(of(scene.customerId)), ...Array(9).fill(of(other)), of(nobody)]);
    await follow(app, updates, [of(scene.customerId), of(other), of(nobody)]);
    await subscribed(serving, 20);
    for (const [raw, ids] of [
      [platform, ['19']],
      [app, ['1', '2']],
    ] as const) {
      const payload = { errors: [{ extensions: { code: 'NOT_FOUND', field: 'of.customerId' } }] };
      expect(await messages(raw, ids.length)).toMatchObject(ids.map((id) => ({ id, payload })));
    }
  });
  // If checks were not shared, each of the 23 streams would send its own.
  const asked = sent.filter((text) => text.includes('customer'));
  expect(asked.length).toBeGreaterThan(0);
  expect(asked.length).toBeLessThan(20);
  platform.socket.close();
  app.socket.close();
  await subscribed(serving, 0);
});

test('followers with different variables share only what the variables do not affect', async () => {
  const raw = await openRawSocket(serving.url, t.platform.authorization);
  await follow(raw, events, [
    { filter: ofQuotes },
    { filter: { ...ofQuotes, customerId: scene.customerId } },
    { filter: ofQuotes, customers: false },
    { filter: ofQuotes, name: 'nobody has this' },
  ]);
  await subscribed(serving, 4);
  const { result, statements: sent } = await statements.during(async () => {
    await newQuote();
    return messages(raw, 4);
  });
  const customers = result.map(({ payload }) => payload.data.events.customer?.transactions.totalCount);
  expect(customers).toEqual([expect.any(Number), expect.any(Number), undefined, 0]);
  expect(customers[0]).toBeGreaterThan(0);
  expect(sent).toHaveLength(3);
  raw.socket.close();
  await subscribed(serving, 0);
});

test('callers that see different objects share nothing, even with the same document and event', async () => {
  const { id, transaction } = await newQuote();
  const query =
    'subscription ($filter: EventFilter) { events(filter: $filter) { transaction { id } customer { id } } }';
  const bounds = [{ customerId: scene.customerId }, { transactionId: transaction.id }];
  const callers = [t.platform, ...(await Promise.all(bounds.map((bound) => t.platform.appOf(bound))))];
  const sockets = await Promise.all(callers.map(({ authorization }) => openRawSocket(serving.url, authorization)));
  for (const raw of sockets) await follow(raw, query, Array(2).fill({ filter: { types: ['OUTGOING_PAYMENT'] } }));
  await subscribed(serving, 6);
  await t.platform.execute(id);
  const seen: Data[] = [];
  for (const raw of sockets) {
    for (const { payload } of await messages(raw, 2)) {
      expect(payload.data.events.transaction).toEqual({ id: transaction.id });
      seen.push(payload.data.events.customer);
    }
  }
  const customer = { id: scene.customerId };
  expect(seen).toEqual([customer, customer, customer, customer, null, null]);
  for (const raw of sockets) raw.socket.close();
  await subscribed(serving, 0);
});

test('a follower that leaves while an event is being read does not affect the others', async () => {
  const variables = { filter: { types: ['TEST'] } };
  const [leaves, stays] = [
    await openRawSocket(serving.url, t.platform.authorization),
    await openRawSocket(serving.url, t.platform.authorization),
  ];
  await follow(leaves, events, [variables]);
  await subscribed(serving, 1);
  await follow(stays, events, [variables]);
  await subscribed(serving, 2);
  // The event is committed and gets its position in the feed while the customer table is locked.
  const holder = await t.owner.connect();
  await holder.query('select pg_advisory_lock($1)', [stepLock]);
  await holder.query(
    `insert into outbox (platform_id, event_id, type, occurred_at, customer_id, version, snapshot)
     values ($1, uuid_v7(), 'TEST', now(), $2, 1, '{}')`,
    [t.platform.platformId, uuidOf(scene.customerId, 'Customer')],
  );
  const customers = await lockedCustomers(t.databaseUrl);
  holder.release(true);
  await customers.waitedFor();
  leaves.socket.terminate();
  await subscribed(serving, 1);
  await customers.release();
  const [message] = await messages(stays, 1);
  expect(message.payload.errors).toBeUndefined();
  expect(message.payload.data.events.customer.id).toBe(scene.customerId);
  stays.socket.close();
  await subscribed(serving, 0);
});

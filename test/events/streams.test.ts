import { expect, test, vi } from 'vitest';
import { uuidOf } from '../../src/core/ids.ts';
import { feedCursor } from '../../src/domain/events/cursor.ts';
import { between, usdToEur } from '../setup/acts.ts';
import { cursors } from '../setup/cursors.ts';
import { type Data, testGateway } from '../setup/gateway.ts';
import { passExpiry } from '../setup/passing-time.ts';
import { commitEvents, nextOf, openRawSocket, sequenced, subscribed } from '../setup/streams.ts';

const t = await testGateway();
const scene = await t.platform.makeScene(1_000_000n);

const accountUpdates = `subscription ($id: ID!, $after: String) { accountUpdates(of: { accountId: $id }, after: $after) {
  cursor oldBalance { amount } newBalance { amount } account { id version ... on InternalAccount { balance { amount } } customer { id } } } }`;
const quoteUpdates = `subscription ($id: ID!, $after: String) { quoteUpdates(quoteId: $id, after: $after) {
  cursor previousStatus status terminal quote { id status version transaction { id status } } } }`;
const events = `subscription ($after: String, $filter: EventFilter) { events(after: $after, filter: $filter) {
  id cursor type subject { id } transaction { id status } account { id } quote { id status } customer { id } } }`;

const newQuote = () => t.platform.quote(usdToEur(scene, { lockedCurrencyAmount: 10_000 }));

test("an account's stream first shows the balance, and then each change with the balances before and after", async () => {
  const id = await t.platform.internalAccount(scene.customerId, 'GBP');
  const stream = t.platform.valuesOf(accountUpdates, { id });
  const first = await nextOf(stream);
  expect(first).toMatchObject({ oldBalance: null, newBalance: { amount: '0' }, account: { id, version: 1 } });
  await t.platform.fund(id, 300n);
  await t.platform.fund(id, 200n);
  const second = await nextOf(stream);
  const third = await nextOf(stream);
  expect(second).toMatchObject({ oldBalance: { amount: '0' }, newBalance: { amount: '300' }, account: { version: 2 } });
  expect(third).toMatchObject({
    oldBalance: { amount: '300' },
    newBalance: { amount: '500' },
    account: { version: 3, balance: { amount: '500' }, customer: { id: scene.customerId } },
  });
  await stream.return();

  const resumed = (after?: string) =>
    t.platform.followed(accountUpdates, { id, after }, ({ account }) => account.version === 3);
  expect(await resumed()).toEqual([{ ...third, oldBalance: null }]);
  expect(await resumed(first.cursor)).toEqual([second, third]);
  expect(await resumed(second.cursor)).toEqual([third]);
});

test("a quote's stream starts with the current state, which has no previous status, and shows the expiry once", async () => {
  const { id } = await newQuote();
  const seen: Data[] = [];
  for await (const update of t.platform.valuesOf(quoteUpdates, { id })) {
    seen.push(update);
    if (seen.length === 1) await passExpiry(t, id);
  }
  expect(seen).toMatchObject([
    { previousStatus: null, status: 'PENDING', terminal: false, quote: { id, status: 'PENDING', version: 1 } },
    { previousStatus: 'PENDING', status: 'EXPIRED', terminal: true, quote: { id, status: 'EXPIRED', version: 2 } },
  ]);
  expect(await t.platform.followed(quoteUpdates, { id })).toEqual([{ ...seen[1], previousStatus: null }]);
});

test('if resumed after a cursor, every subscription sends the later events without the current state', async () => {
  const query = `subscription ($of: FollowedTransactionsInput, $after: String) {
    transactionUpdates(of: $of, after: $after) { cursor previousStatus status } }`;
  const { id, transaction } = await newQuote();
  const all: Data[] = [];
  for await (const update of t.platform.valuesOf(query, { of: { transactionId: transaction.id } })) {
    all.push(update);
    if (all.length === 1) await t.platform.execute(id);
  }
  expect(all).toMatchObject([
    { previousStatus: null, status: 'PENDING' },
    { previousStatus: 'PENDING', status: 'PROCESSING' },
    { previousStatus: 'PROCESSING', status: 'COMPLETED' },
  ]);
  const [{ cursor: after }, ...later] = all as [Data];
  const isLast = ({ status }: Data) => status === 'COMPLETED';
  for (const subject of [{ transactionId: transaction.id }, { customerId: scene.customerId }, undefined])
    expect(await t.platform.followed(query, { of: subject, after }, isLast)).toEqual(later);
});

test('the feed shows the same events as a list and as a stream, oldest first and with the same filters', async () => {
  const start = await t.platform.feedEnd();
  const { id, transaction } = await newQuote();
  await t.platform.execute(id);
  const isLast = ({ type, quote }: Data) => type === 'QUOTE_STATUS' && quote.status === 'COMPLETED';
  const streamed = await t.platform.followed(events, { after: start }, isLast);
  const list = `query ($after: String, $filter: EventFilter) { events(first: 100, after: $after, filter: $filter) {
    nodes { id cursor type } } }`;
  const { nodes } = (await t.platform.ask(list, { after: start })).events;
  expect(nodes.slice(0, streamed.length)).toEqual(streamed.map(({ id, cursor, type }) => ({ id, cursor, type })));

  const filter = { types: ['OUTGOING_PAYMENT'], transactionId: transaction.id, customerId: scene.customerId };
  const isCompleted = (event: Data) => event.transaction.status === 'COMPLETED';
  const ours = await t.platform.followed(events, { after: start, filter }, isCompleted);
  expect(ours).toMatchObject(
    ['PENDING', 'PROCESSING', 'COMPLETED'].map((status) => ({
      ...{ type: 'OUTGOING_PAYMENT', subject: { id: transaction.id }, transaction: { id: transaction.id, status } },
      ...{ quote: { id }, customer: { id: scene.customerId }, account: null },
    })),
  );
  const filtered = (await t.platform.ask(list, { filter })).events.nodes;
  expect(filtered.map((event: Data) => event.id)).toEqual(ours.map((event) => event.id));
});

test('a stream refuses a cursor as expired if it is too old or ahead of the feed', async () => {
  const codeOf = async (after: string) => (await nextOf(t.platform.watch(events, { after }))).errors[0].extensions.code;
  const ahead = feedCursor(cursors, t.platform.platformId, { sequence: 1_000_000n, epoch: null });
  expect(await codeOf(ahead)).toBe('CURSOR_EXPIRED');

  await sequenced(t);
  const before = await t.platform.feedEnd();
  await commitEvents(t, 2, 40);
  await vi.waitFor(async () => expect(await t.platform.feedEnd()).not.toBe(before), { timeout: 60_000 });
  expect(await codeOf(before)).toBe('CURSOR_EXPIRED');
  // A client recovers by reading the list instead, and then streams from the list's last cursor.
  const { events: page } = await t.platform.ask(
    'query ($after: String) { events(after: $after) { edges { cursor node { type } } } }',
    { after: before },
  );
  expect(page.edges.map((edge: Data) => edge.node.type)).toEqual(['TEST', 'TEST']);
  const recovered = t.platform.followed(events, { after: page.edges[1].cursor }, () => true);
  await newQuote();
  expect(await recovered).toMatchObject([{ type: 'OUTGOING_PAYMENT' }]);
});

test('a cursor expires only if the stream has missed an event that is too old to be sent', async () => {
  const quiet = await t.platform.makeScene();
  const { transaction } = await newQuote();
  const { pool } = t.gateway.payments.database;
  await sequenced(t);
  const before = await t.platform.feedEnd();
  const old = `insert into outbox (platform_id, event_id, type, occurred_at, customer_id, version, snapshot)
    values ($1, uuid_v7(), 'TEST', now() - interval '40 days', $2, 1, '{}')`;
  await pool.query(old, [t.platform.platformId, uuidOf(scene.customerId, 'Customer')]);
  await vi.waitFor(async () => expect(await t.platform.feedEnd()).not.toBe(before), { timeout: 60_000 });

  const ofTransaction =
    'subscription ($id: ID!, $after: String) { transactionUpdates(of: { transactionId: $id }, after: $after) { cursor } }';
  const expired = async (query: string, variables: object) => {
    // Streams from earlier tests may not have closed yet.
    await subscribed(t, 0);
    const raw = await openRawSocket(t.url, t.platform.authorization);
    raw.send({ id: '1', type: 'subscribe', payload: { query, variables: { ...variables, after: before } } });
    // A stream that opens may send an event immediately, so not every first message is a refusal.
    const refusal = raw.receive('next').then(({ payload }) => payload.errors?.[0].extensions.code);
    const opened = subscribed(t, 1).then(() => undefined);
    const code = await Promise.race([opened, refusal]);
    raw.socket.terminate();
    await refusal.catch(() => undefined);
    opened.catch(() => undefined);
    await subscribed(t, 0);
    return code === 'CURSOR_EXPIRED';
  };
  for (const [document, variables, isExpired] of [
    [events, {}, true],
    [events, { filter: { types: ['TEST'] } }, true],
    [events, { filter: { types: ['KYC_STATUS'] } }, false],
    [events, { filter: { customerId: scene.customerId } }, true],
    [events, { filter: { customerId: scene.customerId, types: ['QUOTE_STATUS'] } }, false],
    [events, { filter: { customerId: quiet.customerId } }, false],
    [accountUpdates, { id: quiet.usd }, false],
    [ofTransaction, { id: transaction.id }, false],
  ] as const)
    expect([variables, await expired(document, variables)]).toEqual([variables, isExpired]);
});

const payments = `subscription ($after: String) { transactionUpdates(after: $after) {
  status terminal transaction { id type status customer { id } } } }`;
const balance = 'subscription ($id: ID!) { accountUpdates(of: { accountId: $id }) { newBalance { amount } } }';

test('payer and payee each get only the events of their own side of a payment', async () => {
  const [payer, payee] = [await t.platform.makeScene(), await t.platform.makeScene(0n)];
  const after = await t.platform.feedEnd();
  const [from, to] = [
    await t.platform.appOf({ customerId: payer.customerId }),
    await t.platform.appOf({ customerId: payee.customerId }),
  ];
  const arrives = to.valuesOf(balance, { id: payee.usd });
  expect((await nextOf(arrives)).newBalance.amount).toBe('0');
  const updates = [from, to].map((app) => app.followed(payments, { after }, ({ terminal }) => terminal));

  const quoted = await t.platform.quote(between(payer.usd, payee.usd, 10_000, { lockedCurrencySide: 'RECEIVING' }));
  await t.platform.execute(quoted.id);

  const [outgoing = [], incoming = []] = await Promise.all(updates);
  expect(outgoing.map((update) => update.status)).toEqual(['PENDING', 'PROCESSING', 'COMPLETED']);
  for (const { transaction } of outgoing) {
    const customer = { id: payer.customerId };
    expect(transaction).toMatchObject({ id: quoted.transaction.id, type: 'OUTGOING', customer });
  }
  expect(incoming.at(-1)).toMatchObject({ status: 'COMPLETED' });
  for (const { transaction } of incoming)
    expect(transaction).toMatchObject({ type: 'INCOMING', customer: { id: payee.customerId } });
  expect((await nextOf(arrives)).newBalance.amount).toBe('10000');
  await arrives.return();

  // Each customer's feed contains only that customer's own events.
  for (const [device, scene] of [
    [from, payer],
    [to, payee],
  ] as const) {
    const feed = await device.followed(events, { after }, ({ type }) => type === 'ACCOUNT_STATUS');
    expect(new Set(feed.map(({ customer }) => customer.id))).toEqual(new Set([scene.customerId]));
    expect(feed.at(-1)?.account.id).toBe(scene.usd);
  }
});

test("each platform's feed contains every number from 1 to its end, despite concurrent writes", async () => {
  const platforms = [await t.newPlatform('one'), await t.newPlatform('other')];
  const scenes = await Promise.all(platforms.map((platform) => platform.makeScene(100_000n)));
  await Promise.all(
    scenes.flatMap((scene, at) => [1, 2, 3].map((amount) => (platforms[at] ?? t.platform).pay(scene, amount))),
  );
  for (const { platformId } of platforms) {
    await sequenced(t);
    const { rows } = await t.owner.query(
      `select array_agg(sequence order by sequence) as numbers, (select sequence from feed_head where platform_id = $1) as head
       from event where platform_id = $1`,
      [platformId],
    );
    const { numbers, head } = rows[0];
    expect(numbers.length).toBeGreaterThan(6);
    expect(numbers.map(Number)).toEqual(Array.from({ length: Number(head) }, (_, index) => index + 1));
  }
});

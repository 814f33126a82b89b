import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test, vi } from 'vitest';
import { usdToEur } from '../setup/acts.ts';
import { type Data, type TestGateway, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { nextOf, openEventStream, openRawSocket, type RawSocket, subscribed } from '../setup/streams.ts';
import { torture } from '../setup/torture.ts';

/** Streams resume after the last acknowledged message. Unmodified clients acknowledge messages by answering pings. */

const one = await testGateway({ STREAMS_PER_API_TOKEN: 20 });
const two = await testGateway({ ROLE: 'serve', COMPRESS_STREAMS: true }, one.databaseUrl);

/** Subscribes with a resume key, on a socket that answers pings only when the test says so. */
async function resume(resumeKey: string, sent: object, at = one, { authorization } = one.platform) {
  const raw = await openRawSocket(at.url, authorization);
  raw.send({ id: '1', type: 'subscribe', payload: { ...sent, extensions: { resumeKey } } });
  return raw;
}

const query = 'subscription ($filter: EventFilter) { events(filter: $filter) { customer { version } } }';

/** Follows the changes to one customer. */
const follow = (customerId: string, resumeKey: string, at?: TestGateway, by?: TestPlatform) =>
  resume(resumeKey, { query, variables: { filter: { customerId, types: ['CUSTOMER_CHANGE'] } } }, at, by);

/** Reads the next message of a stream of changes. Returns the customer's version and the message's extensions. */
async function next(raw: RawSocket): Promise<Data> {
  const { payload } = await raw.receive('next');
  return [payload.data.events.customer.version, payload.extensions];
}

async function answerPing(raw: RawSocket): Promise<void> {
  const { payload } = await raw.receive('ping');
  raw.send({ type: 'pong', payload });
}

/** Changes a customer, which causes one event. Returns the customer's version. */
async function change(customerId: string): Promise<number> {
  const details = { individual: { fullName: randomUUID() } };
  const { customer } = await one.platform.succeed('updateCustomer', { customerId, details }, 'customer { version }');
  return customer.version;
}

async function stored(isExpected: (rows: Data[]) => boolean): Promise<Data[]> {
  return vi.waitFor(
    async () => {
      const { rows } = await one.owner.query(
        `select encode(key, 'hex') as key, position, sent, stream_id from resume_point`,
      );
      expect(rows).toSatisfy(isExpected);
      return rows;
    },
    { timeout: 10_000 },
  );
}

/** Checks that exactly `count` streams with resume keys exist and have started, so that they receive every change. */
const haveBegun = (count: number) => (rows: Data[]) =>
  rows.length === count && rows.every(({ position }) => position !== null);
const isBegun = haveBegun(1);

beforeEach(async () => {
  await one.owner.query('delete from resume_point');
});

test('a stream resumes after its last acknowledged message, on any instance, and marks repeats', async () => {
  const customerId = await one.platform.newCustomer();
  const resumeKey = randomUUID();
  const first = await follow(customerId, resumeKey);
  await stored(isBegun);
  const version = await change(customerId);
  expect(await next(first)).toEqual([version, { resumed: false }]);
  const [begun] = await stored(isBegun);
  await answerPing(first);
  await stored(([row]) => BigInt(row.position) > BigInt(begun.position));
  await change(customerId);
  await change(customerId);
  expect(await next(first)).toEqual([version + 1, undefined]);
  expect(await next(first)).toEqual([version + 2, undefined]);

  // The client reconnects while the old connection still looks open to the service.
  const second = await follow(customerId, resumeKey, two);
  expect(await next(second)).toEqual([version + 1, { resumed: true, mayRepeat: true }]);
  expect(await next(second)).toEqual([version + 2, { mayRepeat: true }]);
  await change(customerId);
  expect(await next(second)).toEqual([version + 3, undefined]);

  // How the old connection ends says nothing about how far its client has read.
  expect(await next(first)).toEqual([version + 3, undefined]);
  first.socket.terminate();
  await subscribed(one, 0);
  await change(customerId);
  expect(await next(second)).toEqual([version + 4, undefined]);
  const third = await follow(customerId, resumeKey);
  expect(await next(third)).toEqual([version + 1, { resumed: true, mayRepeat: true }]);
  for (let at = 2; at <= 4; at += 1) expect(await next(third)).toEqual([version + at, { mayRepeat: true }]);

  // When the service notices a disconnect, it records what it has sent.
  const [before] = await stored(isBegun);
  await answerPing(third);
  await stored(([row]) => BigInt(row.position) > BigInt(before.position));
  third.socket.terminate();
  await stored(([row]) => row.sent !== null);
  await change(customerId);
  const fourth = await follow(customerId, resumeKey);
  expect(await next(fourth)).toEqual([version + 2, { resumed: true, mayRepeat: true }]);
  for (let at = 3; at <= 4; at += 1) expect(await next(fourth)).toEqual([version + at, { mayRepeat: true }]);
  expect(await next(fourth)).toEqual([version + 5, undefined]);
  for (const raw of [second, fourth]) raw.socket.terminate();
});

test('repeats are marked even if another connection with the same key was opened and abandoned in the meantime', async () => {
  const customerId = await one.platform.newCustomer();
  const resumeKey = randomUUID();
  const newer = await follow(customerId, resumeKey);
  const [{ stream_id: ofNewer }] = await stored(isBegun);
  const left = await follow(customerId, resumeKey, two);
  await stored(([row]) => row.stream_id !== ofNewer);
  await subscribed(two, 1);
  left.socket.terminate();
  await subscribed(two, 0);
  const version = await change(customerId);
  expect(await next(newer)).toEqual([version, { resumed: false }]);
  newer.socket.terminate();
  const last = await follow(customerId, resumeKey);
  expect(await next(last)).toEqual([version, { resumed: true, mayRepeat: true }]);
  last.socket.terminate();
});

test("an unacknowledged stream of one object repeats the object's current state, and then every change", async () => {
  const scene = await one.platform.makeScene();
  const { id } = await one.platform.quote(usdToEur(scene));
  const resumeKey = randomUUID();
  const updates = 'subscription ($id: ID!) { quoteUpdates(quoteId: $id) { status } }';
  const subscribe = () => resume(resumeKey, { query: updates, variables: { id } });
  const show = async (raw: RawSocket) => {
    const { payload } = await raw.receive('next');
    return [payload.data.quoteUpdates.status, payload.extensions];
  };
  const first = await subscribe();
  expect(await show(first)).toEqual(['PENDING', { resumed: false }]);
  first.socket.terminate();
  await one.platform.execute(id);
  await one.platform.followed(updates, { id });
  const second = await subscribe();
  expect(await show(second)).toEqual(['PENDING', { resumed: true, mayRepeat: true }]);
  const statuses: string[] = [];
  while (statuses.at(-1) !== 'COMPLETED') statuses.push((await show(second))[0]);
  expect(statuses).toEqual(['PROCESSING', 'COMPLETED']);
  await second.receive('complete');
  second.socket.terminate();
});

test('a resume key is a UUID, belongs to one subject and operation, and is deleted when its client ends the stream', async () => {
  const customerId = await one.platform.newCustomer();
  const resumeKey = randomUUID();
  const first = await follow(customerId, resumeKey);
  await stored(isBegun);
  const foreign = await follow(customerId, resumeKey, one, await one.platform.appOf({ customerId }));
  const otherOne = await follow(await one.platform.newCustomer(), resumeKey);
  await stored(haveBegun(3));
  const version = await change(customerId);
  for (const raw of [first, foreign]) expect(await next(raw)).toEqual([version, { resumed: false }]);

  first.send({ id: '1', type: 'complete' });
  foreign.send({ id: '1', type: 'complete' });
  await stored((rows) => rows.length === 1);
  const again = await follow(customerId, resumeKey);
  await stored(haveBegun(2));
  await change(customerId);
  expect(await next(again)).toEqual([version + 1, { resumed: false }]);

  const nonsense = await follow(customerId, 'payments');
  expect((await nonsense.receive('error')).payload).toMatchObject([{ extensions: { code: 'INVALID_INPUT' } }]);
  for (const raw of [first, foreign, otherOne, again, nonsense]) raw.socket.terminate();
});

test('a subject keeps only its newest resume keys, about one per stream that its token may open', async () => {
  const customerId = await one.platform.newCustomer();
  const known = new Set<string>();
  for (let at = 0; at < 24; at += 1) {
    const raw = await follow(customerId, randomUUID());
    const rows = await stored((all) => all.some(({ key }) => !known.has(key)));
    expect(rows.length).toBeLessThanOrEqual(22);
    for (const { key } of rows) known.add(key);
    raw.socket.terminate();
  }
  expect(known.size).toBe(24);
});

test('an operation whose id does not look random resumes only with a key', async () => {
  const raw = await openRawSocket(one.url, one.platform.authorization, { params: { resume: true } });
  raw.send({ id: 'events', type: 'subscribe', payload: { query: 'subscription { customerUpdates { cursor } }' } });
  await one.platform.newCustomer();
  await raw.receive('next');
  expect(await stored((rows) => rows.length === 0)).toEqual([]);
  raw.socket.terminate();
});

test('messages are compressed if the settings and the client allow it, and each is sent without waiting for the next', async () => {
  const customerId = await one.platform.newCustomer();
  const document = `subscription { customerUpdates(customerId: "${customerId}") { customer { version } } }`;
  for (const [gateway, extension, encoding] of [
    [one, '', null],
    [two, 'permessage-deflate', 'gzip'],
  ] as const) {
    const raw = await openRawSocket(gateway.url, one.platform.authorization);
    expect(raw.socket.extensions).toBe(extension);
    raw.send({ id: '1', type: 'subscribe', payload: { query: document } });
    const { payload } = await raw.receive('next');
    const { version } = payload.data.customerUpdates.customer;
    raw.socket.terminate();

    const open = await openEventStream(`${gateway.url}/graphql`, one.platform.authorization, { query: document });
    expect(open.headers.get('content-encoding')).toBe(encoding);
    const shown = async () => (await nextOf(open.events)).data.data.customerUpdates.customer.version;
    expect(await shown()).toBe(version);
    expect(await change(customerId)).toBe(version + 1);
    expect(await shown()).toBe(version + 1);
    open.cut();

    const plain = await openEventStream(
      `${gateway.url}/graphql`,
      one.platform.authorization,
      { query: document },
      { 'accept-encoding': 'identity, gzip;q=0' },
    );
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect((await nextOf(plain.events)).data.data.customerUpdates.customer.version).toBe(version + 1);
    plain.cut();
  }
});

// test/soak/streams.soak.ts runs the same test for longer. The last connections that it drops may still store rows after
// it, so it comes last.
test('unmodified clients that are repeatedly disconnected miss nothing, and receive repeats only with `resume: true`, marked as possible repeats', async () => {
  const { changes, fewestConnections } = await torture(one, two, { clients: 12, customers: 3, seconds: 4, rate: 100 });
  expect(changes).toBeGreaterThan(100);
  expect(fewestConnections).toBeGreaterThan(1);
});

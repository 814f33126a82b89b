import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { sequenceIn } from './cursors.ts';
import { type Data, openClient, startTestGateway, type TestGateway, type TestPlatform, uuidIn } from './gateway.ts';
import { startSequencers } from './sequencers.ts';
import { openEventStream, openRawSocket } from './streams.ts';

interface Torture {
  readonly subscribers: number;
  readonly customers: number;
  readonly seconds: number;
  readonly rate: number;
  /** How many times the sequencing process is killed. */
  readonly kills: number;
}

interface Subscriber {
  /** The customer to follow; undefined to follow everything. */
  readonly customerId: string | undefined;
  readonly seen: string[];
  cursor: string;
  sockets: number;
  eventStreams: number;
  halfOpened: number;
}

const query =
  'subscription ($after: String, $filter: EventFilter) { events(after: $after, filter: $filter) { id cursor } }';

/**
 * Cuts, half-opens and reconnects subscribers repeatedly, on two instances and both transports, while changes are
 * committed out of order and the sequencing process is killed. At the end each subscriber must have seen every change
 * of its objects exactly once and in order, compared with the database.
 */
export async function torture({ subscribers, customers, seconds, rate, kills }: Torture) {
  const one = await startTestGateway({ ROLE: 'serve' }, undefined, { pace: { keepAliveMs: 1_000 } });
  const two = await startTestGateway({ ROLE: 'serve' }, one.databaseUrl, { pace: { keepAliveMs: 1_000 } });
  const sequencers = await startSequencers(one.databaseUrl);
  const urls = [one.url, two.url];
  const ids = await makeCustomers(one.platform, customers);
  const start = await one.platform.feedEnd();

  let writing = true;
  let subscribing = true;
  const all = Array.from(
    { length: subscribers },
    (_, at): Subscriber => ({
      // One subscriber in 50 follows everything; each of the others follows one customer.
      customerId: at % 50 === 0 ? undefined : ids[at % ids.length],
      seen: [],
      cursor: start,
      sockets: 0,
      eventStreams: 0,
      halfOpened: 0,
    }),
  );
  const sum = (of: (subscriber: Subscriber) => number) => all.reduce((total, subscriber) => total + of(subscriber), 0);
  const readers = all.map(async (subscriber) => {
    while (subscribing) {
      const url = urls[Math.floor(Math.random() * urls.length)] ?? one.url;
      await readForAWhile(url, one.platform.authorization, subscriber, 200 + Math.random() * 1_800);
    }
  });
  const made = makeChanges(one, ids, start, rate, () => !writing);

  let slowestTakeoverMs = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    await delay((seconds * 1_000) / (kills + 1));
    slowestTakeoverMs = Math.max(slowestTakeoverMs, await sequencers.kill());
  }
  await delay((seconds * 1_000) / (kills + 1));
  writing = false;
  const { changes, perSecond, of } = await made;
  // Wait until every subscriber has received everything, and then until the open reads end, in case something arrives
  // twice.
  await until(
    () => all.every(({ seen, customerId }) => seen.length >= of(customerId).length),
    () => sum(({ seen }) => seen.length),
  );
  subscribing = false;
  await Promise.all(readers);

  for (const { seen, customerId } of all) expect(seen).toEqual(of(customerId));
  const fewestConnections = Math.min(...all.map(({ sockets, eventStreams }) => sockets + eventStreams));
  expect(fewestConnections).toBeGreaterThan(1);
  await until(() => one.gateway.feed.subscriptions + two.gateway.feed.subscriptions === 0);

  await sequencers.stop();
  await two.stop();
  await one.stop();
  return {
    ...{ changes, perSecond },
    /** The number of messages that all subscribers received in total. */
    messages: sum(({ seen }) => seen.length),
    sockets: sum(({ sockets }) => sockets),
    eventStreams: sum(({ eventStreams }) => eventStreams),
    halfOpened: sum(({ halfOpened }) => halfOpened),
    /** The smallest number of successive connections of any subscriber. */
    fewestConnections,
    kills,
    /** The longest time without a sequenced event. */
    slowestTakeoverMs,
  };
}

/** Reads on one connection, resuming after the last cursor, and then ends the connection in one of the usual ways. */
async function readForAWhile(url: string, authorization: string, subscriber: Subscriber, ms: number): Promise<void> {
  const variables = {
    after: subscriber.cursor,
    ...(subscriber.customerId && { filter: { customerId: subscriber.customerId } }),
  };
  const take = (payload: Data) => {
    if (payload.errors) throw new Error(JSON.stringify(payload.errors));
    subscriber.seen.push(payload.data.events.id);
    subscriber.cursor = payload.data.events.cursor;
  };
  if (Math.random() < 0.3) {
    subscriber.eventStreams += 1;
    let timer: NodeJS.Timeout | undefined;
    try {
      const open = await openEventStream(`${url}/graphql`, authorization, { query, variables });
      timer = setTimeout(() => open.cut(), ms);
      for await (const message of open.events) take(message.data);
    } catch (error) {
      // The connection was cut, by us or (what fetch calls a TypeError) by the server. The subscriber reconnects either
      // way.
      if (!(error instanceof Error) || !['AbortError', 'TypeError'].includes(error.name)) throw error;
    } finally {
      clearTimeout(timer);
    }
    return;
  }
  subscriber.sockets += 1;
  const { socket, send } = await openRawSocket(url, authorization);
  const reading = new AbortController();
  socket.on('message', (message) => {
    const { type, payload } = JSON.parse(String(message));
    if (type === 'next' && !reading.signal.aborted) take(payload);
  });
  send({ id: '1', type: 'subscribe', payload: { query, variables } });
  await delay(ms);
  reading.abort();
  if (Math.random() < 0.3) {
    // Half-open: the client is gone for good, but the server is not notified.
    subscriber.halfOpened += 1;
    socket.pause();
    setTimeout(() => socket.terminate(), 5_000);
  } else {
    socket.terminate();
  }
}

/** Waits until everything committed is in the feed, and returns the feed's changes after a cursor. */
export async function changesAfter(databaseUrl: string, platformId: string, cursor: string) {
  const check = await openClient(databaseUrl);
  await until(async () => (await check.query('select from outbox limit 1')).rowCount === 0);
  const { rows } = await check.query<{ id: string; customer_id: string | null }>(
    `select 'Event:' || id as id, customer_id from event where platform_id = $1 and sequence > $2 and type = 'TEST' order by sequence`,
    [platformId, String(sequenceIn(platformId, cursor))],
  );
  await check.end();
  return rows;
}

/** Makes changes at a rate until `isOver`, and returns them once all of them are in the feed. */
export async function makeChanges(
  { databaseUrl, platform: { platformId } }: TestGateway,
  customers: readonly string[],
  start: string,
  rate: number,
  isOver: () => boolean,
) {
  const began = performance.now();
  const counts = await Promise.all(
    Array.from({ length: 4 }, () => writeUntil(isOver, databaseUrl, platformId, customers, rate / 4)),
  );
  const changes = counts.reduce((sum, count) => sum + count, 0);
  const perSecond = (changes * 1_000) / (performance.now() - began);
  const rows = await changesAfter(databaseUrl, platformId, start);
  expect(rows).toHaveLength(changes);
  const ids = rows.map(({ id }) => id);
  const ofCustomer = Map.groupBy(rows, (row) => `Customer:${row.customer_id}`);
  return {
    changes,
    perSecond,
    /** Returns the ids of the changes of a customer, or of all changes, in the feed's order. */
    of: (customerId?: string): readonly string[] =>
      customerId === undefined ? ids : (ofCustomer.get(customerId) ?? []).map(({ id }) => id),
  };
}

/** Writes changes in transactions that stay open for different times, so that they commit out of order. */
async function writeUntil(
  isOver: () => boolean,
  databaseUrl: string,
  platformId: string,
  customers: readonly string[],
  rate: number,
): Promise<number> {
  const client = await openClient(databaseUrl);
  const began = performance.now();
  let written = 0;
  while (!isOver()) {
    const due = Math.floor(((performance.now() - began) / 1_000) * rate) - written;
    if (due > 0) {
      const some = Array.from({ length: due }, () =>
        uuidIn(customers[Math.floor(Math.random() * customers.length)] ?? ''),
      );
      await client.query('begin');
      await client.query(
        `insert into outbox (platform_id, event_id, type, occurred_at, customer_id, version, snapshot)
         select $1, uuid_v7(), 'TEST', now(), c, 1, '{}' from unnest($2::uuid[]) as c`,
        [platformId, some],
      );
      if (Math.random() < 0.3) await delay(Math.random() * 60);
      await client.query('commit');
      written += due;
    }
    await delay(5);
  }
  await client.end();
  return written;
}

export async function makeCustomers(platform: TestPlatform, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) ids.push(await platform.newCustomer());
  // The events of the setup are in the feed before anyone subscribes.
  await until(async () => {
    const { events } = await platform.ask('{ events(last: 100, filter: { types: [KYC_STATUS] }) { totalCount } }');
    return events.totalCount >= count;
  });
  return ids;
}

/** Waits as long as there is progress, because a slow machine is not a failure. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  progress: () => number | string = () => 0,
): Promise<void> {
  let last: number | string = -1;
  let deadline = 0;
  while (!(await condition())) {
    if (progress() !== last) {
      last = progress();
      deadline = performance.now() + 60_000;
    }
    if (performance.now() > deadline) throw new Error(`this did not happen: ${condition} (${progress()})`);
    await delay(50);
  }
}

import { createClient } from 'graphql-ws';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import { uuidOf } from '../../src/core/ids.ts';
import { feedEnd } from './acts.ts';
import type { Data, TestGateway } from './gateway.ts';
import { changesAfter, delay, makeCustomers, until, writeUntil } from './torture.ts';

interface Cuts {
  readonly clients: number;
  readonly customers: number;
  readonly seconds: number;
  /** Changes per second. */
  readonly rate: number;
}

interface Message {
  readonly id: string;
  readonly mayRepeat: boolean;
}

/** The app's entire query, which passes no cursor. */
const query = 'subscription Follow($filter: EventFilter) { events(filter: $filter) { id } }';

/**
 * Runs stock graphql-ws clients with only `resume: true` against two instances, and disconnects each client every 0.2
 * to 2 s while changes are committed out of order. At the end, each client must have received every change in order,
 * and every repeat must be marked.
 * @param two another instance on the same database; its address may change
 */
export async function acknowledging(
  one: TestGateway,
  two: { readonly url: string },
  { clients, customers, seconds, rate }: Cuts,
) {
  const ids = await makeCustomers(one.platform, customers);
  const start = await feedEnd(one.platform);
  const followers = Array.from({ length: clients }, (_, at) =>
    // A tenth of the clients follow everything; each of the others follows one customer.
    follow(one, two, at % 10 === 0 ? undefined : ids[at % ids.length]),
  );
  const begun = async () => (await one.owner.query('select from resume_point where position is not null')).rowCount;
  await until(async () => (await begun()) === clients);

  let isOver = false;
  const cutting = followers.map(async ({ cut }) => {
    while (!isOver) {
      await delay(200 + Math.random() * 1_800);
      cut();
    }
  });
  const began = performance.now();
  const { platformId } = one.platform;
  // Writes until each follower has resumed on another connection. On a busy machine, this takes longer than planned.
  const isWritten = () =>
    performance.now() > began + seconds * 1_000 && followers.every((follower) => connectionsOf(follower) > 1);
  const writers = Array.from({ length: 4 }, () => writeUntil(isWritten, one.databaseUrl, platformId, ids, rate / 4));
  const changes = (await Promise.all(writers)).reduce((sum, count) => sum + count, 0);
  const perSecond = (changes * 1_000) / (performance.now() - began);

  const rows = await changesAfter(one.databaseUrl, platformId, start);
  expect(rows.length).toBe(changes);
  const checked = followers.map(({ customerId, connections }) => {
    const uuid = customerId === undefined ? undefined : uuidOf(customerId, 'Customer');
    const expected = rows.filter((row) => uuid === undefined || row.customer_id === uuid).map(({ id }) => id);
    return { expected, connections };
  });
  await until(
    () => checked.every(({ expected, connections }) => hasLast(expected, connections)),
    () => sumOf(followers, ({ received }) => received.count),
  );
  isOver = true;
  await Promise.all(cutting);
  expect(await begun()).toBe(clients);
  for (const { client } of followers) await client.dispose();
  await until(() => one.gateway.feed.subscriptions === 0);
  const repeats = checked.map(({ expected, connections }) => countRepeats(expected, connections));
  return {
    changes,
    /** The rate at which changes were written, per second. */
    perSecond,
    messages: sumOf(followers, ({ received }) => received.count),
    /** The number of messages that clients already had, and the number marked as possible repeats. */
    repeated: sumOf(repeats, ({ repeated }) => repeated),
    marked: sumOf(repeats, ({ marked }) => marked),
    /** The smallest number of connections on which any client received messages. */
    fewestConnections: Math.min(...followers.map(connectionsOf)),
  };
}

/** Follows with a stock client, and records the messages of each of its connections. */
function follow(one: TestGateway, two: { readonly url: string }, customerId: string | undefined) {
  const connections: Message[][] = [];
  const received = { count: 0 };
  let socket: WebSocket | undefined;
  class Cuttable extends WebSocket {
    constructor(...args: ConstructorParameters<typeof WebSocket>) {
      super(...args);
      socket = this;
      connections.push([]);
    }
  }
  const client = createClient({
    url: () => `${(Math.random() < 0.5 ? one : two).url.replace('http', 'ws')}/graphql`,
    webSocketImpl: Cuttable,
    connectionParams: { authorization: one.platform.authorization, resume: true },
    retryAttempts: Number.POSITIVE_INFINITY,
    retryWait: () => delay(20),
    // If an instance is killed while a socket opens, the connection fails, and the client should retry as after any
    // other failure.
    shouldRetry: () => true,
  });
  client.subscribe<Data, Data>(
    { query, variables: customerId === undefined ? {} : { filter: { customerId } } },
    {
      next: ({ data, errors, extensions }) => {
        if (errors) throw new Error(JSON.stringify(errors));
        received.count += 1;
        connections.at(-1)?.push({ id: data.events.id, mayRepeat: extensions?.mayRepeat === true });
      },
      error: (error) => {
        throw new Error(`the client has given up: ${JSON.stringify(error)}`);
      },
      complete: () => undefined,
    },
  );
  return { customerId, connections, received, client, cut: () => socket?.terminate() };
}

/** Returns the number of connections on which a client received messages. */
function connectionsOf({ connections }: Pick<ReturnType<typeof follow>, 'connections'>): number {
  return connections.filter(({ length }) => length > 0).length;
}

function hasLast(expected: readonly string[], connections: readonly (readonly Message[])[]): boolean {
  const last = expected.at(-1);
  return last === undefined || connections.some((messages) => messages.at(-1)?.id === last);
}

/** Checks that a client received every change in order, and that only messages marked as repeats came twice. */
function countRepeats(expected: readonly string[], connections: readonly (readonly Message[])[]) {
  const places = new Map(expected.map((id, place) => [id, place]));
  let next = 0;
  let repeated = 0;
  let marked = 0;
  for (const [number, messages] of connections.entries()) {
    let before: number | undefined;
    for (const { id, mayRepeat } of messages) {
      const place = places.get(id) ?? Number.NaN;
      if (before === undefined) expect(place, `where connection ${number} begins`).toBeLessThanOrEqual(next);
      else expect(place, `what follows on connection ${number}`).toBe(before + 1);
      before = place;
      if (mayRepeat) marked += 1;
      if (place === next) next += 1;
      else {
        expect(mayRepeat, 'a repeat is marked').toBe(true);
        repeated += 1;
      }
    }
  }
  expect(next, 'how many changes have arrived').toBe(expected.length);
  return { repeated, marked };
}

function sumOf<T>(all: readonly T[], count: (one: T) => number): number {
  return all.reduce((sum, one) => sum + count(one), 0);
}

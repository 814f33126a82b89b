import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import type { Data, TestGateway } from './gateway.ts';
import { makeChanges, makeCustomers, until } from './torture.ts';

interface Cuts {
  readonly clients: number;
  readonly customers: number;
  readonly seconds: number;
  readonly rate: number;
}

interface Message {
  readonly id: string;
  readonly mayRepeat: boolean;
}

const query = 'subscription Follow($filter: EventFilter) { events(filter: $filter) { id } }';

/** Cuts off stock graphql-ws clients with only `resume: true`, and checks that each gets every change in order. */
export async function acknowledging(
  one: TestGateway,
  two: { readonly url: string },
  { clients, customers, seconds, rate }: Cuts,
) {
  const ids = await makeCustomers(one.platform, customers);
  const start = await one.platform.feedEnd();
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
  // Writes until each follower has resumed on another connection. On a busy machine, this takes longer than planned.
  const isWritten = () =>
    performance.now() > began + seconds * 1_000 && followers.every((follower) => connectionsOf(follower) > 1);
  const { changes, perSecond, of } = await makeChanges(one, ids, start, rate, isWritten);
  const received = () => followers.reduce((sum, { count }) => sum + count(), 0);
  await until(() => followers.every(({ customerId, connections }) => hasLast(of(customerId), connections)), received);
  isOver = true;
  await Promise.all(cutting);
  expect(await begun()).toBe(clients);
  for (const { client } of followers) await client.dispose();
  await until(() => one.gateway.feed.subscriptions === 0);
  const repeats = followers.map(({ customerId, connections }) => countRepeats(of(customerId), connections));
  return {
    ...{ changes, perSecond, messages: received() },
    /** How many messages clients received twice, and how many were marked as possible repeats. */
    repeated: repeats.reduce((sum, { repeated }) => sum + repeated, 0),
    marked: repeats.reduce((sum, { marked }) => sum + marked, 0),
    /** The smallest number of connections on which any client received messages. */
    fewestConnections: Math.min(...followers.map(connectionsOf)),
  };
}

/** Follows with a stock client, and records the messages of each of its connections. */
function follow(one: TestGateway, two: { readonly url: string }, customerId: string | undefined) {
  const connections: Message[][] = [];
  let socket: WebSocket | undefined;
  const client = createClient({
    url: () => `${(Math.random() < 0.5 ? one : two).url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    on: {
      opened: (opened) => {
        socket = opened as WebSocket;
        connections.push([]);
      },
    },
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
        connections.at(-1)?.push({ id: data.events.id, mayRepeat: extensions?.mayRepeat === true });
      },
      error: (error) => {
        throw new Error(`the client has given up: ${JSON.stringify(error)}`);
      },
      complete: () => undefined,
    },
  );
  const count = () => connections.reduce((sum, messages) => sum + messages.length, 0);
  return { customerId, connections, count, client, cut: () => socket?.terminate() };
}

const connectionsOf = ({ connections }: Pick<ReturnType<typeof follow>, 'connections'>) =>
  connections.filter(({ length }) => length > 0).length;

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

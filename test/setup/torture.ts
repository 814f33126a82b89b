import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import { sequenceIn } from './cursors.ts';
import { type Data, openClient, type TestGateway, type TestPlatform, uuidIn } from './gateway.ts';

interface Torture {
  readonly clients: number;
  readonly customers: number;
  readonly seconds: number;
  readonly rate: number;
}

interface Message {
  readonly id: string;
  readonly mayRepeat: boolean;
}

const query =
  'subscription Follow($after: String, $filter: EventFilter) { events(after: $after, filter: $filter) { id cursor } }';

/**
 * Repeatedly disconnects stock graphql-ws clients from two instances, while changes are committed out of order. Half of
 * the clients only set `resume: true`, and the others pass their last cursor. At the end, each client must have seen
 * every change to its objects, in the database's order, without unmarked repeats.
 */
export async function torture(
  one: TestGateway,
  two: { readonly url: string },
  { clients, customers, seconds, rate }: Torture,
) {
  const ids = await makeCustomers(one.platform, customers);
  const start = await one.platform.feedEnd();
  const followers = Array.from({ length: clients }, (_, at) =>
    // A tenth of the clients follow everything. The others follow one customer each.
    follow(one, two, at % 20 < 2 ? undefined : ids[at % ids.length], at % 2 === 0 ? undefined : start),
  );
  const begun = async () => (await one.owner.query('select from resume_point where position is not null')).rowCount;
  const resuming = Math.ceil(clients / 2);
  await until(async () => (await begun()) === resuming);

  const over = new AbortController();
  const cutting = followers.map(async ({ count, cut }) => {
    // If nothing arrives on a connection, the next one gets twice the time, because a busy machine may need it.
    for (let patience = 1; !over.signal.aborted; ) {
      const before = count();
      await delay((200 + Math.random() * 1_800) * patience, undefined, { signal: over.signal }).catch(() => undefined);
      cut();
      patience = count() > before ? 1 : patience * 2;
    }
  });
  const began = performance.now();
  // Writes until each follower has resumed on another connection, which may take longer than planned on a busy machine.
  const isWritten = () =>
    performance.now() > began + seconds * 1_000 && followers.every((follower) => connectionsOf(follower) > 1);
  const { changes, perSecond, of } = await makeChanges(one, ids, start, rate, isWritten);
  const received = () => followers.reduce((sum, { count }) => sum + count(), 0);
  await until(() => followers.every(({ customerId, connections }) => hasLast(of(customerId), connections)), received);
  over.abort();
  await Promise.all(cutting);
  expect(await begun()).toBe(resuming);
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

/**
 * Follows changes with a stock client, and records the messages of each of its connections.
 * @param after the cursor with which the client begins; undefined if it sets `resume: true` instead
 */
function follow(
  one: TestGateway,
  two: { readonly url: string },
  customerId: string | undefined,
  after: string | undefined,
) {
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
    connectionParams: { authorization: one.platform.authorization, ...(after === undefined && { resume: true }) },
    retryAttempts: Number.POSITIVE_INFINITY,
    retryWait: () => delay(20),
    // If an instance is killed while a socket is opening, the connection fails, and the client should retry as it does
    // after any other failure.
    shouldRetry: () => true,
  });
  // The client sends the variables' current values each time it connects.
  const variables: Record<string, unknown> = { after, ...(customerId && { filter: { customerId } }) };
  client.subscribe<Data, Data>(
    { query, variables },
    {
      next: ({ data, errors, extensions }) => {
        if (errors) throw new Error(JSON.stringify(errors));
        connections.at(-1)?.push({ id: data.events.id, mayRepeat: extensions?.mayRepeat === true });
        if (after !== undefined) variables.after = data.events.cursor;
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

/** Waits until all committed changes are in the feed, and returns those after a cursor. */
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

/** Makes `rate` changes per second until `isOver`, and returns them once all of them are in the feed. */
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
    /** Returns the ids of a customer's changes, or of all changes, in the feed's order. */
    of: (customerId?: string): readonly string[] =>
      customerId === undefined ? ids : (ofCustomer.get(customerId) ?? []).map(({ id }) => id),
  };
}

/** Writes changes in transactions that stay open for varying periods, so that they commit out of order. */
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
  // The setup's events must be in the feed before anyone subscribes.
  await until(async () => {
    const { events } = await platform.ask('{ events(last: 100, filter: { types: [KYC_STATUS] }) { totalCount } }');
    return events.totalCount >= count;
  });
  return ids;
}

/** Waits until the condition holds. Fails only if progress stops, because a slow machine is not a failure. */
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

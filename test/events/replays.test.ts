import { createServer, connect as dial, type Socket } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { listen } from '../setup/free-port.ts';
import { connect, type Data, testGateway } from '../setup/gateway.ts';
import { nextOf, sequenced, subscribed } from '../setup/streams.ts';

/** Tests readers that are far behind while other readers follow live events. */

/** The replay statements sent through the proxy, and how many of them are held back while `isHeld` is set. */
let sent = 0;
let isHeld = false;
const held: (() => void)[] = [];
const replay = /\0(?:events_(?:after|of_\w+)|last_events)\0/;

const real = await testGateway();
const { hostname, port } = new URL(real.databaseUrl);
const wire = createServer((client: Socket) => {
  const server = dial(Number(port), hostname);
  for (const socket of [client, server]) socket.setNoDelay(true).on('error', () => undefined);
  client.on('data', (data) => {
    const isReplay = replay.test(data.toString('latin1'));
    if (isReplay) sent += 1;
    if (isReplay && isHeld) held.push(() => server.write(data));
    else server.write(data);
  });
  server.pipe(client);
  client.on('close', () => server.destroy());
  server.on('close', () => client.destroy());
});
const through = new URL(real.databaseUrl);
through.host = `127.0.0.1:${await listen(wire)}`;
afterAll(() => wire.close());
const wired = await testGateway({ ROLE: 'serve' }, through.href);
const near = connect(wired.url, real.platform.platformId, real.platform.authorization);

/** Commits TEST events, with one KYC_STATUS event after every `rare` of them, and waits until all are in the feed. */
async function commit(count: number, rare = Number.POSITIVE_INFINITY): Promise<void> {
  await real.owner.query(
    `insert into outbox (platform_id, event_id, type, occurred_at, version, snapshot)
     select $1, uuid_v7(), case when n % $3 = 0 then 'KYC_STATUS'::event_type else 'TEST' end, now(), n, '{}'
     from generate_series(1, $2::int) n`,
    [real.platform.platformId, count, Number.isFinite(rare) ? rare : count + 1],
  );
  await sequenced(real);
}

const events =
  'subscription ($after: String, $filter: EventFilter) { events(after: $after, filter: $filter) { id type } }';

async function take(stream: AsyncIterator<Data>, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) ids.push((await nextOf(stream)).data.events.id);
  await stream.return?.();
  return ids;
}

test('replays that wait for the database do not delay live events, and queued replays share a read', async () => {
  const start = await real.platform.feedEnd();
  await commit(300);
  const live = near.watch(events);
  const next = nextOf(live);
  await subscribed(wired, 1);
  sent = 0;
  isHeld = true;
  const replays = Array.from({ length: 20 }, () => take(near.watch(events, { after: start }), 301));
  await expect.poll(() => [wired.gateway.feed.subscriptions, held.length]).toEqual([21, 3]);
  await commit(1);
  expect((await next).data.events.type).toBe('TEST');
  for (let request = 0; request < 12; request += 1) {
    expect(await near.ask('{ viewer { kind } customers { totalCount } }')).toMatchObject({
      viewer: { kind: 'PLATFORM' },
    });
  }
  expect(held).toHaveLength(3);
  isHeld = false;
  for (const release of held.splice(0)) release();
  const [first = [], ...others] = await Promise.all(replays);
  expect(new Set(first).size).toBe(301);
  for (const other of others) expect(other).toEqual(first);
  expect(sent).toBe(3);
  await live.return?.();
  await subscribed(wired, 0);
});

test('a replay of one type reads only that type, however many other events lie in between', async () => {
  const start = await real.platform.feedEnd();
  await commit(12_000, 4_000);
  sent = 0;
  const found = await take(near.watch(events, { after: start, filter: { types: ['KYC_STATUS'] } }), 3);
  const { events: list } = await real.platform.ask(
    'query ($after: String) { events(after: $after, filter: { types: [KYC_STATUS] }) { edges { node { id } } } }',
    { after: start },
  );
  expect(found).toEqual(list.edges.map((edge: Data) => edge.node.id));
  // Two reads: the pages without such events are skipped.
  expect(sent).toBe(2);
});

import { afterAll, expect, test } from 'vitest';
import { databaseProxy } from '../setup/database-proxy.ts';
import { connect, type Data, testGateway } from '../setup/gateway.ts';
import { nextOf, sequenced, subscribed } from '../setup/streams.ts';

/** Tests readers that are far behind while other readers follow live events. */

const real = await testGateway();
const proxy = await databaseProxy(real.databaseUrl);
afterAll(() => proxy.close());
const wired = await testGateway({ ROLE: 'serve' }, proxy.url);
const near = connect(wired.url, real.platform.platformId, real.platform.authorization);
const replay = /\0(?:events_(?:after|of_\w+)|last_events)\0/;

/** Commits events, all of type TEST except every `rare`th, which is KYC_STATUS. Waits until all are in the feed. */
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
  const sent = proxy.counting(replay);
  proxy.stallOn(replay);
  const replays = Array.from({ length: 20 }, () => take(near.watch(events, { after: start }), 301));
  await expect.poll(() => [wired.gateway.feed.subscriptions, proxy.stalled]).toEqual([21, 3]);
  await commit(1);
  expect((await next).data.events.type).toBe('TEST');
  for (let request = 0; request < 12; request += 1)
    expect((await near.ask('{ viewer { kind } customers { totalCount } }')).viewer.kind).toBe('PLATFORM');
  expect(proxy.stalled).toBe(3);
  proxy.goOn();
  const [first = [], ...others] = await Promise.all(replays);
  expect(new Set(first).size).toBe(301);
  for (const other of others) expect(other).toEqual(first);
  expect(sent.count).toBe(3);
  await live.return?.();
  await subscribed(wired, 0);
});

test('a replay of one type reads only events of that type, even if many others lie between them', async () => {
  const start = await real.platform.feedEnd();
  await commit(12_000, 4_000);
  const sent = proxy.counting(replay);
  const found = await take(near.watch(events, { after: start, filter: { types: ['KYC_STATUS'] } }), 3);
  const { events: list } = await real.platform.ask(
    'query ($after: String) { events(after: $after, filter: { types: [KYC_STATUS] }) { edges { node { id } } } }',
    { after: start },
  );
  expect(found).toEqual(list.edges.map((edge: Data) => edge.node.id));
  // There are only two reads, because the pages without such events are skipped.
  expect(sent.count).toBe(2);
});

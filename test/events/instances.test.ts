import { expect, test, vi } from 'vitest';
import { ownGateway, type TestGateway, testGateway } from '../setup/gateway.ts';
import { startSequencers } from '../setup/sequencers.ts';
import { nextOf } from '../setup/streams.ts';

/** Two instances on one database give the same guarantees as a single instance. */

const a = await testGateway({ METRICS_PORT: 0 });
const b = await testGateway({ METRICS_PORT: 0 }, a.databaseUrl);
const there = a.platform.at(b.url);
const scene = await a.platform.makeScene();

const accountUpdates =
  'subscription ($id: ID!, $after: String) { accountUpdates(of: { accountId: $id }, after: $after) { cursor newBalance { amount } } }';
const events = 'subscription ($after: String) { events(after: $after) { cursor type account { id } customer { id } } }';
/** Returns how many live events an instance has read from the database, according to its metrics. */
async function liveReadsOf({ gateway }: TestGateway): Promise<number> {
  const text = await (await fetch(`${gateway.metricsUrl}/metrics`)).text();
  return Number(/^payments_feed_events_read_total\{for="live"\} (\d+)/m.exec(text)?.[1]);
}

test('an instance reads only the events of platforms that its own subscribers follow', async () => {
  const followed = await a.newPlatform('followed');
  await expect.poll(() => [a, b].map(({ gateway }) => gateway.feed.subscriptions)).toEqual([0, 0]);
  const other = followed.at(b.url);
  const before = await liveReadsOf(b);
  const [here, elsewhere] = [other.watch(events), a.platform.watch(events)];
  // The client sends a subscription only when its first message is requested.
  for (const stream of [here, elsewhere]) stream.next().catch(() => undefined);
  await expect.poll(() => [a, b].map(({ gateway }) => gateway.feed.subscriptions)).toEqual([1, 1]);
  const start = await liveReadsOf(a);
  for (let times = 0; times < 20; times += 1) await a.platform.fund(scene.usd, 1n);
  await vi.waitFor(async () => expect((await liveReadsOf(a)) - start).toBeGreaterThanOrEqual(20), { timeout: 60_000 });
  expect(await liveReadsOf(b)).toBe(before);
  await followed.newCustomer();
  await vi.waitFor(async () => expect((await liveReadsOf(b)) - before).toBeGreaterThan(0), { timeout: 60_000 });
  // All events that the instance has read belong to the platform that its subscriber follows.
  const { rows } = await a.owner.query('select count(*)::int as count from event where platform_id = $1', [
    followed.platformId,
  ]);
  expect((await liveReadsOf(b)) - before).toBeLessThanOrEqual(rows[0].count);
  for (const stream of [here, elsewhere]) await stream.return?.();
});

test('an update between subscribing and the first read is delivered, and each stream shows only its own account', async () => {
  const [mine, theirs] = [
    await a.platform.internalAccount(scene.customerId, 'EUR'),
    await a.platform.internalAccount(scene.customerId, 'GBP'),
  ];
  const follow = async (id: string, last: number) => {
    const updates = await there.followed(accountUpdates, { id }, ({ newBalance }) => newBalance.amount === `${last}`);
    return updates.map(({ newBalance }) => Number(newBalance.amount));
  };
  // The test does not wait until the streams are open, so the first message may show the state before or after a
  // change. A lost change would still be noticed.
  const seen = Promise.all([follow(mine, 5), follow(theirs, 500)]);
  for (let times = 1; times <= 5; times += 1) {
    await a.platform.fund(mine, 1n);
    await a.platform.fund(theirs, 100n);
  }
  for (const [at, [first = 0, ...balances]] of (await seen).entries()) {
    const step = at === 0 ? 1 : 100;
    expect(balances).toEqual(balances.map((_, later) => first + (later + 1) * step));
  }
});

test('the feed continues while any single process is paused', async () => {
  const serving = await ownGateway({ ROLE: 'serve' });
  const sequencers = await startSequencers(serving.databaseUrl);
  const after = await serving.platform.feedEnd();
  const stream = serving.platform.watch(
    'subscription ($after: String) { events(after: $after, filter: { types: [KYC_STATUS] }) { customer { id } } }',
    { after },
  );
  const { customerId } = await serving.platform.makeScene(0n);
  expect((await nextOf(stream)).data.events.customer.id).toBe(customerId);
  await sequencers.freezeEach(async () => {
    const scene = await serving.platform.makeScene(0n);
    expect((await nextOf(stream)).data.events.customer.id).toBe(scene.customerId);
  });
  await stream.return?.();
  await sequencers.stop();
});

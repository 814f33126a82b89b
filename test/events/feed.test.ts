import { afterAll, expect, test, vi } from 'vitest';
import { databaseProxy } from '../setup/database-proxy.ts';
import { connect, type Data, testGateway } from '../setup/gateway.ts';
import { commitEvents, nextOf, sequenced } from '../setup/streams.ts';

/** Tests the feed's own connection to the database, through a proxy that can drop or silence it. */

const application = /payments-gateway feed /;
const real = await testGateway();
const proxy = await databaseProxy(real.databaseUrl);
const listeners = () => proxy.of(application);
afterAll(async () => {
  expect(listeners()).toEqual([]);
  await proxy.close();
});
const wired = await testGateway({ ROLE: 'serve' }, proxy.url);

/** Makes a change, and waits until a follower behind the proxy receives it. */
async function follow(stream: AsyncIterator<Data>): Promise<void> {
  await commitEvents(real);
  expect((await nextOf(stream)).data.events.type).toBe('TEST');
}

async function watch(): Promise<AsyncIterableIterator<Data>> {
  await sequenced(real);
  const after = await real.platform.feedEnd();
  const there = connect(wired.url, real.platform.platformId, real.platform.authorization);
  return there.watch('subscription ($after: String) { events(after: $after) { type } }', { after });
}

const listening = async () => {
  const { rows } = await real.gateway.payments.database.pool.query(
    `select from pg_stat_activity where datname = current_database() and application_name like 'payments-gateway feed %'`,
  );
  // One listener belongs to the gateway that does not use the proxy.
  return rows.length - 1;
};

test('a feed that loses its listener while the database hangs misses nothing and listens again', async () => {
  const stream = await watch();
  await follow(stream);
  const seen = new Set(listeners());
  expect(seen.size).toBe(1);
  proxy.freezeNew(application);
  listeners()[0]?.client.destroy();
  // Polling finds every change that is made while attempts to listen keep failing.
  while (seen.size < 3) {
    await follow(stream);
    for (const listener of listeners()) seen.add(listener);
    // A listener is closed completely before the next one replaces it.
    expect(listeners().length).toBeLessThanOrEqual(1);
  }
  proxy.freezeNew(undefined);
  await vi.waitFor(async () => expect([listeners().length, await listening()]).toEqual([1, 1]), { timeout: 60_000 });
  await follow(stream);
  await stream.return?.();
});

test('a listener that receives nothing is replaced', async () => {
  const stream = await watch();
  const deaf = listeners();
  for (const listener of deaf) listener.frozen = true;
  while (deaf.some((listener) => listeners().includes(listener))) await follow(stream);
  await vi.waitFor(async () => expect([listeners().length, await listening()]).toEqual([1, 1]), { timeout: 60_000 });
  await stream.return?.();
});

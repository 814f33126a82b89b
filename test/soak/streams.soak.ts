import { createClient } from 'graphql-ws';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { ownGateway } from '../setup/gateway.ts';
import { heapInUse } from '../setup/heap.ts';
import { torture } from '../setup/torture.ts';

const minutes = 60_000;
/** How long the subscribers are disturbed: SOAK_SECONDS, by default five minutes. */
const seconds = Number(process.env.SOAK_SECONDS ?? 300);

test('200 subscribers that reconnect for minutes, at 500 changes per second, each see every change once and in order', {
  // Writing takes five minutes. How much longer the reading takes depends on the machine.
  timeout: 25 * minutes,
}, async () => {
  const tortured = await torture({ subscribers: 200, customers: 50, seconds, rate: 500, kills: 20 });
  console.log(
    `${seconds} s of torture: ${JSON.stringify(tortured, (_key, value) => (typeof value === 'number' ? Math.round(value) : value))}`,
  );
  expect(tortured.slowestTakeoverMs).toBeLessThan(2_000);
  // Each subscriber reconnects every 0.2 to 2 s. If the machine is too slow for that, or for the rate, the result
  // proves nothing.
  expect(tortured.perSecond).toBeGreaterThan(450);
  expect(tortured.fewestConnections).toBeGreaterThan(seconds / 6);
  expect(tortured.halfOpened).toBeGreaterThan(tortured.sockets / 5);
});

test('10,000 subscriptions opened and dropped leave memory and listeners as they were', {
  timeout: 5 * minutes,
}, async () => {
  const t = await ownGateway();
  const { gateway, platform, url } = t;
  const round = async (sockets: number) => {
    const clients = Array.from({ length: sockets }, () =>
      createClient({
        url: `${url.replace('http', 'ws')}/graphql`,
        webSocketImpl: WebSocket,
        connectionParams: { authorization: platform.authorization },
        retryAttempts: 0,
      }),
    );
    for (const client of clients) {
      for (let at = 0; at < 20; at += 1) {
        client.subscribe({ query: 'subscription { events { id } }' }, { next() {}, error() {}, complete() {} });
      }
    }
    await expect.poll(() => gateway.feed.subscriptions, { timeout: minutes }).toBe(sockets * 20);
    const held = heapInUse();
    for (const client of clients) client.terminate();
    await expect.poll(() => gateway.feed.subscriptions, { timeout: minutes }).toBe(0);
    await expect.poll(() => gateway.sessions.size, { timeout: minutes }).toBe(0);
    return held;
  };
  // Code that is loaded and compiled at first use is not a leak.
  await round(100);
  const before = heapInUse();
  const held = await round(500);
  const after = heapInUse();
  console.log(`10,000 subscriptions (clients included): ${((held - before) / 10_000 / 1024).toFixed(1)} KiB each`);
  expect(after - before).toBeLessThan(10 * 1024 * 1024);
});

import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { ownGateway } from '../setup/gateway.ts';
import { heapInUse } from '../setup/heap.ts';
import { startFleet } from '../setup/load-balancer.ts';
import { startSequencers } from '../setup/sequencers.ts';
import { torture } from '../setup/torture.ts';

const minutes = 60_000;
/** How long the clients' connections are repeatedly cut: SOAK_SECONDS, by default ten minutes. */
const seconds = Number(process.env.SOAK_SECONDS ?? 600);
/** The interval at which an instance and a process that sequences the feed are killed. */
const killMs = 15_000;

test(`clients that are cut off every 0.2 to 2 s for ${seconds} s, at 500 changes per second, get all changes in order`, async () => {
  const one = await ownGateway({ ROLE: 'serve' });
  const [fleet, sequencers] = [await startFleet(one), await startSequencers(one.databaseUrl)];
  let isOver = false;
  let slowestTakeoverMs = 0;
  const killing = (async () => {
    for (; !isOver; await delay(killMs)) {
      await fleet.replace('SIGKILL');
      slowestTakeoverMs = Math.max(slowestTakeoverMs, await sequencers.kill());
    }
  })();
  const torturing = torture(one, fleet.balancer, { clients: 60, customers: 20, seconds, rate: 500 });
  const tortured = await torturing.finally(async () => {
    isOver = true;
    await killing;
    await sequencers.stop();
    await fleet.stop();
  });
  console.log(`${seconds} s of torture: ${JSON.stringify({ ...tortured, slowestTakeoverMs })}`);
  expect(slowestTakeoverMs).toBeLessThan(2_000);
  // If the machine is too slow for the rate or for the reconnects, the result proves nothing.
  expect(tortured.perSecond).toBeGreaterThan(450);
  expect(tortured.fewestConnections).toBeGreaterThan(seconds / 12);
});

test('opening and dropping 10,000 subscriptions leaks neither memory nor listeners', {
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
  // The first round does not count, because it also loads and compiles code.
  await round(100);
  const before = heapInUse();
  const held = await round(500);
  const after = heapInUse();
  console.log(`10,000 subscriptions (clients included): ${((held - before) / 10_000 / 1024).toFixed(1)} KiB each`);
  expect(after - before).toBeLessThan(10 * 1024 * 1024);
});

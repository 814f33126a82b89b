import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { acknowledging } from '../setup/acknowledging.ts';
import { ownGateway } from '../setup/gateway.ts';
import { startFleet } from '../setup/load-balancer.ts';

/** The long version of test/events/acknowledgements.test.ts. SOAK_SECONDS sets its duration, by default ten minutes. */
const seconds = Number(process.env.SOAK_SECONDS ?? 600);
/** The interval between kills of an instance, in milliseconds. */
const killMs = 15_000;

test(`unmodified clients that are cut off every 0.2 to 2 s for ${seconds} s, at 500 changes per second, lose and reorder nothing`, async () => {
  const one = await ownGateway();
  const fleet = await startFleet(one);
  let isOver = false;
  const killing = (async () => {
    for (; !isOver; await delay(killMs)) await fleet.replace('SIGKILL');
  })();
  const cut = await acknowledging(one, fleet.balancer, { clients: 50, customers: 20, seconds, rate: 500 });
  isOver = true;
  await killing;
  console.log(`${seconds} s: ${JSON.stringify(cut)}`);
  // If the machine is too slow for the rate or for the cuts, the result proves nothing.
  expect(cut.perSecond).toBeGreaterThan(450);
  expect(cut.fewestConnections).toBeGreaterThan(seconds / 12);
  await fleet.stop();
});

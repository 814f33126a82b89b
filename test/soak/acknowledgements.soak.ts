import { expect, test } from 'vitest';
import { acknowledging } from '../setup/acknowledging.ts';
import { type ChildGateway, startChildGateway } from '../setup/child-gateway.ts';
import { ownGateway } from '../setup/gateway.ts';

/** The long version of test/events/acknowledgements.test.ts. SOAK_SECONDS sets its duration, by default ten minutes. */
const seconds = Number(process.env.SOAK_SECONDS ?? 600);
/** How often the second instance is killed, in milliseconds. */
const killMs = 15_000;

test(`unmodified clients that are cut off every 0.2 to 2 s for ${seconds} s, at 500 changes per second, lose and reorder nothing`, async () => {
  const one = await ownGateway();
  const start = () => startChildGateway({ DATABASE_URL: one.databaseUrl, ROLE: 'serve', MIGRATE: 'off' });
  let child: ChildGateway = await start();
  let kills = 0;
  const killing = (async () => {
    for (const began = performance.now(); performance.now() - began < seconds * 1_000; ) {
      await new Promise((resolve) => setTimeout(resolve, killMs));
      await child.end('SIGKILL');
      kills += 1;
      child = await start();
    }
  })();
  const two = {
    get url() {
      return child.url;
    },
  };
  const cut = await acknowledging(one, two, { clients: 50, customers: 20, seconds, rate: 500 });
  await killing;
  console.log(`${seconds} s, ${kills} kills: ${JSON.stringify(cut)}`);
  // If the machine is too slow for the rate or for the cuts, the result proves nothing.
  expect(cut.perSecond).toBeGreaterThan(450);
  expect(cut.fewestConnections).toBeGreaterThan(seconds / 12);
  await child.end('SIGTERM');
});

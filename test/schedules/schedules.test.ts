import { afterAll, expect, test } from 'vitest';
import { checkLedger, exploreAll, exploreSeeds } from './explore.ts';
import { races } from './races.ts';
import { openWorld } from './world.ts';

/**
 * Runs each race under its share of the schedules: the first half depth-first, the rest at random. SCHEDULES sets the
 * total number of schedules. To repeat a random one that failed, set SCHEDULE_SEED to the seed in its error message.
 */

const { SCHEDULES, SCHEDULE_SEED } = process.env;
const share = Math.ceil(Number(SCHEDULES ?? 100) / races.length);

const world = await openWorld();
afterAll(() => world.close());

test.each(races)('$name', { timeout: 1_800_000 }, async (race) => {
  if (SCHEDULE_SEED !== undefined) {
    await exploreSeeds(world, race, [Number(SCHEDULE_SEED)]);
    return;
  }
  const first = await exploreAll(world, race, share / 2);
  const seed = Date.now() % 1_000_000_000;
  const seeds = Array.from({ length: share - first.schedules }, (_, at) => seed + at);
  const rest = await exploreSeeds(world, race, seeds);
  expect(first.schedules + rest.schedules).toBe(share);
  const different = new Set([...first.orders, ...rest.orders]).size;
  if (SCHEDULES !== undefined)
    console.log(`${share} schedules, ${different} different${first.isAll ? ' (all there are)' : ''}`);
});

test('the ledger is sound after all schedules', () => checkLedger(world));

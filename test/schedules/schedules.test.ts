import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkLedger, exploreAll } from './explore.ts';
import { races } from './races.ts';
import { openWorld, type World } from './world.ts';

/** The first schedules of each race. test/soak/schedules.soak.ts plays 10,000. */

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test.each(races)('$name', async (race) => {
  const { schedules } = await exploreAll(world, race, 5);
  expect(schedules).toBe(5);
});

test('the ledger is sound after all schedules', () => checkLedger(world));

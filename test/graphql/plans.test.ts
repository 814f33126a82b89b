import { afterAll, expect, test } from 'vitest';
import { testGateway } from '../setup/gateway.ts';
import { emptyTables, fillTables, makePlanScene, planCases, planOf } from '../setup/plans.ts';
import { listsBelow, readsTooMuch, readsTooMuchByName } from '../setup/plans-below.ts';

// Inserts 3,000 rows and makes the planner believe that there are 1,000,000. `npm run soak -- plans` inserts and reads
// the full number.
const rows = 3_000;
const t = await testGateway();
const scene = await makePlanScene(t);
await fillTables(t, scene.templates, rows, 1_000_000);
afterAll(async () => {
  await emptyTables(t);
  await scene.close();
});

test.each(planCases)('an index serves $name', async (one) => {
  const plan = await planOf(t, one, { id: one.id && scene.ids[one.id] }, false);
  expect(plan.indexes).toEqual(expect.arrayContaining([...one.indexes]));
  expect(plan.isPlannedAnew).toBe(one.isPlannedAnew);
});

test.each(listsBelow)("$name reads only its parent's rows, and no more than the page has", async (list) => {
  for (const size of ['many', 'few', 'none'] as const) {
    expect(await readsTooMuch(t, list, scene.templates, size, rows)).toEqual([]);
  }
});

test.each(['many', 'few', 'none'] as const)(
  "in either API, a list filtered by a subject with %s rows reads only that subject's rows",
  async (size) => {
    expect(await readsTooMuchByName(t, scene.templates, size, rows)).toEqual([]);
  },
);

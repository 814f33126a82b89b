import { afterAll, expect, test } from 'vitest';
import { testGateway } from '../setup/gateway.ts';
import { emptyTables, fillTables, indexSizes, makePlanScene, planCases, planOf } from '../setup/plans.ts';
import { listsBelow, readsTooMuch, readsTooMuchByName } from '../setup/plans-below.ts';

// Inserts 3,000 rows and makes the planner believe that there are 1,000,000. `npm run soak -- plans` inserts and reads
// the full number.
const { PLAN_ROWS } = process.env;
const rows = Number(PLAN_ROWS ?? 3_000);
const t = await testGateway();
const scene = await makePlanScene(t);
await fillTables(t, scene.templates, rows, PLAN_ROWS === undefined ? 1_000_000 : undefined);
afterAll(async () => {
  await emptyTables(t);
  await scene.close();
}, 1_800_000);

test.each(planCases)('an index serves $name', async (one) => {
  const plan = await planOf(t, one, { id: one.id && scene.ids[one.id] });
  expect(plan.indexes).toEqual(expect.arrayContaining([...one.indexes]));
  // A hundred out of a million rows match. If the index is not in the list's order, all hundred are read.
  expect(plan.rowsRead).toBeLessThan(250);
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

test.runIf(PLAN_ROWS)('the cost of each index is reported', async () => {
  for (const line of await indexSizes(t, rows)) console.log(line);
});

import { afterAll, expect, test } from 'vitest';
import { testGateway } from '../setup/gateway.ts';
import { emptyTables, fillTables, indexSizes, makePlanScene, planCases, planOf } from '../setup/plans.ts';
import { listsBelow, readsTooMuch, readsTooMuchByName } from '../setup/plans-below.ts';

const rows = Number(process.env.PLAN_ROWS ?? 1_000_000);

const t = await testGateway();
const scene = await makePlanScene(t);
await fillTables(t, scene.templates, rows);
afterAll(async () => {
  await emptyTables(t);
  await scene.close();
}, 1_800_000);
test.each(planCases)('among a million rows, an index finds $name', async (one) => {
  const plan = await planOf(t, one, { id: one.id && scene.ids[one.id] }, true);
  expect(plan.indexes).toEqual(expect.arrayContaining([...one.indexes]));
  // A hundred of a million rows have the value. If the index does not have the list's order, all hundred are read.
  expect(plan.rowsRead).toBeLessThan(250);
});

test.each(
  listsBelow.flatMap((list) => (['many', 'few', 'none'] as const).map((size) => ({ name: list.name, size, list }))),
)('among a million rows, $name of a parent with $size rows reads no others', async ({ list, size }) => {
  expect(await readsTooMuch(t, list, scene.templates, size, rows)).toEqual([]);
});

test.each(['many', 'few', 'none'] as const)(
  "in either API, a list filtered by a subject with %s rows reads only that subject's rows",
  async (size) => {
    expect(await readsTooMuchByName(t, scene.templates, size, rows)).toEqual([]);
  },
);

test('the cost of each index is reported', async () => {
  for (const line of await indexSizes(t, rows)) console.log(line);
});

import { expect, onTestFinished, test } from 'vitest';
import { readRows } from '../../src/infra/database/read-rows.ts';
import { openAsOwner, ownDatabase } from '../setup/database.ts';

test('a connection keeps the last two hundred repeated reads prepared, and no more', async () => {
  const database = openAsOwner({ url: (await ownDatabase()).url, poolSize: 1 });
  onTestFinished(() => database.close());
  const prepared = async () =>
    (await database.pool.query<{ calls: number }>('select calls from pg_prepared_statements_calls')).rows;
  await database.pool.query(
    `create view pg_prepared_statements_calls as
     select (generic_plans + custom_plans)::int as calls from pg_prepared_statements order by 1 desc`,
  );
  const page = (take: number) => readRows(database, 'Transaction', { where: {}, orderBy: [{ id: 'desc' }], take });
  for (let turn = 0; turn < 10; turn++) await page(1);
  // Nine runs use the name: the first ran unnamed, before the statement was known to repeat.
  expect(await prepared()).toEqual([{ calls: 9 }]);
  for (let turn = 0; turn < 2; turn++) {
    for (let take = 2; take <= 300; take++) {
      await page(take);
      await database.prisma.webhookEndpoint.count({ where: { OR: Array.from({ length: take % 50 }, () => ({})) } });
    }
  }
  expect((await prepared()).length).toBe(200);
  expect(await prepared()).not.toContainEqual({ calls: 9 });
  // The first statement was evicted and is prepared again, like any new statement.
  for (let turn = 0; turn < 3; turn++) await page(1);
  expect(await prepared()).toContainEqual({ calls: 3 });
  expect((await prepared()).length).toBe(200);
});

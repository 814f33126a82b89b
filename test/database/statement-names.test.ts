import { afterEach, expect, test, vi } from 'vitest';
import { readRows } from '../../src/infra/database/read-rows.ts';
import { connectionSeconds, StatementNames } from '../../src/infra/database/statement-names.ts';
import { freshDatabase, openAsOwner } from '../setup/database.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('however many different reads are asked for, a connection has few of them prepared, and those that came again', async () => {
  const { url, drop } = await freshDatabase();
  const database = openAsOwner({ url, poolSize: 1 });
  const prepared = async () =>
    (await database.pool.query<{ calls: number }>('select calls from pg_prepared_statements_calls')).rows;
  try {
    await database.pool.query(
      `create view pg_prepared_statements_calls as
       select (generic_plans + custom_plans)::int as calls from pg_prepared_statements order by 1 desc`,
    );
    const page = (take: number) => readRows(database, 'Transaction', { where: {}, orderBy: [{ id: 'desc' }], take });
    for (let turn = 0; turn < 10; turn++) await page(1);
    // Asked nine times by its name: the first time nobody could know that it would come again.
    expect(await prepared()).toEqual([{ calls: 9 }]);
    for (let turn = 0; turn < 2; turn++) {
      for (let take = 2; take <= 300; take++) {
        await page(take);
        await database.prisma.webhookEndpoint.count({ where: { OR: Array.from({ length: take % 50 }, () => ({})) } });
      }
    }
    expect((await prepared()).length).toBe(200);
  } finally {
    await database.close();
    await drop();
  }
});

test('names are given anew when the connections that knew the old ones are gone', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const names = new StatementNames();
  const again = (sql: string) => [names.nameOf(sql), names.nameOf(sql)].at(-1);
  for (let n = 0; n < 200; n++) expect(again(`select ${n}`)).not.toBe('');
  expect(again('select 200')).toBe('');
  expect(again('select 0')).not.toBe('');

  vi.setSystemTime(Date.now() + connectionSeconds * 1_000);
  expect(again('select 200')).not.toBe('');
});

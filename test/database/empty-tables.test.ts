import { expect, test } from 'vitest';
import { testDatabase } from '../setup/database.ts';
import { testClient } from '../setup/gateway.ts';

// While a table is empty, all its indexes have the same cost. Sessions keep the plans they made at that time until the
// table is analyzed, and a plan with the wrong index would later read all of a platform's rows.

const client = await testClient({ databaseUrl: (await testDatabase()).url });

const keys = `
  select c.conrelid::regclass::text as "table", i.relname::text as index, array_agg(quote_ident(a.attname) order by a.attnum) as columns
  from pg_constraint c join pg_class i on i.oid = c.conindid join pg_attribute a on a.attrelid = c.conrelid and a.attnum = any (c.conkey)
  where c.contype = 'p' and c.connamespace = 'public'::regnamespace
  group by c.conrelid, i.relname having count(*) > 1`;

test('the plan for reading one row uses the primary key even while the table is empty', async () => {
  const { rows } = await client.query<{ table: string; index: string; columns: string[] }>(keys);
  expect(rows.length).toBeGreaterThan(20);
  const others: string[] = [];
  for (const { table, index, columns } of rows) {
    const isRow = columns.map((column, at) => `${column} = $${at + 1}`).join(' and ');
    const plan = await client.query(`explain (generic_plan, costs off) select from ${table} where ${isRow}`);
    const text = plan.rows.map((line) => line['QUERY PLAN']).join(' ');
    if (!text.includes(` ${index} `)) others.push(`${table}: ${text}`);
  }
  expect(others).toEqual([]);
});

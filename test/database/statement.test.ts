import { expect, onTestFinished, test } from 'vitest';
import { asPlatform } from '../../src/infra/database/connections/platform-scope.ts';
import { getDatamodel } from '../../src/infra/database/generated/pothos.ts';
import { readRow, readRows } from '../../src/infra/database/read-rows.ts';
import { columnName, columnsOf, type Event, fieldName, type Quote } from '../../src/infra/database/rows.ts';
import { statement } from '../../src/infra/database/statement.ts';
import { between } from '../setup/acts.ts';
import { openAsOwner, ownDatabase } from '../setup/database.ts';
import { testGateway, uuidIn } from '../setup/gateway.ts';

const t = await testGateway();
const database = t.gateway.payments.database;
const scene = await t.platform.makeScene();
const made = await t.platform.quote(between(scene.usd, scene.outsideEur, 9_000));
// The timeline is complete once the events have their feed positions.
await t.platform.transactionOf(made.transaction.id);
const quoteId = uuidIn(made.id);

test('two statements never share a name, because a connection that has prepared one would reject the other', () => {
  statement('a_test_of_names', 'select 1');
  expect(() => statement('a_test_of_names', 'select 1')).not.toThrow();
  expect(() => statement('a_test_of_names', 'select 2')).toThrow('two statements are named a_test_of_names');
});

test('every field name of every model can be converted to a column name and back', () => {
  const names = Object.values(getDatamodel().datamodel.models).flatMap(({ fields }) => fields.map(({ name }) => name));
  expect(names.length).toBeGreaterThan(100);
  expect(names.map((name) => fieldName(columnName(name)))).toEqual(names);
});

test("a statement's rows have field names, and null stays null", async () => {
  const read = statement<{ dueInMs: number; leasedUntil: Date | null; ids: string[] }>(
    'test_of_fields',
    "select 5 as due_in_ms, null::timestamptz as leased_until, array['a_b'] as ids union all select 6, 'epoch', '{}'",
  );
  expect(await read(database.pool)).toEqual([
    { dueInMs: 5, leasedUntil: null, ids: ['a_b'] },
    { dueInMs: 6, leasedUntil: new Date(0), ids: [] },
  ]);
});

test('a whole row read as JSON equals the row that Prisma reads', async () => {
  const read = statement<{ quote: Quote; none: Quote | null }>(
    'test_of_nouns',
    'select to_json(q) as quote, null::json as none from quote q where id = $1',
    { quote: 'Quote', none: 'Quote' },
  );
  const [row] = await read(database.pool, quoteId);
  expect(row).toEqual({ quote: await database.prisma.quote.findFirst({ where: { id: quoteId } }), none: null });
  expect(row?.quote.expiresAt).toBeInstanceOf(Date);
});

test("an event's columns are enough to build the event that Prisma reads", async () => {
  const read = statement<Event>(
    'test_of_columns',
    `select ${columnsOf('Event', 'e')} from event e where quote_id = $1 order by sequence`,
  );
  const events = await read(database.pool, quoteId);
  expect(events).toEqual(await database.prisma.event.findMany({ where: { quoteId }, orderBy: { sequence: 'asc' } }));
  expect(events).not.toHaveLength(0);
});

// Reading lists is tested in both-apis.test.ts, with every filter and order.
test('readRow returns one row, or null if no row meets the conditions', async () => {
  const { platformId } = t.platform;
  const id = uuidIn(scene.customerId);
  expect(await readRow(database, 'Customer', { platformId, id })).toEqual(
    await database.prisma.customer.findUnique({ where: { platformId_id: { platformId, id } } }),
  );
  expect(await readRow(database, 'Customer', { platformId: id, id })).toBeNull();
});

test('a balance beyond the range of a JSON number is read exactly', async () => {
  const owning = openAsOwner({ url: t.databaseUrl, poolSize: 1 });
  const client = await owning.pool.connect();
  const readText = async (text: string, { values }: { readonly values: readonly unknown[] }): Promise<string> =>
    (await client.query<[string]>({ text, values: [...values], rowMode: 'array' })).rows[0]?.[0] ?? '';
  try {
    await client.query("begin; set local session_replication_role = 'replica'");
    const { rows } = await client.query(
      "update account set posted = 9007199254740995 where kind = 'INTERNAL' returning platform_id, id",
    );
    const [{ platform_id: platformId, id }] = rows;
    expect(await readRow({ readText }, 'Account', { platformId, id })).toMatchObject({ posted: 9007199254740995n });
  } finally {
    await client.query('rollback');
    client.release();
    await owning.close();
  }
});

test('unsupported conditions are rejected, not ignored', async () => {
  const read = (where: object) => readRows(database, 'Transaction', { where });
  await expect(read({ description: { contains: 'x' } })).rejects.toThrow('contains');
  await expect(read({ NOT: { status: 'PENDING' } })).rejects.toThrow('NOT');
  await expect(read({ AND: [{ nonsense: true }] })).rejects.toThrow('nonsense');
});

test('a statement with more parameters than the protocol allows is refused before it is sent', async () => {
  const values = Array.from({ length: 65_536 }, () => '1');
  const text = `select $1::text, ${values.length}::text`;
  const { serving, payments } = t.gateway;
  const ways: (() => Promise<unknown>)[] = [
    () => database.pool.query(text, values),
    () => database.pool.query({ text, values }),
    () => asPlatform(t.platform.platformId, () => serving.pool.query(text, values)),
    () => asPlatform(t.platform.platformId, () => serving.readText(text, { values, planning: 'anew' })),
    () => payments.database.prisma.$queryRawUnsafe(text, ...values),
  ];
  for (const send of ways)
    await expect(send()).rejects.toThrow('a statement has 65536 parameters; Postgres takes at most 65535');
  expect(await database.pool.query('select 1 as one')).toMatchObject({ rows: [{ one: 1 }] });
});

test('only a statement whose read requests a generic plan uses one', async () => {
  const { serving } = t.gateway;
  const plansOf = async (planning: 'once' | undefined) => {
    const text = `select (select count(*) from quote where id = $1 and 'planned ${planning}' <> '')::text`;
    const read = () => serving.readText(text, { values: [quoteId], planning });
    const of =
      'select generic_plans::int as any, custom_plans::int as own from pg_prepared_statements where position($1 in statement) > 0';
    return asPlatform(t.platform.platformId, async () => {
      // From the second run on, the statement has a name, so each connection prepares it.
      for (let time = 0; time < 12; time += 1) expect(await read()).toBe('1');
      const { rows } = await serving.pool.query(of, [text]);
      return rows[0];
    });
  };
  expect(await plansOf('once')).toEqual({ any: 11, own: 0 });
  expect(await plansOf(undefined)).toMatchObject({ own: 5 });
});

test('a connection keeps the last two hundred repeated reads prepared, and no more', async () => {
  const own = openAsOwner({ url: (await ownDatabase()).url, poolSize: 1 });
  onTestFinished(() => own.close());
  const prepared = async () =>
    (await own.pool.query<{ calls: number }>('select calls from pg_prepared_statements_calls')).rows;
  await own.pool.query(
    `create view pg_prepared_statements_calls as
     select (generic_plans + custom_plans)::int as calls from pg_prepared_statements order by 1 desc`,
  );
  const page = (take: number) => readRows(own, 'Transaction', { where: {}, orderBy: [{ id: 'desc' }], take });
  for (let turn = 0; turn < 10; turn++) await page(1);
  // The first run did not use a prepared statement, because the read was not yet known to repeat.
  expect(await prepared()).toEqual([{ calls: 9 }]);
  for (let turn = 0; turn < 2; turn++) {
    for (let take = 2; take <= 300; take++) {
      await page(take);
      await own.prisma.webhookEndpoint.count({ where: { OR: Array.from({ length: take % 50 }, () => ({})) } });
    }
  }
  expect((await prepared()).length).toBe(200);
  expect(await prepared()).not.toContainEqual({ calls: 9 });
  // The first statement has been evicted, so it is prepared again.
  for (let turn = 0; turn < 3; turn++) await page(1);
  expect(await prepared()).toContainEqual({ calls: 3 });
  expect((await prepared()).length).toBe(200);
});

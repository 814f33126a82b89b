import { afterEach, beforeEach, expect, test } from 'vitest';
import { usdToEur } from '../setup/acts.ts';
import { type Data, testClient, testGateway, uuidIn } from '../setup/gateway.ts';
import { sequenced } from '../setup/streams.ts';

/** An event stores only what has changed, but shows the whole row as it was then. */

const t = await testGateway({ SANDBOX_PACE_MS: 600_000 });
const scene = await t.platform.makeScene(10_000n);
const quote = await t.platform.quote(usdToEur(scene));
await sequenced(t);
const sql = await testClient(t, '-c timezone=UTC');

/** Each test runs in a transaction that is rolled back. */
beforeEach(() => sql.query('begin'));
afterEach(() => sql.query('rollback'));

type Table = 'transaction' | 'quote' | 'account';

const run = async (text: string, values: unknown[] = []): Promise<Data[]> => (await sql.query(text, values)).rows;

/** Returns SQL for a different value of the column. JSON values contain a null, because nulls must be kept. */
function otherValue(column: string, type: string): string {
  switch (type) {
    case 'uuid':
      return `'${uuidIn(column === 'destination_account_id' ? scene.outsideUsd : scene.eur)}'`;
    case 'jsonb':
      return `'[{"a": null}]'`;
    case 'boolean':
      return `not ${column}`;
    case 'text':
      return column.endsWith('currency') ? `'GBP'` : `coalesce(${column}, '') || 'x'`;
    case 'timestamp with time zone':
      return `coalesce(${column}, now()) + interval '1 hour'`;
    case 'USER-DEFINED':
      return `(select v from unnest(enum_range(${column})) v where v is distinct from ${column} limit 1)`;
    default:
      return `coalesce(${column}, 0) + 1`;
  }
}

/** Returns a row's events, oldest first, with the values that they show. */
async function shown(table: Table, id: string): Promise<Data[]> {
  const types = { transaction: `'%PAYMENT'`, quote: `'QUOTE%'`, account: `'%ACCOUNT%'` }[table];
  await run('select sequence_outbox(1000)');
  return run(
    `select version, snapshot from event where ${table}_id = $1 and type::text like ${types} order by sequence`,
    [id],
  );
}

const now = async (table: Table, id: string): Promise<Data> => {
  const whole = table === 'account' ? 'account_snapshot(r)' : 'to_jsonb(r)';
  const [row] = await run(`select ${whole} as row from ${table} r where id = $1`, [id]);
  return row?.row;
};

/** Returns the columns that an update of one column must also set for the row to stay valid. */
const beside = (table: Table, column: string): string => {
  const set = [
    ...(table !== 'account' && column !== 'status' ? [`status = 'PROCESSING'`] : []),
    ...(column.startsWith('refund')
      ? [`refund_reference = 'R'`, 'refund_amount = 5'].filter((other) => !other.startsWith(column))
      : []),
  ];
  return set.map((each) => `, ${each}`).join('');
};

const nextStatus = { transaction: 'PROCESSING', quote: 'PROCESSING', account: 'UNDER_REVIEW' };

/**
 * Changes each column in turn, and checks that every event still shows the values at the time of the event. Returns the
 * columns that can change.
 */
async function changeEach(table: Table, id: string): Promise<string[]> {
  const columns = await run(
    `select column_name as name, data_type as type from information_schema.columns
     where table_schema = 'public' and table_name = $1 order by ordinal_position`,
    [table],
  );
  const changing: string[] = [];
  for (const { name, type } of columns) {
    await run('savepoint here');
    const before = await shown(table, id);
    const value = name === 'status' ? `'${nextStatus[table]}'` : otherValue(name, type);
    const row = await now(table, id);
    const changed = await sql
      .query(`update ${table} set ${name} = ${value}${beside(table, name)} where id = $1`, [id])
      .then(
        () => true,
        () => false,
      );
    if (changed) {
      const after = await now(table, id);
      if (JSON.stringify(after[name]) !== JSON.stringify(row[name])) changing.push(name);
      const expected = [...before, { version: after.version, snapshot: after }];
      expect({ [name]: await shown(table, id) }).toEqual({ [name]: expected });
    }
    await run('rollback to here; release here');
  }
  return changing;
}

test('only the status of a quote changes, and each event shows the quote as it was', async () => {
  expect(await changeEach('quote', uuidIn(quote.id))).toEqual(['status', 'status_reason']);
});

const ofPayments = ['status', 'status_reason', 'version', 'updated_at', 'settled_at', 'expected_settlement_at'];
const ofRefunds = ['failure_reason', 'refund_reference', 'refund_amount', 'refund_initiated_at', 'refund_settled_at'];

test('each event of an outgoing payment shows the payment as it was, whatever changes later', async () => {
  const changing = await changeEach('transaction', uuidIn(quote.transaction.id));
  expect(changing.sort()).toEqual([...ofPayments, ...ofRefunds, 'counterparty_information', 'created_by'].sort());
});

test('each event of an incoming payment shows the payment as it was, whatever changes later', async () => {
  const id = (await run('select uuid_v7() as id'))[0]?.id;
  await run('insert into transaction select (jsonb_populate_record(r, $2)).* from transaction r where id = $1', [
    uuidIn(quote.transaction.id),
    { id, quote_id: null, type: 'INCOMING', destination_account_id: uuidIn(scene.usd) },
  ]);
  const changing = await changeEach('transaction', id);
  expect(changing.sort()).toEqual(
    [
      ...[...ofPayments, ...ofRefunds, 'counterparty_information', 'destination_account_id'],
      ...['approval_due_at', 'decided_by_id', 'requested_information'],
    ].sort(),
  );
});

test('each event of an external account shows the account as it was, whatever changes later', async () => {
  const changing = await changeEach('account', uuidIn(scene.outsideUsd));
  expect(changing.sort()).toEqual(
    [
      ...['version', 'updated_at', 'status', 'status_reason', 'platform_account_id', 'default_uma_deposit_account'],
      ...['beneficiary_verification_status', 'beneficiary_verified_name', 'metadata', 'frozen_at'],
    ].sort(),
  );
  await run(`update account set status = 'INACTIVE', is_deleted = true where id = $1`, [uuidIn(scene.outsideUsd)]);
  const events = await shown('account', uuidIn(scene.outsideUsd));
  expect(events.map(({ snapshot }) => [snapshot.status, snapshot.is_deleted])).toEqual([
    ['ACTIVE', false],
    ['INACTIVE', true],
  ]);
});

test('each event of an internal account shows its balance as it was, whatever else changes', async () => {
  const id = uuidIn(scene.usd);
  expect((await changeEach('account', id)).sort()).toEqual([
    ...['beneficiary_verification_status', 'beneficiary_verified_name', 'frozen_at', 'metadata'],
    ...['platform_account_id', 'status_reason', 'updated_at', 'version'],
  ]);
  const values = [t.platform.platformId, (await run('select uuid_v7() as id'))[0]?.id, id];
  await run(
    `insert into journal (platform_id, id, kind, created_at) values ($1, $2, 'test', now())`,
    values.slice(0, 2),
  );
  const post = (leg: number) =>
    run(
      `insert into posting (platform_id, journal_id, leg, account_id, currency, amount) values ($1, $2, $4, $3, 'USD', -4000)`,
      [...values, leg],
    );
  await post(1);
  await run('update account set frozen_at = now() where id = $1', [id]);
  await post(2);
  const events = await shown('account', id);
  expect(events.map(({ snapshot }) => [snapshot.posted, snapshot.frozen_at !== null])).toEqual([
    ['0', false],
    ['10000', false],
    ['6000', false],
    ['6000', true],
    ['2000', true],
  ]);
  expect(events.at(-1)?.snapshot).toEqual(await now('account', id));
});

test('an older event that stores the whole row is shown unchanged', async () => {
  const id = uuidIn(quote.id);
  const [event] = await shown('quote', id);
  const whole = { ...event?.snapshot, description: 'as it was written then', exchange_rate: 12.5 };
  await run('set local session_replication_role = replica');
  await run('update stored_event set snapshot = $2 where quote_id = $1 and type = $3', [id, whole, 'QUOTE_STATUS']);
  expect((await shown('quote', id)).map(({ snapshot }) => snapshot)).toEqual([whole]);
});

test("a quote's event stores nothing of the quote, and a payment's event less than a tenth of the payment", async () => {
  const sizes = await run(
    `select s.type::text, coalesce(max(pg_column_size(s.snapshot)), 0)::int as stored, min(length(e.snapshot::text)) as shown
     from stored_event s join event e using (platform_id, sequence)
     where s.type in ('QUOTE_STATUS', 'OUTGOING_PAYMENT', 'ACCOUNT_STATUS') group by s.type order by 1`,
  );
  expect(sizes.map(({ type, stored }) => [type, stored])).toContainEqual(['QUOTE_STATUS', 0]);
  for (const { type, stored, shown: whole } of sizes)
    expect([type, stored * 10 < whole, whole > 500]).toEqual([type, true, true]);
});

import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { usdToEur } from '../setup/acts.ts';
import { type Data, startTestGateway, testClient, uuidIn } from '../setup/gateway.ts';

const t = await startTestGateway({ SANDBOX_PACE_MS: 600_000 });
// Some tests insert journals directly, without a payment.
afterAll(() => t.stop([/^a journal without a payment is money that arrived from outside/]));
const { platformId } = t.platform;
const other = await t.newPlatform('other');
const scene = await t.platform.makeScene(10_000n);
const foreign = await other.makeScene(10_000n);
const quote = await t.platform.quote(usdToEur(scene));
const sql = await testClient(t);

/** Each test runs in a transaction that is rolled back unless the test commits it. */
beforeEach(() => sql.query('begin'));
afterEach(() => sql.query('rollback'));

async function run(text: string, values: unknown[] = []): Promise<Data[]> {
  return (await sql.query(text, values)).rows;
}

/** Runs a statement and undoes it. Returns the SQLSTATE with which the database refuses it, or `done`. */
async function refusalOf(text: string, values: unknown[] = []): Promise<string | undefined> {
  await sql.query('savepoint here');
  const state = await sql.query(text, values).then(
    () => 'done',
    (error: unknown) => (error instanceof pg.DatabaseError ? error.code : String(error)),
  );
  // The savepoint is released too, so that later statements belong to the transaction itself again.
  await sql.query('rollback to here; release here');
  // TRUNCATE can deadlock with background work. Retrying it gives the actual refusal.
  return state === '40P01' ? refusalOf(text, values) : state;
}

async function newJournal(): Promise<string> {
  const id = randomUUID();
  const text = `insert into journal (platform_id, id, kind, created_at) values ($1, $2, 'test', clock_ms())`;
  await run(text, [platformId, id]);
  return id;
}

const toSystem =
  'insert into posting (platform_id, journal_id, leg, system, currency, amount) values ($1, $2, $3, $4, $5, $6)';
const toAccount =
  'insert into posting (platform_id, journal_id, leg, account_id, currency, amount) values ($1, $2, $3, $4, $5, $6)';

async function debit(amount: number): Promise<string> {
  const journal = await newJournal();
  await run(toAccount, [platformId, journal, 1, uuidIn(scene.usd), 'USD', -amount]);
  await run(toSystem, [platformId, journal, 2, 'OUTSIDE', 'USD', amount]);
  return journal;
}

/** Copies a row, and applies the changes in a JSON object to the copy. */
const copyOf = (table: string) =>
  `insert into ${table} select (jsonb_populate_record(r, $2)).* from ${table} r where id = $1`;

async function balance(): Promise<bigint> {
  const [row] = await run('select posted from account where id = $1', [uuidIn(scene.usd)]);
  return BigInt(row?.posted);
}

describe('a journal', () => {
  test('is refused at commit if it does not balance in each currency', async () => {
    for (const legs of [['OUTSIDE USD 5'], ['OUTSIDE USD 5', 'FEES USD -4'], ['OUTSIDE USD 5', 'FEES EUR -5'], []]) {
      await sql.query('rollback');
      await sql.query('begin');
      const journal = await newJournal();
      for (const [at, leg] of legs.entries()) await run(toSystem, [platformId, journal, at + 1, ...leg.split(' ')]);
      await expect(sql.query('commit')).rejects.toMatchObject({ code: 'LG008' });
      await sql.query('begin');
      expect(await run('select from journal where id = $1', [journal])).toEqual([]);
    }
  });

  test('accepts no leg with an amount of zero, without an account, or in an unknown currency', async () => {
    const journal = await newJournal();
    expect(await refusalOf(toSystem, [platformId, journal, 1, 'FEES', 'USD', 0])).toBe('23514');
    expect(await refusalOf(toSystem, [platformId, journal, 1, null, 'USD', 1])).toBe('23514');
    expect(await refusalOf(toSystem, [platformId, journal, 1, 'FEES', 'XYZ', 1])).toBe('23503');
  });

  test("accepts no leg in a currency other than its account's, or on an external account", async () => {
    const journal = await newJournal();
    const leg = (account: string, currency: string) => [platformId, journal, 1, uuidIn(account), currency, 5];
    expect(await refusalOf(toAccount, leg(scene.usd, 'EUR'))).toBe('LG007');
    expect(await refusalOf(toAccount, leg(scene.outsideUsd, 'USD'))).toBe('LG007');
    expect(await refusalOf(toAccount, leg(foreign.usd, 'USD'))).toBe('LG007');
    expect(await refusalOf(toAccount, leg(scene.usd, 'USD'))).toBe('done');
  });

  test('accepts no further leg, change, deletion or truncation once it is committed', async () => {
    const journal = await debit(10);
    await sql.query('commit');
    await sql.query('begin');
    expect(await refusalOf(toSystem, [platformId, journal, 3, 'FEES', 'USD', 1])).toBe('LG005');
    expect(await refusalOf(`update posting set amount = amount + 1 where journal_id = $1`, [journal])).toBe('LG001');
    expect(await refusalOf(`update journal set kind = 'other' where id = $1`, [journal])).toBe('LG001');
    expect(await refusalOf('delete from posting where journal_id = $1', [journal])).toBe('LG001');
    expect(await refusalOf('delete from journal where id = $1', [journal])).toBe('LG001');
    for (const table of ['posting', 'journal', 'account', 'stored_event', 'quote', 'transaction', 'currency']) {
      expect(await refusalOf(`truncate ${table} cascade`)).toBe('LG001');
    }
    expect(await refusalOf('delete from event')).toBe('LG001');
    expect(await refusalOf(`update event set status = 'COMPLETED'`)).toBe('LG001');
  });
});

describe('a balance', () => {
  test('never goes below zero', async () => {
    const posted = await balance();
    const journal = await newJournal();
    const leg = (number: number, amount: bigint) => [platformId, journal, number, uuidIn(scene.usd), 'USD', amount];
    expect(await refusalOf(toAccount, leg(1, -posted - 1n))).toBe('23514');
    await run(toAccount, leg(1, -posted));
    expect(await balance()).toBe(0n);
    expect(await refusalOf(toAccount, leg(2, -1n))).toBe('23514');
  });

  test('changes only by postings', async () => {
    const more = 'update account set posted = posted + 1 where id = $1';
    expect(await refusalOf(more, [uuidIn(scene.usd)])).toBe('LG004');
  });
});

const failed = `, failure_reason = 'QUOTE_EXPIRED', refund_reference = 'R', refund_amount = 1`;
const times = ', refund_initiated_at = now(), settled_at = now()';

test.each([
  { noun: 'quote', row: quote.id, first: ['PENDING'] },
  { noun: 'transaction', row: quote.transaction.id, first: ['PENDING', 'CREATED'], set: failed, since: times },
  { noun: 'external_account', row: scene.outsideUsd, first: ['PENDING', 'ACTIVE', 'UNDER_REVIEW'] },
])('the database allows only the listed initial statuses and status changes of a $noun', async (each) => {
  const { noun, row, first, set = '', since = '' } = each;
  const table = noun.replace('external_', '');
  const id = uuidIn(row);
  const listed = async (text: string) => (await run(text)).map(({ name }) => name);
  const allowed = await listed(`select unnest(status_moves('${noun}')) as name`);
  const statuses = await listed(`select unnest(enum_range(null::${noun}_status))::text as name`);
  for (const from of statuses) {
    // The status is set without triggers, so that every status can be the starting point.
    await run('set local session_replication_role = replica');
    await run(`update ${table} set status = $2 ${set} ${since} where id = $1`, [id, from]);
    await run('set local session_replication_role = origin');
    const copied = await refusalOf(copyOf(table), [id, { id: randomUUID(), identifier: randomUUID() }]);
    expect([from, copied !== 'LG003']).toEqual([from, first.includes(from)]);
    for (const to of statuses) {
      const state = await refusalOf(`update ${table} set status = $2 ${set} where id = $1`, [id, to]);
      // An external account may keep its status.
      const isAllowed = allowed.includes(`${from} > ${to}`) || (table === 'account' && from === to);
      expect(`${from}>${to} ${state}`).toBe(`${from}>${to} ${isAllowed ? 'done' : 'LG003'}`);
    }
  }
});

test("currencies, platforms and journals must exist, and neither rows nor events may refer to another platform's objects", async () => {
  const transactionId = uuidIn(quote.transaction.id);
  // A copy of the quote needs a transaction of its own, because a transaction can have only one quote.
  const spare = randomUUID();
  await run(copyOf('transaction'), [transactionId, { id: spare, quote_id: null }]);
  for (const [table, id, change] of [
    ['quote', quote.id, { customer_id: uuidIn(foreign.customerId) }],
    ['quote', quote.id, { source_account_id: uuidIn(foreign.usd) }],
    ['quote', quote.id, { destination_account_id: uuidIn(foreign.outsideEur) }],
    ['quote', quote.id, { sending_currency: 'XYZ' }],
    ['quote', quote.id, { receiving_currency: 'XYZ' }],
    ['quote', quote.id, { platform_id: other.platformId }],
    ['transaction', quote.transaction.id, { customer_id: uuidIn(foreign.customerId) }],
    ['transaction', quote.transaction.id, { source_account_id: uuidIn(foreign.usd) }],
    ['transaction', quote.transaction.id, { destination_account_id: uuidIn(foreign.outsideUsd) }],
    ['transaction', quote.transaction.id, { sent_currency: 'XYZ' }],
    ['transaction', quote.transaction.id, { received_currency: 'XYZ' }],
    ['transaction', quote.transaction.id, { platform_id: randomUUID() }],
    ['account', scene.outsideUsd, { customer_id: uuidIn(foreign.customerId) }],
  ] as const) {
    const own = { quote: { transaction_id: spare }, transaction: { quote_id: null }, account: {} }[table];
    const fresh = { id: randomUUID(), ...own, ...change };
    expect([table, change, await refusalOf(copyOf(table), [uuidIn(id), fresh])]).toEqual([table, change, '23503']);
  }
  const journalOf =
    'insert into journal (platform_id, id, transaction_id, kind, created_at) values ($1, uuid_v7(), $2, $3, now())';
  expect(await refusalOf(journalOf, [other.platformId, transactionId, 'test'])).toBe('23503');
  expect(await refusalOf(toSystem, [platformId, randomUUID(), 1, 'FEES', 'USD', 1])).toBe('LG005');
  const journal = await newJournal();
  expect(await refusalOf(toSystem, [other.platformId, journal, 1, 'FEES', 'USD', 1])).toBe('LG005');

  const told = `insert into outbox (platform_id, event_id, type, occurred_at, version, snapshot, $column)
    values ($1, uuid_v7(), 'TEST', now(), 1, '{}', $2)`;
  for (const [column, own, stranger] of [
    ['transaction_id', transactionId, randomUUID()],
    ['quote_id', uuidIn(quote.id), randomUUID()],
    ['account_id', uuidIn(scene.usd), uuidIn(foreign.usd)],
    ['customer_id', uuidIn(scene.customerId), uuidIn(foreign.customerId)],
  ] as const) {
    const text = told.replace('$column', column);
    expect([column, await refusalOf(text, [platformId, own])]).toEqual([column, 'done']);
    expect([column, await refusalOf(text, [platformId, stranger])]).toEqual([column, '23503']);
  }
  const written = `insert into stored_event (platform_id, sequence, id, type, occurred_at, version, snapshot)
    values ($1, 1000000, uuid_v7(), 'TEST', now(), 1, '{}')`;
  expect(await refusalOf(written, [platformId])).toBe('LG009');

  // Nothing that is referenced can be deleted.
  const kept = ['currency', 'customer', 'account', 'quote', 'transaction'].map((table) => `delete from ${table}`);
  for (const text of [...kept, `update currency set code = 'XYZ' where code = 'USD'`])
    expect([text, await refusalOf(text)]).toEqual([text, 'LG001']);
});

import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { setClockBack } from '../setup/clock-jumps.ts';
import { testDatabase } from '../setup/database.ts';
import { startTestGateway, testClient, testGateway, whileLocked } from '../setup/gateway.ts';
import { createEndpoint } from '../webhooks/endpoint.ts';
import { testReceiver } from '../webhooks/receiver.ts';

const key = Buffer.alloc(32, 7);
const database = await testDatabase();
const sql = await testClient({ databaseUrl: database.url });
// Starts the feed's epoch, as a worker does. The epoch stores the latest clock reading.
await sql.query('select follow_server()');
const serving = await testGateway({ ROLE: 'serve', SECRET_KEY: key }, database.url);
const platform = await serving.newPlatform('timekeeper');
const scene = await platform.makeScene(10_000n);
const receiver = await testReceiver();
// The endpoint gets no approval requests, so no one decides on the incoming payment.
await createEndpoint(platform, { url: receiver.url, eventTypes: ['OUTGOING_PAYMENT'] });

test('work due before the clock is set back by an hour, even twice, is done immediately', async () => {
  const transaction = await platform.pay(scene);
  const incoming = await platform.announce(scene.customerId, 500);
  await setClockBack(database.url);
  const { id: later } = await platform.pay(scene);
  await setClockBack(database.url);
  const working = await startTestGateway({ ROLE: 'work', SECRET_KEY: key }, database.url);
  for (const id of [transaction.id, later]) expect(await platform.ended(id)).toMatchObject({ status: 'COMPLETED' });
  // No one approves the incoming payment, so it times out, just as it would have if the clock had not been set back.
  const timedOut = { status: 'FAILED', failureReason: 'PAYMENT_APPROVAL_TIMED_OUT' };
  expect(await platform.ended(incoming.id)).toMatchObject(timedOut);
  expect(await platform.balanceOf(scene.usd)).toBe(9_800n);
  await receiver.until((received) => received.some(({ body }) => body.transaction?.id === transaction.id));
  await working.stop();
});

test('a correct clock changes nothing', async () => {
  const { rows: before } = await sql.query('select id, due_at, created_at from rail_order order by id');
  const { rows: answers } = await sql.query('select follow_clock() as back from generate_series(1, 3)');
  expect(answers).toEqual([{ back: null }, { back: null }, { back: null }]);
  expect((await sql.query('select id, due_at, created_at from rail_order order by id')).rows).toEqual(before);
  // Another session may be holding the lock.
  const holding = ['select from feed_epoch for update'] as const;
  await whileLocked(database.url, holding, async () =>
    expect((await sql.query('select follow_clock() as back')).rows).toEqual([{ back: null }]),
  );
});

describe('a backward step of the clock', () => {
  /** Each test runs in a transaction that is rolled back. Rows are inserted without the rows that they reference. */
  beforeEach(() => sql.query('begin'));
  afterEach(() => sql.query('rollback'));

  /** Sets the clock back right after a statement. Returns the step that the service detects, in milliseconds. */
  async function setBack(by: string, first = 'select'): Promise<number | null> {
    // Sent in one message, so that almost no time passes in between.
    const changes = [first, `update feed_epoch set seen_at = clock_timestamp() + interval '${by}'`];
    const answers: unknown = await sql.query([...changes, 'select follow_clock() as step'].join('; '));
    return (answers as pg.QueryResult[]).at(-1)?.rows[0].step;
  }

  /** For each table whose rows have a due time, the columns and values of a row. */
  const waiting: Readonly<Record<string, string>> = {
    rail_order: `(platform_id, id, transaction_id, kind, created_at, due_at, attempts)
      values (uuid_v7(), uuid_v7(), uuid_v7(), 'PAYOUT', clock_timestamp() + interval '1 hour', $due, 0)`,
    account_check: '(platform_id, account_id, due_at) values (uuid_v7(), uuid_v7(), $due)',
    identity_check: '(platform_id, customer_id, due_at) values (uuid_v7(), uuid_v7(), $due)',
    rail_webhook: `(platform_id, webhook_id, body, due_at) values (uuid_v7(), 'w', '', $due)`,
    rail_deposit: `(platform_id, id, reference, held_at, began_at, amount, currency, account_id, status, due_at)
      values (uuid_v7(), uuid_v7(), 'r', 'h', now(), 1, 'USD', uuid_v7(), 'RECEIVED', $due)`,
    rail_connection: `(platform_id, sealed, deposits_due_at) values (uuid_v7(), '', $due)`,
  };

  /** Inserts a row that is due after an interval. Returns the number of minutes by which a backward step moves it. */
  async function movedBy(table: string, after: string, step: string): Promise<number> {
    const row = waiting[table]?.replace('$due', `now() + interval '${after}'`);
    const column = table === 'rail_connection' ? 'deposits_due_at' : 'due_at';
    await sql.query('set local session_replication_role = replica');
    await setBack(step, `insert into ${table} ${row}`);
    const { rows } = await sql.query(
      `select extract(epoch from now() + interval '${after}' - ${column}) / 60 as moved from ${table} t
       where not exists (select from platform p where p.id = t.platform_id)`,
    );
    expect(rows).toHaveLength(1);
    return Math.abs(Number(Number(rows[0].moved).toFixed(1)));
  }

  test.each(Object.keys(waiting))('moves back waiting rows in %s', async (table) => {
    expect(await movedBy(table, '30 minutes', '1 hour')).toBe(60);
  });

  test.each([
    ['5 seconds', '1 hour', 0],
    ['1 minute', '1 hour', 60],
    ['1 second', '4 seconds', 0],
    ['8 seconds', '4 seconds', 0.1],
  ])(
    'moves a row due in %s (step: %s) by %s minutes; a row due within 10 seconds and within half the step stays',
    async (due, step, moved) => {
      expect(await movedBy('account_check', due, step)).toBe(moved);
    },
  );

  test('counts only if it exceeds a second, and is detected once', async () => {
    expect(await setBack('800 milliseconds')).toBeNull();
    expect(await setBack('5 seconds')).toBeGreaterThan(1_000);
    expect((await sql.query('select follow_clock() as step')).rows).toEqual([{ step: null }]);
  });

  test("also moves back an order's creation time, so that its age is unchanged", async () => {
    await movedBy('rail_order', '30 minutes', '1 hour');
    const { rows } = await sql.query(
      `select abs(extract(epoch from clock_timestamp() - created_at)) < 60 as is_new from rail_order o
       where not exists (select from platform p where p.id = o.platform_id)`,
    );
    expect(rows).toEqual([{ is_new: true }]);
  });

  test('is detected on a server that takes over', async () => {
    await sql.query("update feed_epoch set server = '1/00000001/1', seen_at = clock_timestamp() + interval '1 hour'");
    expect((await sql.query('select follow_server() as has_begun')).rows).toEqual([{ has_begun: true }]);
    const { rows } = await sql.query('select follow_clock() > 3590000 as is_back');
    expect(rows).toEqual([{ is_back: true }]);
  });

  test('is detected even after a step forward', async () => {
    expect(await setBack('-1 hour')).toBeNull();
    const { rows } = await sql.query(
      `select abs(extract(epoch from seen_at - clock_timestamp())) < 60 as is_now from feed_epoch`,
    );
    expect(rows).toEqual([{ is_now: true }]);
  });
});

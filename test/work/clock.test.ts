import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ThrowawayDatabase } from '../../src/database/migrations/throwaway.ts';
import { act, actOn, ended } from '../setup/acts.ts';
import { setClockBack } from '../setup/clock-jumps.ts';
import { freshDatabase } from '../setup/database.ts';
import { startTestGateway, type TestGateway, type TestPlatform } from '../setup/gateway.ts';
import { balanceOf, makeScene, type Scene } from '../setup/scene.ts';
import { type Receiver, startReceiver } from '../webhooks/receiver.ts';

let database: ThrowawayDatabase;
let sql: pg.Client;
/** Serves, and does no work. */
let serving: TestGateway;
let platform: TestPlatform;
let scene: Scene;
let receiver: Receiver;
beforeAll(async () => {
  database = await freshDatabase();
  sql = new pg.Client({ connectionString: database.url });
  await sql.connect();
  serving = await startTestGateway({ ROLE: 'serve', SECRET_KEY: key }, database.url);
  platform = await serving.newPlatform('timekeeper');
  scene = await makeScene(platform, 10_000n);
  receiver = await startReceiver();
  // It is not asked about incoming payments: nobody answers for the platform.
  const endpoint = { url: receiver.url, eventTypes: ['OUTGOING_PAYMENT'] };
  await act(platform, 'createWebhookEndpoint', endpoint, 'endpoint { id }');
});
afterAll(async () => {
  await sql.end();
  await serving.stop();
  await receiver.stop();
  await database.drop();
});

const key = Buffer.alloc(32, 7);

test('what is under way when the clock is set back by an hour is done now, and not an hour later', async () => {
  const { transaction } = await actOn(platform, 'transferOut', {
    sourceAccountId: scene.usd,
    destinationAccountId: scene.outsideUsd,
    amount: 100,
  });
  const { transaction: incoming } = await actOn(platform, 'sandboxReceiveUma', {
    senderUmaAddress: '$success.usd@sandbox.uma.money',
    customerId: scene.customerId,
    receivingCurrencyCode: 'USD',
    receivingCurrencyAmount: 500,
  });
  await setClockBack(database.url);
  const working = await startTestGateway({ ROLE: 'work', SECRET_KEY: key }, database.url);
  expect(await ended(platform, transaction.id)).toMatchObject({ status: 'COMPLETED' });
  // Nobody approves it: its time is over when it would have been.
  expect(await ended(platform, incoming.id)).toMatchObject({
    status: 'FAILED',
    failureReason: 'PAYMENT_APPROVAL_TIMED_OUT',
  });
  expect(await balanceOf(platform, scene.usd)).toBe(9_900n);
  await receiver.until((received) => received.some(({ body }) => body.transaction?.id === transaction.id));
  await working.stop();
});

test('what is due between two steps back, which nobody saw one by one, is done now, too', async () => {
  const pay = async () => {
    const accounts = { sourceAccountId: scene.usd, destinationAccountId: scene.outsideUsd };
    return (await actOn(platform, 'transferOut', { ...accounts, amount: 100 })).transaction.id as string;
  };
  const first = await pay();
  await setClockBack(database.url);
  const second = await pay();
  await setClockBack(database.url);
  const working = await startTestGateway({ ROLE: 'work', SECRET_KEY: key }, database.url);
  for (const id of [first, second]) expect(await ended(platform, id)).toMatchObject({ status: 'COMPLETED' });
  await working.stop();
});

test('a clock that is right changes nothing', async () => {
  const { rows: before } = await sql.query('select id, due_at, created_at from rail_order order by id');
  const { rows: answers } = await sql.query('select follow_clock() as back from generate_series(1, 3)');
  expect(answers).toEqual([{ back: null }, { back: null }, { back: null }]);
  expect((await sql.query('select id, due_at, created_at from rail_order order by id')).rows).toEqual(before);
  // Somebody else may be looking.
  const other = new pg.Client({ connectionString: database.url });
  await other.connect();
  await other.query('begin');
  await other.query('select from clock_reading for update');
  expect((await sql.query('select follow_clock() as back')).rows).toEqual([{ back: null }]);
  await other.end();
});

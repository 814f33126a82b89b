import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ThrowawayDatabase } from '../../src/database/migrations/throwaway.ts';
import type { Payments } from '../../src/payments/command.ts';
import { leaseOrders } from '../../src/payments/orders/orders.ts';
import { settleDueOrders } from '../../src/payments/settlement/settlement.ts';
import type { RailOutcome } from '../../src/rails/rail.ts';
import { actOn, ended } from '../setup/acts.ts';
import { freshDatabase } from '../setup/database.ts';
import { startTestGateway, type TestGateway, type TestPlatform } from '../setup/gateway.ts';
import { makeScene, type Scene } from '../setup/scene.ts';

let database: ThrowawayDatabase;
/** Serves, and does no work. */
let serving: TestGateway;
let payments: Payments;
let platform: TestPlatform;
let scene: Scene;
beforeAll(async () => {
  database = await freshDatabase();
  serving = await startTestGateway({ ROLE: 'serve', SANDBOX_PACE_MS: 0 }, database.url);
  payments = serving.gateway.payments;
  platform = await serving.newPlatform('leases');
  scene = await makeScene(platform, 10_000n);
});
afterAll(async () => {
  await serving.stop();
  await database.drop();
});

async function transfer(): Promise<string> {
  const input = { sourceAccountId: scene.usd, destinationAccountId: scene.outsideUsd, amount: 100 };
  return (await actOn(platform, 'transferOut', input)).transaction.id;
}

test('an order is leased to one worker at a time', async () => {
  const { pool } = payments.database;
  const id = await transfer();
  const [leased, ...more] = await leaseOrders(pool, 10);
  expect(more).toEqual([]);
  expect(leased).toMatchObject({ transaction: { id: id.replace('Transaction:', '') }, attempts: 1 });
  expect(await leaseOrders(pool, 10)).toEqual([]);
  // For the next test, it is as if nobody had ever had it.
  await pool.query('update rail_order set due_at = null where id = $1', [leased?.id]);
});

test('the orders of a worker that died are taken up after about two seconds', { timeout: 15_000 }, async () => {
  const id = await transfer();
  // As a worker would that dies right after.
  expect(await leaseOrders(payments.database.pool, 10)).toHaveLength(1);
  const successor = await startTestGateway({ ROLE: 'work', SANDBOX_PACE_MS: 0 }, database.url);
  expect(await ended(platform, id)).toMatchObject({ status: 'COMPLETED' });
  await successor.stop();
});

test('an order whose rail takes longer than a lease stays with its worker', async () => {
  const id = await transfer();
  const { promise: outcome, resolve: answer } = Promise.withResolvers<RailOutcome>();
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const { SANDBOX: rail } = payments.rails;
  if (!rail) throw new Error('the sandbox has its rail');
  const payOut = () => {
    ask();
    return outcome;
  };
  const working = settleDueOrders({ ...payments, rails: { SANDBOX: { ...rail, payOut } } }, 10);
  await asked;
  const leases = new Set<string>();
  // Five of them last longer than one lease.
  while (leases.size < 5) {
    const { rows } = await payments.database.pool.query(
      'select due_at::text as until from rail_order where due_at is not null',
    );
    leases.add(rows[0].until);
    expect(await leaseOrders(payments.database.pool, 10)).toEqual([]);
  }
  answer({ kind: 'settled' });
  expect(await working).toBe(1);
  const sequencing = await startTestGateway({ ROLE: 'work', SANDBOX_PACE_MS: 0 }, database.url);
  expect(await ended(platform, id)).toMatchObject({ status: 'COMPLETED' });
  await sequencing.stop();
});

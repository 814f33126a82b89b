import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createThrowawayDatabase, type ThrowawayDatabase } from '../../src/database/migrations/throwaway.ts';
import { ended, quote, succeed, usdToEur } from '../setup/acts.ts';
import { freshDatabase } from '../setup/database.ts';
import { connect, startTestGateway, type TestGateway, type TestPlatform } from '../setup/gateway.ts';
import { makeScene, type Scene } from '../setup/scene.ts';

/** A database is restored to an earlier moment: what was done after that moment never happened, and is done again. */

let original: ThrowawayDatabase;
let restored: ThrowawayDatabase;
let platformId: string;
let authorization: string;
let scene: Scene;
/** A quote from before that moment. */
let quoteId: string;
/** The orders of the payments after that moment, by the names of the payments. */
let lostOrders: Record<string, string[]>;
let t: TestGateway;
let platform: TestPlatform;

beforeAll(async () => {
  original = await freshDatabase();
  await serving(original, async (gateway) => {
    const before = await gateway.newPlatform('restored');
    ({ platformId, authorization } = before);
    scene = await makeScene(before);
    quoteId = (await quote(before, usdToEur(scene))).id;
  });
  // Nobody is connected to it: it can be copied. The copy is its backup.
  restored = await createThrowawayDatabase(inject('server').url, new URL(original.url).pathname.slice(1));
  await serving(original, async (gateway) => {
    lostOrders = await payAll(gateway, connect(gateway.url, platformId, authorization), 'first');
  });
  t = await startTestGateway({}, restored.url);
  platform = connect(t.url, platformId, authorization);
});
afterAll(async () => {
  await t.stop();
  await restored.drop();
  await original.drop();
});

async function serving(database: ThrowawayDatabase, work: (gateway: TestGateway) => Promise<void>): Promise<void> {
  const gateway = await startTestGateway({}, database.url);
  await work(gateway);
  await gateway.stop();
}

const isPaid = 'transaction { id }';

/** Makes a payment of each kind to a rail, and returns the ids of their orders. The quote is executed with the key of `attempt`. */
async function payAll(gateway: TestGateway, through: TestPlatform, attempt: string) {
  const { usd, outsideUsd, outsideEur } = scene;
  const out = { sourceAccountId: usd, destinationAccountId: outsideUsd, amount: 100, idempotencyKey: 'out' };
  const into = { sourceAccountId: outsideUsd, destinationAccountId: usd, amount: 100, idempotencyKey: 'in' };
  const pull = { account: { accountId: outsideUsd } };
  const atOnce = { immediatelyExecute: true, lockedCurrencySide: 'SENDING', lockedCurrencyAmount: 1_000 };
  const destination = { account: { accountId: outsideEur } };
  const payments = {
    transferOut: (await succeed(through, 'transferOut', out, isPaid)).transaction.id,
    transferIn: (await succeed(through, 'transferIn', into, isPaid)).transaction.id,
    atCreation: (
      await succeed(
        through,
        'createQuote',
        { ...usdToEur(scene), ...atOnce, idempotencyKey: 'quote' },
        'quote { transaction { id } }',
      )
    ).quote.transaction.id,
    pull: (
      await succeed(
        through,
        'createQuote',
        { source: pull, destination, ...atOnce, idempotencyKey: 'pull' },
        'quote { transaction { id } }',
      )
    ).quote.transaction.id,
    laterExecuted: (
      await succeed(through, 'executeQuote', { quoteId, idempotencyKey: attempt }, 'quote { transaction { id } }')
    ).quote.transaction.id,
  };
  const orders: Record<string, string[]> = {};
  for (const [name, id] of Object.entries(payments)) {
    expect((await ended(through, id)).status).toBe('COMPLETED');
    const { rows } = await gateway.owner.query<{ id: string }>(
      'select id from rail_order where transaction_id = $1 order by kind, id',
      [id.slice('Transaction:'.length)],
    );
    orders[name] = rows.map((row) => row.id);
  }
  return orders;
}

describe('orders to rails after a restore', () => {
  test('what is paid again with the same key has the same order, so a provider does not pay twice', async () => {
    expect(await payAll(t, platform, 'second')).toEqual(lostOrders);
    const ids = Object.values(lostOrders).flat();
    expect(lostOrders.pull).toHaveLength(2);
    expect(new Set(ids).size).toBe(6);
  });

  test('a key whose record has passed its retention makes a payment of its own, with an order of its own', async () => {
    const input = { sourceAccountId: scene.usd, destinationAccountId: scene.outsideUsd, amount: 100 };
    const again = { ...input, idempotencyKey: 'again' };
    const ordersOf = async (): Promise<string[]> => {
      const { transaction, replayed } = await succeed(platform, 'transferOut', again, isPaid);
      expect(replayed).toBe(false);
      const { rows } = await t.owner.query('select id from rail_order where transaction_id = $1', [
        transaction.id.slice('Transaction:'.length),
      ]);
      await t.owner.query("delete from idempotency_record where key = 'again'");
      return rows.map(({ id }) => id);
    };
    const orders = [...(await ordersOf()), ...(await ordersOf()), ...(await ordersOf())];
    expect(new Set(orders).size).toBe(3);
  });
});

import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { connectedRail } from '../../src/domain/commands/command.ts';
import { reconcile } from '../../src/domain/reconciliation/differences.ts';
import { readBalances } from '../../src/domain/reconciliation/reconciliation.ts';
import { failOrder } from '../../src/domain/settlement/order-by-hand.ts';
import { inTransaction } from '../../src/infra/database/transaction.ts';
import { parseRailSettings } from '../../src/rails/rail-settings.ts';
import { moving, usdToEur } from '../setup/acts.ts';
import { tester, untilRows } from '../setup/gateway.ts';
import { usAccount } from '../setup/scene.ts';
import { slowAmount } from './returning-rail.ts';
import { testRelay, testTwoGateways } from './two-gateways.ts';
import { watch } from './watched-upstream.ts';

/** Tests that no database transaction is open, and thus no locks are held, during a call to a provider. */

/** The methods of the rail that were called, and those that were called while a transaction was open. */
const called = new Set<string>();
const inside = new Set<string>();

/** Selects the open transactions that are idle now. */
const idle = `select pid || ' ' || xact_start as id from pg_stat_activity
  where datname = current_database() and state = 'idle in transaction'`;
/** How long a call waits for open transactions to end. One still open after that must be waiting for the call. */
const waitMs = 3_000;

async function look(method: string): Promise<void> {
  called.add(method);
  const open = async () => (await two.gateway.owner.query<{ id: string }>(idle)).rows.map(({ id }) => id);
  let left = await open();
  for (const deadline = performance.now() + waitMs; left.length > 0; ) {
    if (performance.now() > deadline) return void inside.add(method);
    await delay(20);
    const now = await open();
    left = left.filter((id) => now.includes(id));
  }
}

const rails = { PRODUCTION: { module: './test/rails/watched-upstream.ts', settings: { pollMs: 10, identityMs: 50 } } };
const two = await testTwoGateways({}, { RAILS: parseRailSettings(JSON.stringify(rails)) });
const { shop } = await testRelay(two);
watch.at = look;
afterAll(() => {
  watch.at = async () => undefined;
});

test('every method of the rail is called outside of transactions', async () => {
  const { payments } = two.gateway.gateway;
  const { platform, account } = shop;
  const scene = await platform.makeScene(0n);
  await platform.bringIn(scene, 100_000n);
  await platform.payOut(scene, 1_000n);
  const locked = await platform.quote(usdToEur(scene));
  await platform.execute(locked.id);
  await platform.ended(locked.transaction.id);
  const uma = await platform.umaQuote(scene.usd, '$success.usd@sandbox.uma.money', { immediatelyExecute: true });
  await platform.ended(uma.transaction.id);
  const slow = await platform.transfer('transferOut', scene, slowAmount);
  await failOrder(payments, slow.id, { operator: tester, withoutAsking: false });

  // A deposit that a webhook reports.
  const bank = await account.externalAccount(undefined, 'USD', usAccount('7654321000'));
  const there = await account.internalAccount(await two.customerThere(scene.customerId), 'USD');
  await account.actOn('transferIn', moving(bank, there, 500n));
  await untilRows(two.gateway, [{}], "select from rail_deposit where status = 'CREDITED'");

  const tenant = { platformId: platform.platformId, environment: 'PRODUCTION' } as const;
  await reconcile(payments, tenant, { from: new Date(Date.now() - 3_600_000), to: new Date() });
  await readBalances(payments, tenant);
  expect([...called].sort()).toEqual([
    ...['balances', 'checkAccount', 'checkIdentity', 'collect', 'deposits', 'findOrder', 'lockRate', 'lookUp'],
    ...['movements', 'payOut', 'paymentInstructions', 'rate', 'readWebhook', 'receiveWebhook', 'takeDeposit'],
  ]);
  expect([...inside]).toEqual([]);
});

test('a call inside a transaction is detected', async () => {
  const { payments } = two.gateway.gateway;
  const rail = connectedRail(payments, { ...shop.platform, environment: 'PRODUCTION' });
  await inTransaction(payments.database, async ({ client }) => {
    await client.query('select');
    await rail?.balances?.();
  });
  // `inside` may contain more methods, because a webhook may arrive while this transaction is open.
  expect(inside).toContain('balances');
});

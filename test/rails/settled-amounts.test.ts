import { expect, test } from 'vitest';
import { settleCase } from '../../src/domain/settlement/cases.ts';
import { settleDueOrders } from '../../src/domain/settlement/settlement.ts';
import { pay, quote, usdToEur } from '../setup/acts.ts';
import { sandboxOf, tester, testGateway } from '../setup/gateway.ts';
import { makeDue } from '../setup/passing-time.ts';
import { makeScene } from '../setup/scene.ts';
import { DeviatingProvider } from './deviating-provider.ts';

// Tests that an operator can settle only for an amount that a provider can have moved.

const provider = new DeviatingProvider();
/** This gateway only serves. The test does the background work itself. */
const t = await testGateway({ ROLE: 'serve' });
const { platform } = t;
const scene = await makeScene(platform, 100_000n);
Object.assign(sandboxOf(t.gateway.payments), provider.parts());

async function settled(taken: bigint) {
  provider.deviation = { taken: taken - 1_000n, arrived: 0n };
  return settle((await pay(platform, scene, 1_000)).id);
}

async function settle(id: string) {
  await makeDue(t);
  await settleDueOrders(t.gateway.payments, 100);
  return settleCase(t.gateway.payments, id, { ...tester, reason: 'a test' });
}

test.each([
  ['nothing', 0n, 1_000n],
  ['the maximum balance', 9_000_000_000_000_000n, -8_999_999_999_999_000n],
])('a payout that took %s is settled, and its difference is booked', async (_what, taken, amount) => {
  expect(await settled(taken)).toMatchObject({ differences: [{ currency: 'USD', amount }] });
});

test.each([
  ['minus one unit', -1n],
  ['one unit above the maximum balance', 9_000_000_000_000_001n],
])('a payout that took %s is not settled: such an amount needs investigation', async (_what, taken) => {
  await expect(settled(taken)).rejects.toThrow('That cannot be the amount that it moved');
});

test.each([
  ['outside has less, which is reported', 'outsideEur', { currency: 'EUR', amount: 5n }],
  ['on this installation has the promised amount', 'eur', undefined],
] as const)('if less arrives than promised, a receiver %s', async (_what, to, short) => {
  provider.deviation = { taken: 0n, arrived: -5n };
  const input = { destination: { account: { accountId: scene[to] } }, immediatelyExecute: true };
  const { transaction } = await quote(platform, usdToEur(scene, input));
  expect((await settle(transaction.id)).short).toEqual(short);
});

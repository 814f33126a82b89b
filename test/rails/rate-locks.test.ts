import { expect, test } from 'vitest';
import { parseRailSettings } from '../../src/rails/rail-settings.ts';
import { usdToEur } from '../setup/acts.ts';
import { testGateway } from '../setup/gateway.ts';
import { briefAmount, wrongAmount } from './locking-rail.ts';

/** Tests that a rail's lock is checked before a quote promises its rate. */

const rails = { SANDBOX: { module: './test/rails/locking-rail.ts' } };
const t = await testGateway({ RAILS: parseRailSettings(JSON.stringify(rails)) });
const scene = await t.platform.makeScene();

const ofAmount = (amount: bigint, rest: object = {}) => usdToEur(scene, { lockedCurrencyAmount: amount, ...rest });

// locked-pricing.test.ts tests which locks are valid.
test('an invalid lock produces no quote', async () => {
  const before = await t.platform.balanceOf(scene.usd);
  for (const immediatelyExecute of [false, true]) {
    const refused = await t.platform.act('createQuote', ofAmount(wrongAmount, { immediatelyExecute }));
    expect(refused).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  }
  const made = await t.owner.query('select from quote where total_sending_amount = $1', [wrongAmount]);
  expect(made.rowCount).toBe(0);
  expect(await t.platform.balanceOf(scene.usd)).toBe(before);
});

test('a locked quote is executed with the locked amounts', async () => {
  const before = await t.platform.balanceOf(scene.usd);
  const { id, transaction } = await t.platform.quote(ofAmount(6_000n));
  await t.platform.execute(id);
  expect(await t.platform.ended(transaction.id)).toMatchObject({
    status: 'COMPLETED',
    sentAmount: { amount: '6000' },
    receivedAmount: { amount: '3000' },
  });
  expect(await t.platform.balanceOf(scene.usd)).toBe(before - 6_000n);
});

test('a quote expires with its lock, and can no longer be executed', async () => {
  const before = await t.platform.balanceOf(scene.usd);
  const { id, transaction } = await t.platform.quote(ofAmount(briefAmount));
  expect(await t.platform.ended(transaction.id)).toMatchObject({ status: 'EXPIRED' });
  expect(await t.platform.act('executeQuote', { quoteId: id })).toMatchObject({ code: 'QUOTE_EXPIRED' });
  expect(await t.platform.balanceOf(scene.usd)).toBe(before);
});

test('a dry run does not request a lock from the rail', async () => {
  for (const immediatelyExecute of [false, true]) {
    const input = ofAmount(wrongAmount, { immediatelyExecute, validateOnly: true });
    expect(await t.platform.act('createQuote', input)).toMatchObject({ __typename: 'ValidatedPayment' });
  }
});

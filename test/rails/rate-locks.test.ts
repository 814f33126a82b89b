import { expect, test } from 'vitest';
import { parseRailSettings } from '../../src/rails/rail-settings.ts';
import { usdToEur } from '../setup/acts.ts';
import { testGateway } from '../setup/gateway.ts';
import { briefAmount, wrongAmount, wrongLocks } from './locking-rail.ts';

/** Tests that a rail's lock is checked before a quote promises its rate. */

const rails = { SANDBOX: { module: './test/rails/locking-rail.ts' } };
const t = await testGateway({ RAILS: parseRailSettings(JSON.stringify(rails)) });
const scene = await t.platform.makeScene();

const ofAmount = (amount: bigint, rest: object = {}) => usdToEur(scene, { lockedCurrencyAmount: amount, ...rest });

test.each(Object.keys(wrongLocks))('a lock that differs from the request produces no quote: %s', async (name) => {
  const before = await t.platform.balanceOf(scene.usd);
  for (const immediatelyExecute of [false, true]) {
    const refused = await t.platform.act('createQuote', ofAmount(wrongAmount(name), { immediatelyExecute }));
    expect(refused).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  }
  const { rows } = await t.owner.query('select count(*)::int as quotes from quote where total_sending_amount = $1', [
    wrongAmount(name),
  ]);
  expect(rows).toEqual([{ quotes: 0 }]);
  expect(await t.platform.balanceOf(scene.usd)).toBe(before);
});

test('two concurrent executions of a locked quote execute it once, with the amounts of its lock', async () => {
  const before = await t.platform.balanceOf(scene.usd);
  const { id, transaction } = await t.platform.quote(ofAmount(6_000n));
  const answers = await Promise.all(
    ['one', 'other'].map((idempotencyKey) => t.platform.act('executeQuote', { quoteId: id, idempotencyKey })),
  );
  expect(answers.map(({ __typename, code }) => code ?? __typename).sort()).toEqual(['CONFLICT', 'ExecuteQuoteSuccess']);
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
    const input = ofAmount(wrongAmount('no time'), { immediatelyExecute, validateOnly: true });
    expect(await t.platform.act('createQuote', input)).toMatchObject({ __typename: 'ValidatedPayment' });
  }
});

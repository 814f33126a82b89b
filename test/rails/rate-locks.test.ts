import { afterAll, expect, test } from 'vitest';
import { parseRailSettings } from '../../src/rails/rail-settings.ts';
import { act, ended, quote, usdToEur } from '../setup/acts.ts';
import { startTestGateway } from '../setup/gateway.ts';
import { balanceOf, makeScene } from '../setup/scene.ts';
import { briefAmount, wrongAmount, wrongLocks } from './locking-rail.ts';

/** What a rail says that it has locked is checked before a quote promises it. */

const rails = { SANDBOX: { module: './test/rails/locking-rail.ts' } };
const t = await startTestGateway({ RAILS: parseRailSettings(JSON.stringify(rails)) });
const scene = await makeScene(t.platform);
afterAll(async () => {
  await t.stop();
});

const ofAmount = (amount: bigint, rest: object = {}) => usdToEur(scene, { lockedCurrencyAmount: amount, ...rest });

test.each(Object.keys(wrongLocks))('a lock that is not what was asked for makes no quote: %s', async (name) => {
  const before = await balanceOf(t.platform, scene.usd);
  for (const immediatelyExecute of [false, true]) {
    const refused = await act(t.platform, 'createQuote', ofAmount(wrongAmount(name), { immediatelyExecute }));
    expect(refused).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  }
  const { rows } = await t.owner.query('select count(*)::int as quotes from quote where total_sending_amount = $1', [
    wrongAmount(name),
  ]);
  expect(rows).toEqual([{ quotes: 0 }]);
  expect(await balanceOf(t.platform, scene.usd)).toBe(before);
});

test('two who execute a locked quote at once execute it once, with the amounts of its lock', async () => {
  const before = await balanceOf(t.platform, scene.usd);
  const { id, transaction } = await quote(t.platform, ofAmount(6_000n));
  const answers = await Promise.all(
    ['one', 'other'].map((idempotencyKey) => act(t.platform, 'executeQuote', { quoteId: id, idempotencyKey })),
  );
  expect(answers.map(({ __typename, code }) => code ?? __typename).sort()).toEqual(['CONFLICT', 'ExecuteQuoteSuccess']);
  expect(await ended(t.platform, transaction.id)).toMatchObject({
    status: 'COMPLETED',
    sentAmount: { amount: '6000' },
    receivedAmount: { amount: '3000' },
  });
  expect(await balanceOf(t.platform, scene.usd)).toBe(before - 6_000n);
});

test('a quote ends with its lock, and nobody executes it afterwards', async () => {
  const before = await balanceOf(t.platform, scene.usd);
  const { id, transaction } = await quote(t.platform, ofAmount(briefAmount));
  expect(await ended(t.platform, transaction.id)).toMatchObject({ status: 'EXPIRED' });
  expect(await act(t.platform, 'executeQuote', { quoteId: id })).toMatchObject({ code: 'QUOTE_EXPIRED' });
  expect(await balanceOf(t.platform, scene.usd)).toBe(before);
});

test('a dry run asks the rail for no lock', async () => {
  for (const immediatelyExecute of [false, true]) {
    const input = ofAmount(wrongAmount('no time'), { immediatelyExecute, validateOnly: true });
    expect(await act(t.platform, 'createQuote', input)).toMatchObject({ __typename: 'ValidatedPayment' });
  }
});

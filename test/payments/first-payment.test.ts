import { afterAll, beforeAll, expect, test } from 'vitest';
import { execute, succeed, usdToEur } from '../setup/acts.ts';
import { startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { balanceOf, makeScene } from '../setup/scene.ts';

let t: TestGateway;
beforeAll(async () => {
  t = await startTestGateway();
});
afterAll(() => t.stop());

test('a quote from USD to EUR is executed, streams PENDING, PROCESSING, COMPLETED, and balances to the unit', async () => {
  const scene = await makeScene(t.platform, 100_000n);
  const { quote } = await succeed(
    t.platform,
    'createQuote',
    usdToEur(scene, { lockedCurrencyAmount: 10_000 }),
    'quote { id status transaction { id status } }',
  );
  expect(quote.status).toBe('PENDING');
  expect(quote.transaction.status).toBe('PENDING');

  const seen: string[] = [];
  const stream = t.platform.watch(
    'subscription ($id: ID!) { transactionUpdates(transactionId: $id) { previousStatus status terminal cursor transaction { id status version } } }',
    { id: quote.transaction.id },
  );
  for await (const { data } of stream) {
    seen.push(data.transactionUpdates.status);
    if (seen.length === 1) {
      expect(await execute(t.platform, quote.id)).toMatchObject({ replayed: false, quote: { status: 'PROCESSING' } });
    }
  }
  expect(seen).toEqual(['PENDING', 'PROCESSING', 'COMPLETED']);
  expect(await balanceOf(t.platform, scene.usd)).toBe(90_000n);

  const { transaction } = await t.platform.ask(
    'query ($id: ID!) { transaction(id: $id) { status terminal settledAt timeline { status reason } ledgerEntries { amount { amount currency { code } } account { id } system } } }',
    { id: quote.transaction.id },
  );
  expect(transaction.status).toBe('COMPLETED');
  expect(transaction.timeline.map((event: { status: string }) => event.status)).toEqual([
    'PENDING',
    'PROCESSING',
    'COMPLETED',
  ]);
  const sums: Record<string, bigint> = {};
  for (const { amount } of transaction.ledgerEntries)
    sums[amount.currency.code] = (sums[amount.currency.code] ?? 0n) + BigInt(amount.amount);
  expect(sums).toEqual({ USD: 0n, EUR: 0n });
});

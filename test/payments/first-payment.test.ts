import { expect, test } from 'vitest';
import { between, execute, succeed, transactionOf, went } from '../setup/acts.ts';
import { testGateway } from '../setup/gateway.ts';
import { balanceOf, makeScene } from '../setup/scene.ts';

const t = await testGateway();

test('a quote from USD to EUR is executed, streams PENDING, PROCESSING and COMPLETED, and balances', async () => {
  const scene = await makeScene(t.platform, 100_000n);
  const input = between(scene.usd, scene.outsideEur, 10_000);
  const { quote } = await succeed(t.platform, 'createQuote', input, 'quote { id status transaction { id status } }');
  expect(quote).toMatchObject({ status: 'PENDING', transaction: { status: 'PENDING' } });

  const seen: string[] = [];
  const stream = t.platform.watch(
    'subscription ($id: ID!) { transactionUpdates(of: { transactionId: $id }) { status } }',
    {
      id: quote.transaction.id,
    },
  );
  for await (const { data } of stream) {
    seen.push(data.transactionUpdates.status);
    if (seen.length === 1) {
      expect(await execute(t.platform, quote.id)).toMatchObject({ replayed: false, quote: { status: 'PROCESSING' } });
    }
  }
  expect(seen).toEqual(['PENDING', 'PROCESSING', 'COMPLETED']);
  expect(await balanceOf(t.platform, scene.usd)).toBe(90_000n);

  const transaction = await transactionOf(t.platform, quote.transaction.id);
  expect(transaction).toMatchObject({ status: 'COMPLETED', timeline: went(...seen) });
  const sums: Record<string, bigint> = {};
  for (const { amount } of transaction.ledgerEntries)
    sums[amount.currency.code] = (sums[amount.currency.code] ?? 0n) + BigInt(amount.amount);
  expect(sums).toEqual({ USD: 0n, EUR: 0n });
});

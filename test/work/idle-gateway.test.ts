import { expect, test } from 'vitest';
import { startTestGateway } from '../setup/gateway.ts';

test('an idle gateway queries the database only occasionally', async () => {
  const t = await startTestGateway();
  const { payments, feed } = t.gateway;
  let statements = 0;
  const count = () => {
    statements += 1;
  };
  payments.database.pool.on('acquire', count);
  // Meanwhile the loops poll four times a second, with one or two statements each time.
  const end = performance.now() + 2_000;
  for (let left = 2_000; left > 0; left = end - performance.now()) await feed.waitForChange(left);
  payments.database.pool.off('acquire', count);
  expect(statements).toBeGreaterThan(0);
  expect(statements).toBeLessThan(100);
  await t.stop();
});

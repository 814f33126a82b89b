import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startTestGateway } from '../setup/gateway.ts';
import { history, play } from '../setup/live-list-histories.ts';

test('lists kept up to date by their changes equal a fresh read, in many random histories', async () => {
  const seed = process.env.LISTS_SEED === undefined ? undefined : Number(process.env.LISTS_SEED);
  const t = await startTestGateway({ DATABASE_POOL: 20 });
  const details = await fc.check(
    fc.asyncProperty(history, (one) => play(t, one)),
    { numRuns: Number(process.env.LISTS_RUNS ?? 200), ...(seed !== undefined && { seed }) },
  );
  await t.stop();
  expect(details.failed, fc.defaultReportMessage(details)).toBe(false);
});

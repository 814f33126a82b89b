import { afterAll, expect, test } from 'vitest';
import { runOracle } from '../oracle/run.ts';
import { openWorld } from '../oracle/world.ts';

const world = await openWorld();
afterAll(() => world.close());

/**
 * How many random documents to try. To repeat a run, set `ORACLE_SEED` to its seed. If several processes share the
 * work, each tries fewer documents, with its own seed.
 */
const documents = Number(process.env.ORACLE_DOCUMENTS ?? 2_000);

test(`${documents} random documents, each sent by several callers, get the same results as with standard execution`, async () => {
  const figures = await runOracle(world, documents);
  if (process.env.ORACLE_DOCUMENTS) console.log(figures);
  expect(figures.withRows).toBeGreaterThan(figures.documents / 3);
  expect(figures.answersWithRows).toBeGreaterThan(figures.answers / 3);
  expect(figures.refused).toBeLessThan(figures.answers / 20);
}, 14_400_000);

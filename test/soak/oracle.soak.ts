import { afterAll, beforeAll, expect, test } from 'vitest';
import { runOracle } from '../oracle/run.ts';
import { type OracleWorld, openWorld } from '../oracle/world.ts';

let world: OracleWorld;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world?.close());

/** The number of documents. If several processes share the work, each runs fewer documents, with its own seed. */
const documents = Number(process.env.ORACLE_DOCUMENTS ?? 100_000);

test(`${documents} random documents get the same responses as from standard execution`, async () => {
  const figures = await runOracle(world, documents);
  console.log(figures);
  expect(figures.withRows).toBeGreaterThan(figures.documents / 2);
}, 14_400_000);

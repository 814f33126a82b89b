import { afterAll, beforeAll, expect, test } from 'vitest';
import { runOracle } from '../oracle/run.ts';
import { OracleWorld } from '../oracle/world.ts';

let world: OracleWorld;
beforeAll(async () => {
  world = await OracleWorld.open();
});
afterAll(() => world?.close());

/** How many random documents are asked. */
const documents = Number(process.env.ORACLE_DOCUMENTS ?? 2_000);

test(`${documents} random documents are answered as a plain execution answers them, whoever asks and however often`, async () => {
  const at = Date.now();
  const figures = await runOracle(world, documents);
  console.log(Date.now() - at, figures);
  expect(figures.withRows).toBeGreaterThan(figures.documents / 2);
  expect(figures.refused).toBeLessThan(figures.answers / 10);
}, 600_000);

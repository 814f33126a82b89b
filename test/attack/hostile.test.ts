import { expect, test } from 'vitest';
import { openHostileWorld } from './hostile/run.ts';

const world = await openHostileWorld();

const probes = Number(process.env.ATTACK_PROBES ?? 400);
/** The seed is fixed, so that this test fails only if the code has changed. The soak draws new probes each time. */
const seed = 20_261_123;

test(`${probes} random requests, valid and invalid, over all transports cause no fault, leak or exceeded limit`, async () => {
  const figures = await world.run(probes, 4, seed);
  if (process.env.ATTACK_FIGURES) console.log(figures);
  expect(figures.probes).toBeGreaterThanOrEqual(probes);
  expect([...figures.answers.keys()].filter((name) => / (200|201|0)$/.test(name)).length).toBeGreaterThan(3);
}, 120_000);

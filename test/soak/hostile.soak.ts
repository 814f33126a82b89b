import { expect, test } from 'vitest';
import { openHostileWorld } from '../attack/hostile/run.ts';

const world = await openHostileWorld();

/** The number of probes; `ATTACK_SEED` repeats a run. */
const probes = Number(process.env.ATTACK_PROBES ?? 100_000);

test(`${probes} random requests, valid and invalid, over all transports cause no fault, leak or exceeded limit`, async () => {
  const figures = await world.run(probes, 8, Date.now() & 0x7fffffff);
  console.log(figures);
  expect(figures.probes).toBeGreaterThanOrEqual(probes);
}, 7_200_000);

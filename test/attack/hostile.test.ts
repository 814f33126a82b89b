import { expect, test } from 'vitest';
import { openHostileWorld } from './hostile/run.ts';

const world = await openHostileWorld();

const { ATTACK_PROBES } = process.env;
const probes = Number(ATTACK_PROBES ?? 400);
/** By default, all runs send the same probes, so the test fails only if the code has changed. A soak draws new ones. */
const seed = ATTACK_PROBES === undefined ? 20_261_123 : Date.now() & 0x7fffffff;

test(`${probes} random requests, valid and invalid, over all transports cause no faults or leaks and exceed no limits`, async () => {
  const figures = await world.run(probes, 4, seed);
  if (ATTACK_PROBES !== undefined) console.log(figures);
  expect(figures.probes).toBeGreaterThanOrEqual(probes);
  expect([...figures.answers.keys()].filter((name) => / (200|201|0)$/.test(name)).length).toBeGreaterThan(3);
}, 7_200_000);

import { afterAll, beforeAll, expect, test } from 'vitest';
import { HostileWorld } from './hostile/run.ts';

let world: HostileWorld;
beforeAll(async () => {
  world = await HostileWorld.open();
});
afterAll(() => world?.close());

/** How many probes are sent; `ATTACK_SEED` sends the same ones again. */
const probes = Number(process.env.ATTACK_PROBES ?? 400);

test(`${probes} random requests, good and bad, over all transports meet no fault, no leak and no bound that does not hold`, async () => {
  const figures = await world.run(probes, 4);
  if (process.env.ATTACK_FIGURES) console.log(figures);
  expect(figures.probes).toBeGreaterThanOrEqual(probes);
  expect([...figures.answers.keys()].filter((name) => / (200|201|0)$/.test(name)).length).toBeGreaterThan(3);
}, 120_000);

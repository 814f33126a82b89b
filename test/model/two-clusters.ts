import fc from 'fast-check';
import type pg from 'pg';
import { expect } from 'vitest';
import { compareWith } from '../../src/payments/clusters/compare.ts';
import type { TestGateway } from '../setup/gateway.ts';
import { startTwoClusters } from '../setup/two-clusters.ts';
import { commandsBesideAnother, type Real } from './commands.ts';
import { type Model, modelOf } from './model.ts';
import { expectSoundSince, modelSettings, settle } from './one-cluster.ts';
import type { Ground } from './run.ts';
import { clockwork, World } from './world.ts';

const sides = ['north', 'south'] as const;
/** So much money has the payer in either cluster at first: without it, hardly any payment across would be executed. */
const funds = 200_000n;

type Both<T> = Readonly<Record<(typeof sides)[number], T>>;

/** The commands of one platform, each on either side. */
const commands = commandsBesideAnother.map((arbitrary) =>
  fc.tuple(fc.constantFrom(...sides), arbitrary).map(
    ([side, command]): fc.AsyncCommand<Both<Model>, Both<Real>> => ({
      check: (model) => command.check(model[side]),
      run: (model, real) => command.run(model[side], real[side]),
      toString: () => `${side}: ${command}`,
    }),
  ),
);

/**
 * Starts two clusters with a front before them. Each lane has a platform in either, which pay each other. In the end both ledgers
 * are sound, and what one cluster owes is what the other expects.
 */
export async function twoClusters(): Promise<Ground<Both<Model>, Both<Real>>> {
  const t = await startTwoClusters(modelSettings);
  const { north, south, front } = t;
  const sql = { north: clockwork(north.databaseUrl), south: clockwork(south.databaseUrl) };
  return {
    lanes: 6,
    commands,
    open: () => openBoth({ north, south }, sql, front.url),
    async play(real, sequence) {
      const model = await modelsOf(real);
      try {
        await fc.asyncModelRun(() => ({ model, real }), sequence);
      } finally {
        for (const side of sides) await settle(model[side], real[side], 'approve');
      }
      for (const side of sides) {
        const { world, pair } = real[side];
        expect(await world.balances(pair), `in ${side}, at the end`).toEqual(model[side].balances);
      }
    },
    async close(real) {
      for (const gateway of [north, south]) await expectSoundSince(gateway);
      for (const side of sides) await real[side].world.close();
    },
    async stop() {
      try {
        await expectSameBooks(north, 'south');
        await expectSameBooks(south, 'north');
        // Otherwise it would all be true of nothing.
        const counts = await Promise.all([north, south].map(({ owner }) => owner.query(arrivedStatement)));
        expect(counts.reduce((sum, { rows }) => sum + rows[0].arrived, 0)).toBeGreaterThan(0);
      } finally {
        await Promise.all([sql.north.end(), sql.south.end()]);
        // Audits both.
        await t.stop();
      }
    },
  };
}

/** Counts the payments of another cluster that have arrived. */
const arrivedStatement = `
  select count(*)::int as arrived from cluster_order o join transaction t on t.platform_id = o.platform_id and t.id = o.transaction_id
  where o.direction = 'RECEIVED' and t.status = 'COMPLETED'`;

/** Makes a platform in either cluster, each of which knows the other. */
async function openBoth(gateways: Both<TestGateway>, sql: Both<pg.Pool>, url: string): Promise<Both<Real>> {
  const open = async (side: (typeof sides)[number]): Promise<Real> => {
    const world = await World.open(gateways[side], sql[side], url);
    return { world, pair: await world.pair(funds), other: undefined };
  };
  const [one, two] = [await open('north'), await open('south')];
  return { north: { ...one, other: two }, south: { ...two, other: one } };
}

async function modelsOf({ north, south }: Both<Real>): Promise<Both<Model>> {
  const [one, two] = [modelOf(await north.world.balances(north.pair)), modelOf(await south.world.balances(south.pair))];
  one.other = two;
  two.other = one;
  return { north: one, south: two };
}

/** Expects that a cluster and another one say the same of what they owe each other, and that nothing is under way. */
async function expectSameBooks({ gateway }: TestGateway, other: string): Promise<void> {
  const { debts, differences, underWay } = await compareWith(gateway.payments, other);
  expect({ differences, underWay }).toEqual({ differences: [], underWay: 0 });
  for (const { owedToThem, theyExpect, owedToUs, theyOwe } of debts) {
    expect([owedToThem, owedToUs]).toEqual([theyExpect, theyOwe]);
  }
}

import { afterAll, describe, expect, test } from 'vitest';
import { checkLedger, type Explored, exploreAll, exploreSeeds } from '../schedules/explore.ts';
import { races } from '../schedules/races.ts';
import { NoProgress } from '../schedules/scheduler.ts';
import { openWorld } from '../schedules/world.ts';

/**
 * Runs each of the important races through its share of the interleavings: the first half depth-first, the other half
 * by seed. SCHEDULES sets the total number. SCHEDULE_SEED replays the seed that a failure has named.
 */

const all = Number(process.env.SCHEDULES ?? 10_000);
const again = process.env.SCHEDULE_SEED;
const share = Math.ceil(all / races.length);

const explored = new Map<string, Explored & { readonly seconds: number }>();
const world = await openWorld();
afterAll(async () => {
  await world.close();
  for (const [name, { schedules, orders, isAll, seconds }] of explored)
    console.log(
      `${name}: ${schedules} schedules, ${orders.size} different${isAll ? ' (all there are)' : ''}, ${seconds.toFixed(0)} s`,
    );
});

describe.each(races)('$name', (race) => {
  test('in every order that was tried', async () => {
    const start = performance.now();
    if (again !== undefined) {
      await exploreSeeds(world, race, [Number(again)]);
      return;
    }
    const first = await exploreAll(world, race, share / 2);
    const seed = Date.now() % 1_000_000_000;
    const rest = await exploreSeeds(
      world,
      race,
      Array.from({ length: share - first.schedules }, (_, at) => seed + at),
    );
    await checkLedger(world);
    explored.set(race.name, {
      schedules: first.schedules + rest.schedules,
      orders: new Set([...first.orders, ...rest.orders]),
      isAll: first.isAll,
      seconds: (performance.now() - start) / 1_000,
    });
  });
});

describe('a planted bug is caught by a schedule', () => {
  const lockOf = (table: string, space = '') =>
    `perform from ${table} where platform_id = any (v_platforms) and id = any (v_changed)${space} order by platform_id, id for no key update;`;

  test.each<{ bug: string; race: string; plants: [signature: string, find: string, put: string][] }>([
    // One of the two locks is enough, because an execution and an expiry both move the quote and its transaction.
    {
      bug: 'a plan locks neither the quotes nor the transactions that it moves',
      race: 'executing a quote against its expiry',
      plants: [
        ['lock_plans(jsonb)', lockOf('quote'), 'null;'],
        ['lock_plans(jsonb)', lockOf('transaction', '\n   '), 'null;'],
      ],
    },
    // The table of transitions then refuses the change, which the expiry reports as an error.
    {
      bug: 'the expiry also takes a quote and a transaction that are PROCESSING',
      race: 'executing a quote against its expiry',
      plants: [
        [
          'check_quotes(uuid, jsonb)',
          'q.status::text <> all (m."from")',
          `q.status <> 'PROCESSING' and q.status::text <> all (m."from")`,
        ],
        [
          'check_transactions(uuid, jsonb)',
          't.status::text <> all (m."from")',
          `t.status <> 'PROCESSING' and t.status::text <> all (m."from")`,
        ],
      ],
    },
    {
      bug: 'lease_rail_orders leases nothing',
      race: 'two workers on one order',
      plants: [['lease_rail_orders(integer, bigint)', 'p_lease_ms * interval', '0 * interval']],
    },
  ])('$bug', async ({ bug, race: name, plants }) => {
    const race = races.find((each) => each.name === name);
    if (!race) throw new Error(`there is no race ${name}`);
    const broken = await openWorld();
    for (const plant of plants) await broken.plant(...plant);
    let schedules = 0;
    let failure: unknown;
    for (let seed = 1; seed <= 500 && failure === undefined; seed += 1) {
      schedules += 1;
      failure = await exploreSeeds(broken, race, [seed]).then(
        () => undefined,
        (error: unknown) => error,
      );
    }
    console.log(`${bug}: caught by schedule ${schedules}`);
    // The schedules fail because of the bug itself, not for lack of progress: without it they pass.
    expect(String(failure)).toContain(`SCHEDULE_SEED=${schedules}`);
    expect((failure as Error).cause).not.toBeInstanceOf(NoProgress);
    await exploreSeeds(
      world,
      race,
      Array.from({ length: schedules }, (_, at) => at + 1),
    );
    // The bug may have left inconsistent rows and deadlocked actors behind, so this database is not used again.
    await broken.abandon();
  });
});

import { afterAll, describe, expect, test } from 'vitest';
import { refute, refuteWith, solve } from '../proof/solver.ts';
import { type Size, simulate, verify } from '../proof/spin.ts';
import { allTheorems, wrongRoundings } from '../proof/theorems.ts';
import { playOne } from '../schedules/explore.ts';
import { modelled } from '../schedules/races.ts';
import { openWorld } from '../schedules/world.ts';
import { isOnPath } from '../setup/programs.ts';

// The SMT solver z3 proves the rounding laws of prices for all amounts, rates and fees. Spin searches a model of the
// payments for errors (docs/proofs.md).

const hasChecker = isOnPath('gcc', 'spin');
const hasSolver = isOnPath('z3');
const proved: string[] = [];
const verified: string[] = [];
afterAll(() => {
  if (!hasSolver) console.log('SKIPPED: the theorems about prices, because z3 is not installed (Debian: z3)');
  else console.log(`theorems: ${allTheorems.length}, proved: ${proved.length}`);
  if (!hasChecker)
    console.log('SKIPPED: the model of the payments, because spin or gcc is not installed (Debian: spin, gcc)');
  for (const line of verified) console.log(line);
});

describe.skipIf(!hasSolver)('the rounding laws of prices', () => {
  test.each(allTheorems)('$name', (theorem) => {
    // Checks that the assumptions can be satisfied, because otherwise any claim would follow from them.
    expect(solve(theorem)).toBe('sat');
    expect(refute(theorem)).toBe('unsat');
    proved.push(theorem.name);
  });

  test.each(wrongRoundings)('a theorem is false if $wrong', (bug) => {
    expect(refuteWith(bug)).toBe('sat');
  });
});

const small = { QUOTES: 1, COMMANDS: 2 };

describe.skipIf(!hasChecker)("a search through all orders of the model's steps", () => {
  test.each([
    ['finds no error with two lanes, three commands, a crash and expiry', { WORKERS: 0, SEQUENCERS: 0 }, 'sound'],
    ['finds no error with a crash, expiry, two workers and a lease that ends', { ...small, SEQUENCERS: 0 }, 'sound'],
    ['finds no error with expiry, two workers and two sequencers', { ...small, CRASHES: 0 }, 'sound'],
    ['finds no stuck process with expiry, two workers and two sequencers', { ...small, CRASHES: 0 }, 'states'],
    ['finds that each command is answered', { ...small, SEQUENCERS: 0, WORKERS: 0 }, 'answers'],
    ['finds that each quote ends', { ...small, SEQUENCERS: 0, WORKERS: 1, LEASE_ENDS: 0 }, 'ends'],
    ['finds that the feed ends', { ...small, CRASHES: 0, WORKERS: 1, LEASE_ENDS: 0 }, 'tells'],
  ] as const)('%s', (name, size, property) => {
    const { errors, states, output } = verify(size, property);
    verified.push(`${name} (${property}): ${states} states, ${errors} errors`);
    expect(errors, output).toBe(0);
  });

  test.each([
    ['without the lock of the quote', { ...small, NO_ROW_LOCK: '', SEQUENCERS: 0, WORKERS: 0 }, 'sound'],
    ['if PROCESSING quotes expire', { ...small, EXPIRES_PROCESSING: '', SEQUENCERS: 0, WORKERS: 0 }, 'sound'],
    ['without the lock of the sequencer', { ...small, NO_STEP_LOCK: '', WORKERS: 0 }, 'sound'],
    ['without workers, because quotes do not end', { ...small, CRASHES: 0, SEQUENCERS: 0, WORKERS: 0 }, 'ends'],
    ['without sequencers, because the feed does not end', { ...small, CRASHES: 0, SEQUENCERS: 0, WORKERS: 0 }, 'tells'],
  ] as const)('finds an error %s', (_name, size, property) => {
    expect(verify(size, property).errors).toBe(1);
  });
});

/** How many simulated runs are replayed with the real functions. */
const replays = Number(process.env.REPLAYS ?? 300);
const replayed: Size = {
  ...{ OWN_LANES: '', ONE_ROUND: '', QUOTES: 1, COMMANDS: 2, SAME_KEY: 0 },
  ...{ WORKERS: 0, SEQUENCERS: 0, CRASHES: 0 },
};

describe.skipIf(!hasChecker)('the real functions', () => {
  test(`give the same results as the model in ${replays} simulated runs`, async () => {
    const world = await openWorld();
    for (let seed = 1; seed <= replays; seed += 1) {
      const { steps, status, answers } = simulate(replayed, seed);
      const actors = steps.map((step) => step.slice(0, step.indexOf(':')));
      // The actor that takes the next step in the model must be able to run here as well.
      const choose = (decision: number, ready: readonly string[]) => {
        const position = ready.indexOf(actors[decision] ?? '');
        if (position === -1)
          throw new Error(`step ${decision} of ${steps.join(', ')}: only ${ready.join(', ')} can run`);
        return position;
      };
      const played = await playOne(world, modelled, `the model's seed ${seed}`, choose, true);
      expect(played.steps.map((step) => step.replace(/ \d+ s pass$/, ' pass'))).toEqual(steps);
      expect(world.lastStatus).toBe(status);
      expect(world.lastOutcomes.map((outcome) => (outcome === 'done' ? 'DONE' : 'REFUSED'))).toEqual(answers);
    }
    verified.push(`runs of the model that the real functions followed: ${replays}`);
    await world.close();
  });
});

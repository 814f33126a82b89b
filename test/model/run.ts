import fc from 'fast-check';
import { expect } from 'vitest';
import { runAudit } from '../../src/domain/ledger/audit.ts';
import { startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { commands, decide } from './commands.ts';
import { type Model, modelOf } from './model.ts';
import type { Real } from './play.ts';
import { openWorld } from './world.ts';

/** The number of sequences that share a gateway and its database. With more, the database would become slow. */
const perGround = 480;
/**
 * The number of consecutive sequences in one world. Each starts from the state that the previous sequence left behind.
 */
const perWorld = 16;

/** The maximum number of commands in a sequence. */
const maxCommands = 24;
/** The maximum duration of a run, in milliseconds. */
const timeLimitMs = 7_000_000;

/** The number of sequences that run in parallel. Their speed is limited by background work, not by the CPU. */
const lanes = 12;

/** Settings under which no quote or approval expires by itself, so that the model can predict what happens. */
const settings = {
  SANDBOX_PACE_MS: 0,
  // Opening a connection is slow on a busy machine, so the pool has enough connections for all lanes.
  DATABASE_POOL: 2 * lanes,
  SANDBOX_QUOTE_SECONDS: 3_600,
  PAYMENT_APPROVAL_MS: 60_000,
} as const;

/**
 * Runs random sequences of commands against gateways and against the model. Each gateway is audited when it stops. A
 * failing sequence is shrunk, within the time limit, to the shortest one that still fails. Each lane has its own seed,
 * which is printed when the lane fails. `MODEL_SEED` sets the first lane's seed.
 */
export async function runSequences(sequences: number): Promise<void> {
  const until = Date.now() + timeLimitMs;
  let seed = process.env.MODEL_SEED ? Number(process.env.MODEL_SEED) : Date.now() & 0x7fffffff;
  for (let done = 0; done < sequences; done += perGround) {
    const share = Math.min(perGround, sequences - done);
    const gateway = await startTestGateway(settings);
    try {
      await runOn(gateway, { sequences: share, seed, until });
    } finally {
      await gateway.stop();
    }
    seed += lanes;
    if (process.env.MODEL_PROGRESS) console.log(`${done + share} of ${sequences} sequences`);
  }
}

/**
 * Runs sequences on one gateway, in all lanes at once.
 * @param share `seed`: the first lane's seed; `until`: when the run must end, in milliseconds since 1970
 */
async function runOn(
  gateway: TestGateway,
  { sequences, seed, until }: Readonly<Record<'sequences' | 'seed' | 'until', number>>,
): Promise<void> {
  const failures: unknown[] = [];
  const stopped = () => failures.length > 0;
  const walks = Array.from({ length: lanes }, () => laneOn(gateway, stopped));
  // The worlds are opened one after another, because a new instance would otherwise open many connections at once.
  for (const walk of walks) await walk.open();
  await Promise.all(
    walks.map(async (walk, lane) => {
      const numRuns = Math.floor((sequences + lane) / lanes);
      try {
        await fc.assert(
          fc.asyncProperty(fc.commands([...commands], { maxCommands, size: 'max' }), (sequence) => walk.run(sequence)),
          {
            numRuns,
            seed: seed + lane,
            interruptAfterTimeLimit: Math.max(1, until - Date.now()),
            markInterruptAsFailure: true,
          },
        );
      } catch (error) {
        failures.push(error);
      } finally {
        await walk.close();
      }
    }),
  );
  if (failures.length > 0) throw failures[0];
}

/**
 * Returns a lane. It runs one sequence after another, opens a new world after every `perWorld` sequences, and stops
 * once `stopped` returns true, which means that a lane has failed.
 */
function laneOn(gateway: TestGateway, stopped: () => boolean) {
  let real: Real | undefined;
  let isBroken = false;
  let runs = 0;

  /** Closes the current world, if any, and opens a new one. */
  async function open(): Promise<Real> {
    await close();
    const world = await openWorld(gateway);
    runs = 0;
    real = { world, pair: await world.pair(0n) };
    return real;
  }

  /** Audits everything since the last audit while the other lanes continue, and then closes the world. */
  async function close(): Promise<void> {
    if (!real) return;
    expect(await runAudit(gateway.gateway.payments.database)).toMatchObject({ breaches: [], storeError: undefined });
    await real.world.close();
    real = undefined;
  }

  async function run(sequence: Sequence): Promise<void> {
    if (stopped()) return;
    const current = real && !isBroken && runs < perWorld ? real : await open();
    runs += 1;
    try {
      await play(current, sequence);
    } catch (error) {
      // While a failing sequence is shrunk, each attempt gets a new world, unaffected by earlier attempts.
      isBroken = true;
      throw error;
    }
  }

  return { open, run, close };
}

type Sequence = Iterable<fc.AsyncCommand<Model, Real>>;

/** Runs a sequence in a world, and then ends whatever is still in progress. */
async function play(real: Real, sequence: Sequence): Promise<void> {
  const { world, pair } = real;
  const model = modelOf(await world.balances(pair));
  try {
    await fc.asyncModelRun(() => ({ model, real }), sequence);
  } finally {
    await settle(model, real);
  }
  expect(await world.balances(pair), 'at the end').toEqual(model.balances);
}

/** Ends whatever a sequence has left in progress, so that the next sequence for these customers starts clean. */
async function settle(model: Model, real: Real): Promise<void> {
  for (const waiting of [...model.waiting]) await decide(model, real, waiting, 'reject');
  if (model.outside === 'ACTIVE') return;
  await real.world.setAccountStatus(real.pair.a.outsideUsd, 'ACTIVE');
}

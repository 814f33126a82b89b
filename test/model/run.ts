import fc from 'fast-check';
import { expect } from 'vitest';
import { audit } from '../../src/ledger/audit.ts';
import { startTestGateway } from '../setup/gateway.ts';
import { commands, decide, type Real } from './commands.ts';
import type { Model } from './model.ts';
import { type Pair, World } from './world.ts';

/** How many sequences run beside each other, each on two customers of its own. */
const lanes = 10;

/**
 * Runs random sequences of commands against a gateway and against the model. A difference is shrunk to the shortest
 * sequence that shows it; `MODEL_SEED` in the environment repeats a run.
 */
export async function runSequences(sequences: number, maxCommands: number, timeLimitMs: number): Promise<void> {
  const gateway = await startTestGateway({
    SANDBOX_PACE_MS: 0,
    SANDBOX_QUOTE_SECONDS: 3_600,
    PAYMENT_APPROVAL_MS: 60_000,
  });
  const world = World.open(gateway);
  try {
    const pairs: Pair[] = [];
    for (let lane = 0; lane < lanes; lane++) pairs.push(await world.pair());
    const sequence = fc.commands(commands, { maxCommands, size: 'max' });
    const batch = fc.array(sequence, { minLength: lanes, maxLength: lanes });
    await fc.assert(
      fc.asyncProperty(batch, async (sequencesOfBatch) => {
        const ran = await Promise.allSettled(
          sequencesOfBatch.map((one, lane) => runSequence(world, pairs[lane] as Pair, one)),
        );
        const broken = ran.find((result) => result.status === 'rejected');
        if (broken) throw broken.reason;
        expect(await audit(gateway.gateway.payments.database)).toEqual([]);
      }),
      {
        numRuns: Math.ceil(sequences / lanes),
        // A difference is shrunk for so long at most.
        interruptAfterTimeLimit: timeLimitMs,
        markInterruptAsFailure: true,
        ...(process.env.MODEL_SEED && { seed: Number(process.env.MODEL_SEED) }),
      },
    );
  } finally {
    await world.close();
    await gateway.stop();
  }
}

async function runSequence(world: World, pair: Pair, sequence: Iterable<fc.AsyncCommand<Model, Real>>): Promise<void> {
  const real: Real = { world, pair };
  const model: Model = { balances: await world.balances(pair), quotes: [], waiting: [], last: undefined };
  try {
    await fc.asyncModelRun(() => ({ model, real }), sequence);
  } finally {
    // The next sequence on these customers starts with nothing under way.
    while (model.waiting.length > 0) await decide(model, real, 0, 'reject');
  }
  expect(await world.balances(pair), 'at the end').toEqual(model.balances);
}

import fc from 'fast-check';
import type pg from 'pg';
import { expect } from 'vitest';
import { runAudit } from '../../src/ledger/audit.ts';
import { act } from '../setup/acts.ts';
import { startTestGateway, type TestGateway } from '../setup/gateway.ts';
import { commands, decide, type Real } from './commands.ts';
import type { Model } from './model.ts';
import { clockwork, World } from './world.ts';

/** How many sequences run beside each other. Their commands mostly wait for the background work, not for a processor. */
const lanes = 12;
/** How many sequences one gateway and its database serve: what grows with the rows does not grow with the run. */
const perGateway = 480;
/** How many sequences follow each other on two customers and their platform: what one leaves behind, the next meets. */
const perWorld = 16;

/**
 * Runs random sequences of commands against gateways and against the model; whatever a gateway has done is audited when
 * it stops. A difference is shrunk, for so long as the time limit leaves, to the shortest sequence that shows it. Each
 * lane has a seed of its own, which its failure names: `MODEL_SEED` in the environment gives it to the first lane.
 */
export async function runSequences(sequences: number, maxCommands: number, timeLimitMs: number): Promise<void> {
  const until = Date.now() + timeLimitMs;
  let seed = process.env.MODEL_SEED ? Number(process.env.MODEL_SEED) : Date.now() & 0x7fffffff;
  for (let done = 0; done < sequences; done += perGateway) {
    const share = Math.min(perGateway, sequences - done);
    await onGateway(share, maxCommands, seed, until);
    seed += lanes;
    if (process.env.MODEL_PROGRESS) console.log(`${done + share} of ${sequences} sequences`);
  }
}

async function onGateway(sequences: number, maxCommands: number, seed: number, until: number): Promise<void> {
  const gateway = await startTestGateway({
    SANDBOX_PACE_MS: 0,
    // A machine that is busy with other things takes long to open a connection: all lanes have one at once.
    DATABASE_POOL: 2 * lanes,
    SANDBOX_QUOTE_SECONDS: 3_600,
    PAYMENT_APPROVAL_MS: 60_000,
  });
  const sql = clockwork(gateway.databaseUrl);
  try {
    const failures: unknown[] = [];
    const stopped = () => failures.length > 0;
    const walks = Array.from({ length: lanes }, () => new Lane(gateway, sql, stopped));
    // One after the other: a gateway that has just started has no connections yet.
    for (const walk of walks) await walk.open();
    await Promise.all(
      walks.map(async (walk, lane) => {
        const numRuns = Math.floor((sequences + lane) / lanes);
        try {
          await fc.assert(
            fc.asyncProperty(fc.commands(commands, { maxCommands, size: 'max' }), (sequence) => walk.run(sequence)),
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
  } finally {
    await sql.end();
    await gateway.stop();
  }
}

/** Sequences one after the other, on a new world every few of them. */
class Lane {
  readonly #gateway: TestGateway;
  readonly #sql: pg.Pool;
  /** Whether another lane has found a difference: this one then makes room for its shrinking. */
  readonly #stopped: () => boolean;
  #broken = false;
  #runs = 0;
  #real: Real | undefined;

  constructor(gateway: TestGateway, sql: pg.Pool, stopped: () => boolean) {
    this.#gateway = gateway;
    this.#sql = sql;
    this.#stopped = stopped;
  }

  async run(sequence: Iterable<fc.AsyncCommand<Model, Real>>): Promise<void> {
    if (this.#stopped()) return;
    const real = await this.#next();
    try {
      await runSequence(real, sequence);
    } catch (error) {
      // What a broken sequence has left behind must not break the next: while it is shrunk each has its own world.
      this.#broken = true;
      throw error;
    }
  }

  /** Takes a new world, in place of the one that it may have. */
  async open(): Promise<Real> {
    await this.close();
    const world = await World.open(this.#gateway, this.#sql);
    this.#real = { world, pair: await world.pair() };
    this.#runs = 0;
    return this.#real;
  }

  async close(): Promise<void> {
    if (this.#real) await expectSoundSince(this.#gateway);
    await this.#real?.world.close();
    this.#real = undefined;
  }

  async #next(): Promise<Real> {
    const real = this.#real && !this.#broken && this.#runs < perWorld ? this.#real : await this.open();
    this.#runs += 1;
    return real;
  }
}

/** Audits what has happened since the last audit, at a moment that depends on the sequences, while the other lanes go on. */
async function expectSoundSince(gateway: TestGateway): Promise<void> {
  expect(await runAudit(gateway.gateway.payments.database)).toMatchObject({ breaches: [], storeError: undefined });
}

async function runSequence(real: Real, sequence: Iterable<fc.AsyncCommand<Model, Real>>): Promise<void> {
  const { world, pair } = real;
  const model: Model = {
    balances: await world.balances(pair),
    quotes: [],
    waiting: [],
    suspended: [],
    outside: 'ACTIVE',
    last: undefined,
  };
  try {
    await fc.asyncModelRun(() => ({ model, real }), sequence);
  } finally {
    // The next sequence on these customers starts with nothing under way.
    while (model.waiting.length > 0) await decide(model, real, 0, 'reject');
    if (model.outside !== 'ACTIVE') {
      const input = { accountId: pair.a.outsideUsd, status: 'ACTIVE' };
      await act(world.platform, 'sandboxSetExternalAccountStatus', input, '');
    }
  }
  expect(await world.balances(pair), 'at the end').toEqual(model.balances);
}

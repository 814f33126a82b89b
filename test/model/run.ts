import fc from 'fast-check';

/** How many sequences one installation and its databases serve: what grows with the rows does not grow with the run. */
const perGround = 480;
/**
 * The number of consecutive sequences on two customers and their platform: each starts from the state that the last one left.
 */
const perWorld = 16;

/** What sequences of commands run on: an installation, in which each lane has a world of its own. */
export interface Ground<Model extends object, Real> {
  /** The number of sequences in parallel. Their commands mostly wait for the background work, not for a processor. */
  readonly lanes: number;
  readonly commands: readonly fc.Arbitrary<fc.AsyncCommand<Model, Real>>[];
  /** Makes a new world. */
  open(): Promise<Real>;
  /** Runs a sequence in a world, and leaves nothing under way there. */
  play(real: Real, sequence: Iterable<fc.AsyncCommand<Model, Real>>): Promise<void>;
  /** Audits the world, and closes it. */
  close(real: Real): Promise<void>;
  /** Proves the whole ledger, and stops. */
  stop(): Promise<void>;
}

/**
 * Runs random sequences of commands against installations and against the model; each installation is audited when it stops. A
 * difference is shrunk, within the time limit, to the shortest sequence that shows it. Each lane has a seed of its own, which
 * its failure names: `MODEL_SEED` in the environment gives it to the first lane.
 */
export async function runSequences<Model extends object, Real>(
  start: () => Promise<Ground<Model, Real>>,
  sequences: number,
  maxCommands: number,
  timeLimitMs: number,
): Promise<void> {
  const until = Date.now() + timeLimitMs;
  let seed = process.env.MODEL_SEED ? Number(process.env.MODEL_SEED) : Date.now() & 0x7fffffff;
  for (let done = 0; done < sequences; done += perGround) {
    const share = Math.min(perGround, sequences - done);
    const ground = await start();
    try {
      await runOn(ground, { sequences: share, maxCommands, seed, until });
    } finally {
      await ground.stop();
    }
    seed += ground.lanes;
    if (process.env.MODEL_PROGRESS) console.log(`${done + share} of ${sequences} sequences`);
  }
}

interface Share {
  readonly sequences: number;
  readonly maxCommands: number;
  /** That of the first lane. */
  readonly seed: number;
  /** When it must have ended. */
  readonly until: number;
}

async function runOn<Model extends object, Real>(
  ground: Ground<Model, Real>,
  { sequences, maxCommands, seed, until }: Share,
): Promise<void> {
  const failures: unknown[] = [];
  const stopped = () => failures.length > 0;
  const { lanes, commands } = ground;
  const walks = Array.from({ length: lanes }, () => new Lane(ground, stopped));
  // One after the other: an instance that has just started has no connections yet.
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

/** Sequences one after the other, on a new world every few of them. */
class Lane<Model extends object, Real> {
  readonly #ground: Ground<Model, Real>;
  /** Whether another lane has found a difference: this one then makes room for its shrinking. */
  readonly #stopped: () => boolean;
  #broken = false;
  #runs = 0;
  #real: Real | undefined;

  constructor(ground: Ground<Model, Real>, stopped: () => boolean) {
    this.#ground = ground;
    this.#stopped = stopped;
  }

  async run(sequence: Iterable<fc.AsyncCommand<Model, Real>>): Promise<void> {
    if (this.#stopped()) return;
    const real = await this.#next();
    try {
      await this.#ground.play(real, sequence);
    } catch (error) {
      // What a broken sequence has left behind must not break the next: while it is shrunk each has its own world.
      this.#broken = true;
      throw error;
    }
  }

  /** Takes a new world, in place of the one that it may have. */
  async open(): Promise<Real> {
    await this.close();
    this.#real = await this.#ground.open();
    this.#runs = 0;
    return this.#real;
  }

  async close(): Promise<void> {
    if (this.#real) await this.#ground.close(this.#real);
    this.#real = undefined;
  }

  async #next(): Promise<Real> {
    const real = this.#real && !this.#broken && this.#runs < perWorld ? this.#real : await this.open();
    this.#runs += 1;
    return real;
  }
}

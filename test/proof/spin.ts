import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs the model checker Spin. Requires Spin and a C compiler. */

const source = join(import.meta.dirname, 'payments.pml');

/** The size of a model, as constants in payments.pml, such as { QUOTES: 1 }. '' defines a constant without a value. */
export type Size = Readonly<Record<string, number | ''>>;

const usual: Size = {
  ...{ QUOTES: 2, WORKERS: 2, SEQUENCERS: 2 },
  // COMMANDS is 2 or 3. With SAME_KEY, commands 0 and 1 are the same command, sent twice with one idempotency key.
  ...{ COMMANDS: 3, SAME_KEY: 1 },
  // How many times a lane's process dies, either before it commits or before it responds.
  CRASHES: 1,
  // How often a lease expires while its worker is still busy.
  LEASE_ENDS: 1,
};

const defines = (size: Size) =>
  Object.entries({ ...usual, ...size }).map(([name, value]) => `-D${name}${value === '' ? '' : `=${value}`}`);

/** The result of a verification. */
export interface Verified {
  readonly errors: number;
  readonly states: number;
  readonly output: string;
}

/**
 * Checks every run of the model at a given size.
 * @param property `states` (no assertion fails and no process is stuck), or the name of a formula in the model
 */
export function verify(size: Size, property: 'states' | 'sound' | 'answers' | 'ends' | 'tells'): Verified {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'spin-'));
  const isProgress = ['answers', 'ends', 'tells'].includes(property);
  copyFileSync(source, join(folder.path, 'payments.pml'));
  const run = (program: string, ...options: string[]) =>
    spawnSync(program, options, { cwd: folder.path, encoding: 'utf8', maxBuffer: 2 ** 26, timeout: 900_000 });
  run('spin', '-a', ...defines(isProgress ? { ...size, FOR_EVER: '' } : size), 'payments.pml');
  run('gcc', '-O2', '-w', '-DCOLLAPSE', ...(isProgress ? ['-DNFAIR=4'] : ['-DSAFETY']), '-o', 'pan', 'pan.c');
  const how = isProgress ? ['-a', '-f', '-N', property] : property === 'states' ? ['-noclaim'] : ['-N', property];
  const { stdout } = run('./pan', '-m1000000', ...how);
  const [, errors] = /errors: (\d+)/.exec(stdout) ?? [];
  const [, states] = /(\d+(?:\.\d+e\+\d+)?) states, stored/.exec(stdout) ?? [];
  if (errors === undefined || states === undefined || /max search depth too small/.test(stdout))
    throw new Error(stdout || 'the verification did not run');
  return { errors: Number(errors), states: Number(states), output: stdout };
}

/** A run of the model: its result and, for each step, the actor and the point from which that actor continues. */
export interface Run {
  readonly steps: readonly string[];
  readonly status: string;
  readonly answers: readonly string[];
}

/** Simulates the run determined by a seed, in a model of the given size. */
export function simulate(size: Size, seed: number): Run {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'spin-'));
  const options = { cwd: folder.path, encoding: 'utf8' } as const;
  const output = execFileSync('spin', [`-n${seed}`, '-T', ...defines(size), source], options);
  const last = (name: string) => new RegExp(`\\t${name}\\[\\d\\] = (\\w+)`, 'g');
  return {
    steps: [...output.matchAll(/STEP (.*)/g)].map(([, step]) => step ?? ''),
    status: [...output.matchAll(last('status'))].at(-1)?.[1] ?? '',
    answers: [...output.matchAll(last('answered'))].map(([, answer]) => answer ?? ''),
  };
}

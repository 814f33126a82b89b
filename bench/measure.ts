import { type ChildProcess, fork, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type CpuInfo, cpus } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Measured } from './load/latencies.ts';
import type { RequestJob } from './load/requests.ts';
import type { StatementJob } from './load/statements.ts';
import type { Said, Told, Turn } from './load/tool.ts';

/** The duration of a measurement, and the number of alternating turns into which it is divided. */
export interface Timing extends Turn {
  readonly turns: number;
}

/** A measurement, and the server's processor time per request. */
export interface Result extends Measured {
  /** Microseconds of processor time per request, user and system; NaN without a server or without /proc. */
  readonly cpuMicros: number;
  /** The same for all Postgres processes, including work unrelated to the requests. */
  readonly postgresMicros: number;
}

/** The Postgres server whose processor time is measured. The script that starts it sets this once. */
export const postgres: { pid?: number } = {};

/** A server in a separate process. */
export interface Server {
  readonly url: string;
  readonly pid: number;
  /** The time from spawning it to its first sign of readiness, in milliseconds. */
  readonly startMs: number;
  /** The processor time used until then, in milliseconds. */
  readonly startCpuMs: number;
  stop(): Promise<void>;
}

/** Linux counts processor time in hundredths of a second (USER_HZ). */
const tickMicros = 10_000;

/** Returns a process's processor time in microseconds; with `ended`, adds that of its terminated children. */
export function cpuOf(pid: number, ended = false): number | undefined {
  try {
    // The name in parentheses may contain spaces, so fields are counted from its end. utime and stime are the 14th and
    // 15th, followed by those of terminated children.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return fields.slice(11, ended ? 15 : 13).reduce((sum, ticks) => sum + Number(ticks), 0) * tickMicros;
  } catch {
    return undefined;
  }
}

function childrenOf(pid: number | undefined): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
}

/** Returns the processor time of the database server and all its processes, in microseconds. */
function cpuOfPostgres(): number | undefined {
  const { pid } = postgres;
  const own = pid === undefined ? undefined : cpuOf(pid, true);
  return own === undefined ? undefined : childrenOf(pid).reduce((sum, child) => sum + (cpuOf(child) ?? 0), own);
}

/** How long a process's main thread has run, and how long it has waited for a core, in nanoseconds. */
interface Scheduling {
  readonly running: number;
  readonly waiting: number;
}

function schedulingOf(pid: number): Scheduling | undefined {
  try {
    const [running = 0, waiting = 0] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ').map(Number);
    return { running, waiting };
  } catch {
    return undefined;
  }
}

/** Starts observing how busy the cores are. The returned function describes the result as text for a table. */
export function watchCores(processes: Readonly<Record<string, number>>): () => string {
  const read = () => ({
    at: performance.now(),
    cores: cpus().map(({ times }) => times),
    scheduling: Object.values(processes).map(schedulingOf),
  });
  const before = read();
  return () => {
    const after = read();
    const [idle, all] = [idleOf, allOf].map((sum) => sum(after.cores) - sum(before.cores));
    const percent = (part: number) => `${Math.round(part * 100)} %`;
    const threads = Object.keys(processes).map((name, at) => {
      const [from, to] = [before.scheduling[at], after.scheduling[at]];
      if (!from || !to) return `${name}: not known without /proc`;
      const share = (of: keyof Scheduling) => percent((to[of] - from[of]) / 1e6 / (after.at - before.at));
      return `${name} ran ${share('running')} of the time and waited for a core ${share('waiting')}`;
    });
    return [`cores busy ${percent(1 - (idle ?? 0) / Math.max(1, all ?? 0))} of the time`, ...threads].join('; ');
  };
}

type CoreTimes = CpuInfo['times'];
const idleOf = (cores: readonly CoreTimes[]) => cores.reduce((sum, { idle }) => sum + idle, 0);
const allOf = (cores: readonly CoreTimes[]) =>
  cores.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0);

/** Returns a process's resident memory in MiB. */
export function memoryOf(pid: number): number | undefined {
  try {
    const kib = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kib === undefined ? undefined : Number(kib) / 1024;
  } catch {
    return undefined;
  }
}

/** A load tool that runs one job in a separate process. */
interface Load {
  /** Runs the job for one turn, and measures the server's processor time during that turn. */
  take(turn: Turn): Promise<void>;
  /** Returns the results of all turns, and ends the tool. */
  result(): Promise<Result>;
}

/** A load tool's script, its job, and the process whose processor time is measured, if there is one. */
export interface Contestant {
  readonly tool: 'requests' | 'statements';
  readonly job: RequestJob | StatementJob;
  readonly pid?: number | undefined;
}

export const requests = (job: RequestJob, server: Server): Contestant => ({ tool: 'requests', job, pid: server.pid });
/** Builds a contestant that has no server, so only Postgres processor time is measured. */
export const statements = (job: StatementJob): Contestant => ({ tool: 'statements', job });

/** Adds up the time between calls to `begin` and `end`, by the given clock; NaN if the clock cannot be read. */
function stopwatch(read: () => number | undefined) {
  let used = 0;
  let before = 0;
  return {
    begin: () => {
      before = read() ?? Number.NaN;
    },
    end: () => {
      used += (read() ?? Number.NaN) - before;
    },
    used: () => used,
  };
}

function openLoad({ tool, job, pid }: Contestant): Load {
  const child = fork(path.join(import.meta.dirname, `load/${tool}.ts`), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const tell = (told: Told<RequestJob | StatementJob>) => child.send(told);
  const clocks = [stopwatch(() => (pid === undefined ? undefined : cpuOf(pid))), stopwatch(cpuOfPostgres)] as const;
  /** Resolves with the first message of the given kind. */
  const heard = <Kind extends Said>(kind: (said: Said) => said is Kind) =>
    new Promise<Kind>((resolve, reject) => {
      const ended = (code: number | null) => reject(new Error(`the load tool ended with ${code}`));
      const hear = (said: Said) => {
        if (!kind(said)) return;
        child.off('message', hear).off('exit', ended);
        resolve(said);
      };
      child.on('message', hear).once('exit', ended);
    });
  child.on('message', (said: Said) => {
    for (const clock of clocks) if (said === 'begin' || said === 'end') clock[said]();
  });
  tell({ job });
  return {
    async take(turn) {
      const over = heard((said) => said === 'over');
      tell({ turn });
      await over;
    },
    async result() {
      const answer = heard((said) => typeof said === 'object');
      tell('measured');
      const { measured } = await answer;
      const [cpuMicros, postgresMicros] = clocks.map(({ used }) => used() / Math.max(1, measured.requests));
      return { ...measured, cpuMicros: cpuMicros ?? Number.NaN, postgresMicros: postgresMicros ?? Number.NaN };
    },
  };
}

/** Measures one contestant, in several turns if `timing` says so. The differences between turns show the noise. */
export async function measure(contestant: Contestant, timing: Turn & { readonly turns?: number }): Promise<Result> {
  const [result] = await measureInTurns([contestant], { turns: 1, ...timing });
  if (!result) throw new Error('nothing was measured');
  return result;
}

/**
 * Measures contestants alternately, each for as long in total as if it were the only one. If the cores become slower,
 * all contestants are affected, so the ratios of the results remain valid.
 * @returns their results in the order of the contestants
 */
export async function measureInTurns(
  contestants: readonly Contestant[],
  { turns, ...whole }: Timing,
): Promise<Result[]> {
  const loads = contestants.map(openLoad);
  const turn = { warmUpMs: whole.warmUpMs / turns, measureMs: whole.measureMs / turns };
  for (let round = 0; round < turns; round++) for (const load of loads) await load.take(turn);
  return Promise.all(loads.map((load) => load.result()));
}

/** Starts a server script and waits for the line that contains its address. */
export async function startServer(
  script: string,
  environment: Readonly<Record<string, string>>,
  nodeOptions: readonly string[] = [],
): Promise<Server> {
  const began = performance.now();
  const cwd = path.resolve(import.meta.dirname, '..');
  const always = [
    '--disable-warning=ExperimentalWarning',
    '--import',
    path.join(cwd, 'src/server/start/compile-cache.ts'),
  ];
  const child = spawn(process.execPath, [...always, ...nodeOptions, script], {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await address(child);
  return {
    url,
    pid: child.pid ?? 0,
    startMs: performance.now() - began,
    startCpuMs: (cpuOf(child.pid ?? 0) ?? Number.NaN) / 1_000,
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM');
        await ended;
      }
    },
  };
}

function address(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    if (!child.stdout) throw new Error('the server has no output');
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /^(?:ready| +GraphQL) +(http:\S+)/.exec(line)?.[1];
      if (found) resolve(found);
      else if (/^Doing background work only/.test(line)) resolve('');
    });
    child.once('exit', (code) => reject(new Error(`a server ended with ${code} before it was ready`)));
  });
}

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type CpuInfo, cpus } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Measured } from './load/latencies.ts';
import type { RequestJob } from './load/requests.ts';
import type { StatementJob } from './load/statements.ts';
import type { Said, Told, Turn } from './load/tool.ts';

/** How long a measurement takes, and in how many turns where contestants alternate. */
export interface Timing extends Turn {
  readonly turns: number;
}

/** A measurement, and the processor time that the server took for each request. */
export interface Result extends Measured {
  /** Microseconds of processor time per request, user and system; undefined where there is no /proc. */
  readonly cpuMicros: number | undefined;
}

/** A server in a process of its own. */
export interface Server {
  readonly url: string;
  readonly pid: number;
  /** From spawning to its first sign of readiness. */
  readonly startMs: number;
  stop(): Promise<void>;
}

/** Linux counts processor time in hundredths of a second (USER_HZ). */
const tickMicros = 10_000;

/** Processor time that a process has used, in microseconds. */
export function cpuOf(pid: number): number | undefined {
  try {
    // The name in parentheses may have spaces: fields are counted after it. utime and stime are the 14th and 15th.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * tickMicros;
  } catch {
    return undefined;
  }
}

/** How long a process' main thread has run, and how long it was ready to run and had no core, in nanoseconds. */
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

/** Starts to watch the use of the cores; the returned function gives it as text for a table. */
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
    return [`all cores busy ${percent(1 - (idle ?? 0) / Math.max(1, all ?? 0))}`, ...threads].join('; ');
  };
}

type CoreTimes = CpuInfo['times'];
const idleOf = (cores: readonly CoreTimes[]) => cores.reduce((sum, { idle }) => sum + idle, 0);
const allOf = (cores: readonly CoreTimes[]) =>
  cores.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0);

/** Resident memory of a process in MiB. */
export function memoryOf(pid: number): number | undefined {
  try {
    const kib = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kib === undefined ? undefined : Number(kib) / 1024;
  } catch {
    return undefined;
  }
}

/** A load tool in a process of its own, with one job. */
interface Load {
  /** Lets it run, and counts the processor time that the server takes meanwhile. */
  take(turn: Turn): Promise<void>;
  /** What it saw in all turns. It is over then. */
  result(): Promise<Result>;
}

/** Who is measured: a load tool's script, its job, and the process whose processor time counts, if there is one. */
export interface Contestant {
  readonly tool: 'requests' | 'statements';
  readonly job: RequestJob | StatementJob;
  readonly pid?: number | undefined;
}

export const requests = (job: RequestJob, server: Server): Contestant => ({ tool: 'requests', job, pid: server.pid });
/** Without any server, so without its processor time. */
export const statements = (job: StatementJob): Contestant => ({ tool: 'statements', job });

function openLoad({ tool, job, pid }: Contestant): Load {
  const child = fork(path.join(import.meta.dirname, `load/${tool}.ts`), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const tell = (told: Told<RequestJob | StatementJob>) => child.send(told);
  const cpu = () => (pid === undefined ? undefined : cpuOf(pid));
  let used: number | undefined = pid === undefined ? undefined : 0;
  let before: number | undefined;
  /** Resolves with the first answer that is of this kind. */
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
    if (said === 'begin') before = cpu();
    if (said !== 'end') return;
    const after = cpu();
    used = used === undefined || before === undefined || after === undefined ? undefined : used + after - before;
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
      return { ...measured, cpuMicros: used === undefined ? undefined : used / Math.max(1, measured.requests) };
    },
  };
}

/** Measures one contestant in one go. */
export async function measure(contestant: Contestant, turn: Turn): Promise<Result> {
  const load = openLoad(contestant);
  await load.take(turn);
  return load.result();
}

/**
 * Measures contestants in turns, each as long in all as one alone would be: cores that become slower meanwhile become
 * so for all of them, so that the ratios of their results are those of the contestants.
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

/** Starts a script as a server and waits for the line that names its address. */
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

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Processor time in clock ticks. `measuring` is the part of our own processes that only measure. */
interface Ticks {
  readonly all: number;
  readonly own: number;
  readonly measuring: number;
}

export interface Used {
  /** Used by what is being measured: the service and its database. */
  readonly service: number;
  /** Used by processes that are not ours. */
  readonly others: number;
}

/** Clock ticks per second: Linux's USER_HZ. */
const ticksPerSecond = 100;

/**
 * Sets the priority of this process, which leads a separate session, if permitted: only root may raise a priority.
 * Linux may first share the processors among sessions (autogroup, see sched(7)), and each Postgres connection is a
 * session, so a priority alone would matter only among the processes of one session.
 */
export function setPriorityOfSession(priority: number): void {
  for (const set of [() => setPriority(priority), () => writeFileSync('/proc/self/autogroup', String(priority))]) {
    try {
      set();
    } catch {
      // Not root, or not Linux.
    }
  }
}

/**
 * Measures how much processor time other programs use during a measurement, because that affects the latencies. Works
 * only on Linux; elsewhere the result is 0.
 * @param clients the processes that only measure
 * @returns a function that returns the usage since its last call
 */
export function watchProcessors(clients: readonly (number | undefined)[]): () => Used {
  const root = testRunner();
  const measuring = new Set([process.pid, ...clients]);
  let before = ticksNow(root, measuring);
  let at = performance.now();
  return () => {
    const now = ticksNow(root, measuring);
    const seconds = (performance.now() - at) / 1_000;
    const used = (of: (ticks: Ticks) => number) =>
      now && before ? Math.max(0, (of(now) - of(before)) / ticksPerSecond / seconds) : 0;
    const result = { service: used(({ own, measuring: m }) => own - m), others: used(({ all, own }) => all - own) };
    before = now;
    at = performance.now();
    return result;
  };
}

interface Process {
  readonly parent: number;
  readonly ticks: number;
  readonly name: string;
}

function processOf(pid: number | 'self'): Process | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]), name: command };
  } catch {
    return undefined;
  }
}

/** Returns the first process of the test runner, from which everything that is measured descends. */
function testRunner(): number {
  let pid = process.pid;
  for (let next = processOf(pid); next?.name.includes('vitest'); next = processOf(pid)) pid = next.parent;
  return pid;
}

function ticksNow(root: number, measuring: ReadonlySet<number | undefined>): Ticks | undefined {
  try {
    const [user = 0, nice = 0, system = 0] = readFileSync('/proc/stat', 'utf8').split(/\s+/, 4).slice(1).map(Number);
    const processes = new Map<number, Process>();
    for (const name of readdirSync('/proc')) {
      const found = /^\d+$/.test(name) ? processOf(Number(name)) : undefined;
      if (found) processes.set(Number(name), found);
    }
    const all = user + nice + system;
    let own = 0;
    let ofMeasuring = 0;
    for (const [pid, { ticks }] of processes) {
      if (isBelow(pid, root, processes)) own += ticks;
      if (measuring.has(pid)) ofMeasuring += ticks;
    }
    return { all, own, measuring: ofMeasuring };
  } catch {
    return undefined;
  }
}

function isBelow(pid: number, root: number, processes: ReadonlyMap<number, Process>): boolean {
  for (let at: number | undefined = pid; at; at = processes.get(at)?.parent) if (at === root) return true;
  return false;
}

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Clock ticks per second: Linux's USER_HZ. */
const ticksPerSecond = 100;

/**
 * Sets the priority of this process and its session, if permitted; only root may raise a priority. Setting only the
 * priority of the process would have little effect, because Linux may first divide processor time among sessions
 * (autogroup, see sched(7)), and each Postgres connection is a session of its own.
 */
export function setPriorityOfSession(priority: number): void {
  for (const set of [() => setPriority(priority), () => writeFileSync('/proc/self/autogroup', String(priority))]) {
    try {
      set();
    } catch {
      // The user is not root, or the system is not Linux.
    }
  }
}

/**
 * Watches how much of a processor other programs use, because that affects the measured latencies. Works only on Linux;
 * elsewhere the result is 0.
 * @returns a function that returns the share since its last call
 */
export function watchOthers(): () => number {
  const root = testRunner();
  let before = ticksOfOthers(root);
  let at = performance.now();
  return () => {
    const [now, seconds] = [ticksOfOthers(root), (performance.now() - at) / 1_000];
    const share = Math.max(0, (now - before) / ticksPerSecond / seconds);
    before = now;
    at = performance.now();
    return share;
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

/** Returns the process that started the test runner; everything that is measured descends from it. */
function testRunner(): number {
  let pid = process.pid;
  for (let next = processOf(pid); next?.name.includes('vitest'); next = processOf(pid)) pid = next.parent;
  return pid;
}

/** Returns the processor time, in clock ticks, that processes other than ours have used. */
function ticksOfOthers(root: number): number {
  try {
    const all = readFileSync('/proc/stat', 'utf8').split(/\s+/, 4).slice(1).map(Number);
    const processes = new Map<number, Process>();
    for (const name of readdirSync('/proc')) {
      const found = /^\d+$/.test(name) ? processOf(Number(name)) : undefined;
      if (found) processes.set(Number(name), found);
    }
    const own = [...processes].filter(([pid]) => isBelow(pid, root, processes)).map(([, { ticks }]) => ticks);
    const sum = (ticks: readonly number[]) => ticks.reduce((total, one) => total + one, 0);
    return sum(all) - sum(own);
  } catch {
    return 0;
  }
}

function isBelow(pid: number, root: number, processes: ReadonlyMap<number, Process>): boolean {
  for (let at: number | undefined = pid; at; at = processes.get(at)?.parent) if (at === root) return true;
  return false;
}

import { readdirSync, readFileSync } from 'node:fs';

/** Processor time in clock ticks, of all processes and of ours. */
interface Ticks {
  readonly all: number;
  readonly own: number;
}

/** Clock ticks a second: Linux's USER_HZ. */
const ticksPerSecond = 100;

/**
 * Tells how much processor time others use while something is measured: what they do to the latencies is nobody's storm. Only Linux
 * says so; elsewhere it is 0.
 * @returns the function that returns it: the part of one processor, since the last call
 */
export function watchOthers(): () => number {
  const root = testRunner();
  let before = ticksNow(root);
  let at = performance.now();
  return () => {
    const now = ticksNow(root);
    const seconds = (performance.now() - at) / 1_000;
    const used = now && before ? now.all - before.all - (now.own - before.own) : 0;
    before = now;
    at = performance.now();
    return Math.max(0, used / ticksPerSecond / seconds);
  };
}

interface Process {
  readonly parent: number;
  readonly ticks: number;
  readonly name: string;
}

/** Reads a process; undefined where it has ended meanwhile. */
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

/** The first process of the test runner: all that is measured, the databases too, are its children. */
function testRunner(): number {
  let pid = process.pid;
  for (let next = processOf(pid); next?.name.includes('vitest'); next = processOf(pid)) pid = next.parent;
  return pid;
}

function ticksNow(root: number): Ticks | undefined {
  try {
    const [user = 0, nice = 0, system = 0] = readFileSync('/proc/stat', 'utf8').split(/\s+/, 4).slice(1).map(Number);
    const processes = new Map<number, Process>();
    for (const name of readdirSync('/proc')) {
      const found = /^\d+$/.test(name) ? processOf(Number(name)) : undefined;
      if (found) processes.set(Number(name), found);
    }
    let own = 0;
    for (const [pid, { ticks }] of processes) if (isBelow(pid, root, processes)) own += ticks;
    return { all: user + nice + system, own };
  } catch {
    return undefined;
  }
}

function isBelow(pid: number, root: number, processes: ReadonlyMap<number, Process>): boolean {
  for (let at: number | undefined = pid; at; at = processes.get(at)?.parent) if (at === root) return true;
  return false;
}

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statfsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { canMount, onDiskOfItsOwn, query } from '../setup/embedded-servers.ts';

/** An embedded Postgres that is there to be harmed: in a process of its own and, where possible, on a disk of its own. */
export type DoomedPostgres = Awaited<ReturnType<typeof startDoomedPostgres>>;

/** A disk that becomes full and read-only on request. */
export type Disk = ReturnType<typeof diskOf>;

const program = fileURLToPath(new URL('../database/embedded-process.ts', import.meta.url));
const run = promisify(execFile);
const diskBytes = 3 * 1024 ** 3;

/** @param durable false: it acknowledges commits before they are written, so a crash loses them */
export async function startDoomedPostgres(durable = true) {
  const parent = await mkdtemp(join(tmpdir(), 'payments-faults-'));
  await chmod(parent, 0o711);
  const hasDisk = canMount();
  const wrapper = hasDisk ? onDiskOfItsOwn(parent, `size=${diskBytes}`) : [];
  const [command = '', ...args] = [...wrapper, process.execPath, program, join(parent, 'data')];
  const child = spawn(command, [...args, ...(durable ? ['durable'] : [])], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface(child.stdout);
  const [line] = await once(lines, 'line');
  const { url, dataDirectory } = JSON.parse(line);
  /** How its folder is seen from here. */
  const root = hasDisk ? `/proc/${child.pid}/root` : '';
  const pid = () => Number(readFileSync(join(root, dataDirectory, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
  const back = async () => {
    while (!(await query(url, 'select').catch(() => undefined))) await delay(10);
  };
  const disk = hasDisk ? diskOf({ supervisor: child, lines, folder: parent, url, pid, back }) : undefined;
  return {
    url,
    /** The present postmaster. */
    get pid() {
      return pid();
    },
    /** Waits until it answers. */
    back,
    /** Undefined where this user may not mount a file system. */
    disk,
    async stop() {
      await disk?.heal();
      await back();
      const gone = once(child, 'exit');
      child.kill('SIGINT');
      await gone;
      for (const folder of [parent, dataDirectory]) await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Mounted {
  readonly url: string;
  readonly back: () => Promise<void>;
  readonly supervisor: ChildProcess;
  /** What the supervisor prints. */
  readonly lines: Interface;
  readonly folder: string;
  readonly pid: () => number;
}

function diskOf({ supervisor, lines, folder, url, pid, back }: Mounted) {
  const remount = (options: string) =>
    run('nsenter', ['-t', String(supervisor.pid), '-m', 'mount', '-o', `remount,${options}`, folder]);
  const usedBytes = () => {
    const { bsize, blocks, bfree } = statfsSync(`/proc/${supervisor.pid}/root${folder}`);
    return bsize * (blocks - bfree);
  };
  return {
    /** Takes the free space, and writes until the database has none. */
    async fill() {
      // A little more than the used space: it is growing.
      await remount(`size=${usedBytes() + 2 * 1024 ** 2}`);
      const change = `select pg_logical_emit_message(true, 'filler', repeat('x', 1000000))`;
      try {
        for (;;) await query(url, change);
      } catch {
        // Postgres ends when it cannot go on with its log of changes.
      }
    },
    /** Ends the database, and lets it find a disk on which it cannot write: waits until it has tried. */
    async lock() {
      const postmaster = pid();
      // Nobody starts it again before the disk is read-only.
      supervisor.kill('SIGSTOP');
      process.kill(postmaster, 'SIGKILL');
      // A disk is busy while a process may write to it: the last child of Postgres ends soon after it.
      while (
        !(await remount('ro').then(
          () => true,
          () => false,
        ))
      )
        await delay(10);
      const tried = new Promise<void>((resolve) => {
        const look = (line: string) => {
          if (!line.includes('does not start')) return;
          lines.off('line', look);
          resolve();
        };
        lines.on('line', look);
      });
      supervisor.kill('SIGCONT');
      await tried;
    },
    /** Gives back what `fill` and `lock` took. */
    async heal() {
      await remount(`rw,size=${diskBytes}`);
      await back();
    },
  };
}

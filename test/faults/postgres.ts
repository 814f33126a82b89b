import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { readFileSync, statfsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { canMount, onDiskOfItsOwn, query } from '../setup/embedded-servers.ts';
import { diskGroup, hasControlGroups } from './control-groups.ts';

/** An embedded Postgres in a separate process and, if possible, on a separate disk. */
export type DoomedPostgres = Awaited<ReturnType<typeof startDoomedPostgres>>;

/** Returns why the Postgres disk cannot be made full or read-only, or undefined if it can. */
export const needsDisk = ({ disk }: DoomedPostgres): string | undefined =>
  disk ? undefined : 'only root, on Linux, can mount a disk that becomes full or read-only';

const program = fileURLToPath(new URL('../database/embedded-process.ts', import.meta.url));
const run = promisify(execFile);
const diskBytes = 3 * 1024 ** 3;

/**
 * @param durable if false, commits are acknowledged before they are written, so a crash loses them
 * @param canBeSlow whether the data is on the machine's own disk, where writes can be limited
 */
export async function startDoomedPostgres(durable = true, canBeSlow = false) {
  const parent = await mkdtemp(join(tmpdir(), 'payments-faults-'));
  await chmod(parent, 0o711);
  const slowDisk = canBeSlow && hasControlGroups() ? diskGroup(parent) : undefined;
  const hasDisk = !canBeSlow && canMount();
  const wrapper = slowDisk?.wrapper ?? (hasDisk ? onDiskOfItsOwn(parent, `size=${diskBytes}`) : []);
  const [command = '', ...args] = [...wrapper, process.execPath, program, join(parent, 'data')];
  const child = spawn(command, [...args, ...(durable ? ['durable'] : [])], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface(child.stdout);
  const [line] = await once(lines, 'line');
  const { url, dataDirectory } = JSON.parse(line);
  /** The path of the server's root directory as seen by this process. */
  const root = hasDisk ? `/proc/${child.pid}/root` : '';
  const pid = () => Number(readFileSync(join(root, dataDirectory, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
  const back = async () => {
    while (!(await query(url, 'select').catch(() => undefined))) await delay(10);
  };
  const disk = hasDisk ? diskOf({ supervisor: child, lines, folder: parent, url, pid, back }) : undefined;
  return {
    url,
    get pid() {
      return pid();
    },
    back,
    /** Undefined if `canBeSlow` is set or the current user may not mount a file system. */
    disk,
    /** Undefined if it was not requested or the current user may not throttle a disk. */
    slowDisk,
    async stop() {
      await disk?.heal();
      slowDisk?.limit(undefined);
      await back();
      const gone = once(child, 'exit');
      child.kill('SIGINT');
      await gone;
      for (const folder of [parent, dataDirectory]) await rm(folder, { recursive: true, force: true });
      slowDisk?.remove();
    },
  };
}

interface Mounted {
  readonly url: string;
  readonly back: () => Promise<void>;
  readonly supervisor: ChildProcess;
  readonly lines: Interface;
  readonly folder: string;
  readonly pid: () => number;
}

/** Returns a disk that can be made full or read-only. */
function diskOf({ supervisor, lines, folder, url, pid, back }: Mounted) {
  const remount = (options: string) =>
    run('nsenter', ['-t', String(supervisor.pid), '-m', 'mount', '-o', `remount,${options}`, folder]);
  const usedBytes = () => {
    const { bsize, blocks, bfree } = statfsSync(`/proc/${supervisor.pid}/root${folder}`);
    return bsize * (blocks - bfree);
  };
  const lineWith = async (part: string) => {
    for await (const [line] of on(lines, 'line')) if (line.includes(part)) return;
  };
  return {
    /** Shrinks the disk to little more than the space in use, then writes until it is full. */
    async fill() {
      // The margin is necessary because the space in use keeps growing.
      await remount(`size=${usedBytes() + 2 * 1024 ** 2}`);
      const change = `select pg_logical_emit_message(true, 'filler', repeat('x', 1000000))`;
      try {
        for (;;) await query(url, change);
      } catch {
        // Postgres exits when it can no longer write its WAL.
      }
    },
    /** Kills the database and makes its disk read-only. Waits until the supervisor has tried to start it again. */
    async lock() {
      const postmaster = pid();
      // The supervisor must not restart it before the disk is read-only.
      supervisor.kill('SIGSTOP');
      process.kill(postmaster, 'SIGKILL');
      // The disk stays busy until no process has it open for writing, and the last child process exits shortly after
      // the postmaster.
      while (
        !(await remount('ro').then(
          () => true,
          () => false,
        ))
      )
        await delay(10);
      const tried = lineWith('does not start');
      supervisor.kill('SIGCONT');
      await tried;
    },
    /** Makes the disk writable and large enough again. */
    async heal() {
      await remount(`rw,size=${diskBytes}`);
      await back();
    },
  };
}

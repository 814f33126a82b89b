import { type ChildProcess, type ExecFileException, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdtemp, open, readFile, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { EmbeddedPostgresError } from './embedded-error.ts';
import { exists, type ServerLocation } from './embedded-location.ts';

// One database cluster: makes it, starts its server, and recognises a server that runs. All its files are in the folder
// of its location, where another process finds them: `data`, `password`, `port` and `server.log`.

const run = promisify(execFile);

/** A server process. It accepts connections only when `ready`: it also exists while it recovers or stops. */
export interface RunningServer {
  readonly pid: number;
  readonly port: number;
  readonly ready: boolean;
}

/**
 * Makes the cluster unless it exists: UTF-8, compared by code point on every system, one superuser `postgres` with a
 * random password, and the empty database `payments`. The cluster appears whole or not at all, also when a process dies
 * meanwhile or two begin at once.
 *
 * @returns the superuser's password
 */
export async function openCluster(location: ServerLocation, durable: boolean): Promise<string> {
  if (!(await exists(location.folder))) await makeCluster(location, durable);
  try {
    return (await readFile(join(location.folder, 'password'), 'utf8')).trim();
  } catch (cause) {
    const advice = 'Start as the user who made it, set DATA_DIR to another folder, or set DATABASE_URL.';
    throw new EmbeddedPostgresError(`The database in ${location.folder} cannot be opened. ${advice}`, { cause });
  }
}

function dataFolder({ folder }: ServerLocation): string {
  return join(folder, 'data');
}

function lockFile(location: ServerLocation): string {
  return join(dataFolder(location), 'postmaster.pid');
}

async function makeCluster(location: ServerLocation, durable: boolean): Promise<void> {
  const staging = await mkdtemp(`${location.folder}-`);
  const password = join(staging, 'password');
  const data = join(staging, 'data');
  try {
    await writeFile(password, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 });
    if (location.user) {
      await chown(staging, location.user.uid, location.user.gid);
      await chown(password, location.user.uid, location.user.gid);
    }
    await runProgram(location, 'initdb', [
      ...['--pgdata', data, '--username', 'postgres', '--pwfile', password, '--auth', 'scram-sha-256'],
      ...['--encoding', 'UTF8', '--locale', 'C', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
      ...(durable ? [] : ['--no-sync']),
    ]);
    const single = ['--single', '-D', data, '-c', 'exit_on_error=on', '-c', `fsync=${durable ? 'on' : 'off'}`];
    await runProgram(location, 'postgres', [...single, 'postgres'], 'create database payments');
    await rename(staging, location.folder).catch(async (error: unknown) => {
      if (!(await exists(location.folder))) throw error;
    });
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function runProgram(location: ServerLocation, name: string, args: readonly string[], input = ''): Promise<void> {
  const program = run(join(location.programs, name), args, processOptions(location));
  const { stdin } = program.child;
  // A program that ends early does not read its input; its own error says more than the broken pipe.
  stdin?.on('error', () => undefined);
  stdin?.end(input);
  await program.catch((error: ExecFileException) => {
    const output = error.stderr || error.message;
    throw programFailure(`The embedded Postgres could not make its database in ${location.folder}.`, output, error);
  });
}

/** A server's process that was started here, and the offset in `server.log`, in bytes, where its output begins. */
export interface StartedServer {
  readonly process: ChildProcess;
  readonly logStart: number;
}

/**
 * Starts the server's process in a process group of its own: Ctrl-C in a terminal must reach this process alone, which
 * stops the server after its own work. The server writes its log to a file, so that it survives the death of this process.
 */
export async function spawnServer(
  location: ServerLocation,
  port: number,
  settings: readonly string[],
): Promise<StartedServer> {
  const log = await open(join(location.folder, 'server.log'), 'a', 0o600);
  try {
    const { size: logStart } = await log.stat();
    const args = ['-D', dataFolder(location), '-p', String(port), ...settings.flatMap((one) => ['-c', one])];
    const server = spawn(join(location.programs, 'postgres'), args, {
      ...processOptions(location),
      detached: true,
      windowsHide: true,
      stdio: ['ignore', log.fd, log.fd],
    });
    server.on('error', (error) => log.appendFile(`${error.message}\n`).catch(() => undefined));
    server.unref();
    return { process: server, logStart };
  } finally {
    await log.close();
  }
}

/**
 * Returns a minimal environment and the user of the server's programs. The environment of this process may hold secrets,
 * and settings (`PG…`, `LC_…`) that would change what the server does.
 */
function processOptions({ user }: ServerLocation) {
  return {
    cwd: '/',
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
    ...(user && { uid: user.uid, gid: user.gid }),
  };
}

/** Finds the server that runs on the cluster's data, whoever started it. The lock file of a dead server counts as none. */
export async function findServer(location: ServerLocation): Promise<RunningServer | undefined> {
  const lines = (await readLock(location)).split('\n');
  // https://www.postgresql.org/docs/18/storage-file-layout.html: pid, folder, start, port, socket, host, memory, state
  const [pid, port, state] = [Number(lines[0]), Number(lines[3]), lines[7]?.trim()];
  if (!pid || !isAlive(pid) || !(await servesFolder(pid, dataFolder(location)))) return undefined;
  return { pid, port, ready: state === 'ready' };
}

/** Says whether the server has begun to shut down. Cheap enough for every second: it reads one small file. */
export async function isStopping(location: ServerLocation, { pid }: RunningServer): Promise<boolean> {
  const lines = (await readLock(location)).split('\n');
  return Number(lines[0]) === pid && lines[7]?.trim() === 'stopping';
}

/** Begins Postgres' fast shutdown: open transactions are rolled back, connections closed, everything written. */
export function shutDown({ pid }: RunningServer): void {
  try {
    process.kill(pid, 'SIGINT');
  } catch {
    // It has ended already.
  }
}

/**
 * Removes a stale lock file after a failed start. Postgres itself replaces the lock file of a dead server, once that
 * server's children have ended too, unless the process id in it belongs to another program by now. A server that another
 * process just starts or stops looks the same for an instant: only a file that stays the same for a moment is stale.
 */
export async function removeStaleLock(location: ServerLocation): Promise<void> {
  const lock = await readLock(location);
  await delay(STALE_AFTER_MS);
  if (lock !== (await readLock(location)) || (await findServer(location))) return;
  // The file also names the shared memory of the children: without it Postgres could not tell that some are left.
  const pid = Number.parseInt(lock, 10);
  if (pid > 0 && !isAlive(pid)) return;
  await unlink(lockFile(location)).catch(() => undefined);
}

const STALE_AFTER_MS = 250;

async function readLock(location: ServerLocation): Promise<string> {
  return readFile(lockFile(location), 'utf8').catch(() => '');
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Says whether the process is a server of that data folder, by its command line (a dead child's is empty). */
async function servesFolder(pid: number, data: string): Promise<boolean> {
  try {
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).includes(data);
  } catch {
    // Not Linux, or the process is gone.
  }
  try {
    return (await run('ps', ['-ww', '-o', 'command=', '-p', String(pid)])).stdout.includes(data);
  } catch (error) {
    // Without `ps` (Windows), trust the lock file.
    return error instanceof Error && 'code' in error && error.code === 'ENOENT';
  }
}

/** Makes the error for a server that did not start: the end of its log, from the byte `logStart` on, and what can be done. */
export async function startFailure({ folder }: ServerLocation, logStart = 0): Promise<EmbeddedPostgresError> {
  const log = join(folder, 'server.log');
  const output = await readEnd(log, logStart).catch(() => '');
  return programFailure(`The embedded Postgres did not start (log: ${log}).`, output);
}

/** Reads a file from the byte `start` on, but at most its last 16 KiB: the log of a server that is used for years is long. */
async function readEnd(file: string, start: number): Promise<string> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const position = Math.max(start, size - LAST_BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(LAST_BYTES), 0, LAST_BYTES, position);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

const LAST_BYTES = 16_384;

function programFailure(summary: string, output: string, cause?: unknown): EmbeddedPostgresError {
  const lines = output.trimEnd().split('\n').slice(-12);
  const advice =
    'Repair what it says and start again; or remove that folder, to begin with an empty database; or set DATABASE_URL to a Postgres 15 or newer.';
  const message = [summary, 'Its last words:', ...lines.map((line) => `  ${line}`), advice].join('\n');
  return new EmbeddedPostgresError(message, {
    cause,
    lastLines: lines.map((line) => line.replace(/^.*? \[\d+\] /, '')),
  });
}

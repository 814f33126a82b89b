import { type ChildProcess, type ExecFileException, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdtemp, open, readFile, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { EmbeddedPostgresError } from './embedded-error.ts';
import { exists, type Place } from './embedded-place.ts';

// One database cluster: how it is made, how its server is started, and how a running server is recognised. Everything
// is in the place's folder, so that another process finds it there: `data`, `password`, `port` and `server.log`.

const run = promisify(execFile);

/** Accepts work only once `ready`: a server also exists while it recovers after a crash, and while it stops. */
export interface RunningServer {
  readonly pid: number;
  readonly port: number;
  readonly ready: boolean;
}

/**
 * Makes the cluster unless it exists: UTF-8, compared by code point on every system, one superuser `postgres` with a
 * random password, and the empty database `payments`. It appears whole or not at all: a process that dies meanwhile,
 * or two that begin at once, leave no half of one.
 *
 * @returns the superuser's password
 */
export async function openCluster(place: Place, durable: boolean): Promise<string> {
  if (!(await exists(place.folder))) await makeCluster(place, durable);
  try {
    return (await readFile(join(place.folder, 'password'), 'utf8')).trim();
  } catch (cause) {
    const advice = 'Start as the user who made it, set DATA_DIR to another folder, or set DATABASE_URL.';
    throw new EmbeddedPostgresError(`The database in ${place.folder} cannot be opened. ${advice}`, { cause });
  }
}

function dataFolder({ folder }: Place): string {
  return join(folder, 'data');
}

function lockFile(place: Place): string {
  return join(dataFolder(place), 'postmaster.pid');
}

async function makeCluster(place: Place, durable: boolean): Promise<void> {
  const staging = await mkdtemp(`${place.folder}-`);
  const password = join(staging, 'password');
  const data = join(staging, 'data');
  try {
    await writeFile(password, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 });
    if (place.user) {
      await chown(staging, place.user.uid, place.user.gid);
      await chown(password, place.user.uid, place.user.gid);
    }
    await runProgram(place, 'initdb', [
      ...['--pgdata', data, '--username', 'postgres', '--pwfile', password, '--auth', 'scram-sha-256'],
      ...['--encoding', 'UTF8', '--locale', 'C', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
      ...(durable ? [] : ['--no-sync']),
    ]);
    const single = ['--single', '-D', data, '-c', 'exit_on_error=on', '-c', `fsync=${durable ? 'on' : 'off'}`];
    await runProgram(place, 'postgres', [...single, 'postgres'], 'create database payments');
    await rename(staging, place.folder).catch(async (error: unknown) => {
      if (!(await exists(place.folder))) throw error;
    });
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function runProgram(place: Place, name: string, args: readonly string[], input = ''): Promise<void> {
  const program = run(join(place.programs, name), args, processOptions(place));
  const { stdin } = program.child;
  // A program that ends early does not read it; its own error says more than the broken pipe.
  stdin?.on('error', () => undefined);
  stdin?.end(input);
  await program.catch((error: ExecFileException) => {
    const output = error.stderr || error.message;
    throw failure(`The embedded Postgres could not make its database in ${place.folder}.`, output, error);
  });
}

/** A server's process that was started here, and where its words begin in `server.log`. */
export interface StartedServer {
  readonly process: ChildProcess;
  readonly logStart: number;
}

/**
 * Starts the server's process, in a process group of its own: Ctrl-C in a terminal must reach us alone, who stop the
 * server after our own work has ended. Its log goes to a file and not to us, so that the server outlives us if we die.
 */
export async function spawnServer(place: Place, port: number, settings: readonly string[]): Promise<StartedServer> {
  const log = await open(join(place.folder, 'server.log'), 'a', 0o600);
  try {
    const { size: logStart } = await log.stat();
    const args = ['-D', dataFolder(place), '-p', String(port), ...settings.flatMap((one) => ['-c', one])];
    const server = spawn(join(place.programs, 'postgres'), args, {
      ...processOptions(place),
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

/** A bare environment: ours may hold secrets, and settings (`PG…`, `LC_…`) that would change what the server does. */
function processOptions({ user }: Place) {
  return {
    cwd: '/',
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
    ...(user && { uid: user.uid, gid: user.gid }),
  };
}

/** The server that runs on the cluster's data, whoever started it. A lock file that a dead one left counts as none. */
export async function findServer(place: Place): Promise<RunningServer | undefined> {
  const lines = (await readLock(place)).split('\n');
  // https://www.postgresql.org/docs/18/storage-file-layout.html: pid, folder, start, port, socket, host, memory, state
  const [pid, port, state] = [Number(lines[0]), Number(lines[3]), lines[7]?.trim()];
  if (!pid || !isAlive(pid) || !(await servesFolder(pid, dataFolder(place)))) return undefined;
  return { pid, port, ready: state === 'ready' };
}

/** Whether the server in this process has begun to shut down. Cheap enough for every second: it reads one small file. */
export async function isStopping(place: Place, { pid }: RunningServer): Promise<boolean> {
  const lines = (await readLock(place)).split('\n');
  return Number(lines[0]) === pid && lines[7]?.trim() === 'stopping';
}

/** Postgres' fast shutdown: open transactions are rolled back, connections closed, everything written. */
export function shutDown({ pid }: RunningServer): void {
  try {
    process.kill(pid, 'SIGINT');
  } catch {
    // It has ended already.
  }
}

/**
 * For after a failed start. Postgres itself replaces a lock file that a dead server left behind, once that server's
 * children have ended too, except when the process id in it belongs to another program by now. Waits a moment, because
 * a server that is just being started or stopped by another process looks the same for an instant: only what stays the
 * same is stale.
 */
export async function removeStaleLock(place: Place): Promise<void> {
  const lock = await readLock(place);
  await delay(STALE_AFTER_MS);
  if (lock !== (await readLock(place)) || (await findServer(place))) return;
  // It also says which shared memory the children use: without it Postgres could not tell that some are left.
  const pid = Number.parseInt(lock, 10);
  if (pid > 0 && !isAlive(pid)) return;
  await unlink(lockFile(place)).catch(() => undefined);
}

const STALE_AFTER_MS = 250;

async function readLock(place: Place): Promise<string> {
  return readFile(lockFile(place), 'utf8').catch(() => '');
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Whether the process is a server of that data folder: its command line says so (a dead child's is empty). */
async function servesFolder(pid: number, data: string): Promise<boolean> {
  try {
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).includes(data);
  } catch {
    // Not Linux, or the process is gone.
  }
  try {
    return (await run('ps', ['-ww', '-o', 'command=', '-p', String(pid)])).stdout.includes(data);
  } catch (error) {
    // Where nothing can say (Windows), believe the lock file.
    return error instanceof Error && 'code' in error && error.code === 'ENOENT';
  }
}

/** The error for a server that did not come up: its last words, from `logStart` of its log on, and what can be done. */
export async function startFailure({ folder }: Place, logStart = 0): Promise<EmbeddedPostgresError> {
  const log = join(folder, 'server.log');
  const output = await readEnd(log, logStart).catch(() => '');
  return failure(`The embedded Postgres did not start (log: ${log}).`, output);
}

/** Reads a file from `start` on, but no more than its end: the log of a server that is used for years is long. */
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

function failure(what: string, output: string, cause?: unknown): EmbeddedPostgresError {
  const words = output.trimEnd().split('\n').slice(-12);
  const advice =
    'Repair what it says and start again; or remove that folder, to begin with an empty database; or set DATABASE_URL to a Postgres 15 or newer.';
  const message = [what, 'Its last words:', ...words.map((line) => `  ${line}`), advice].join('\n');
  return new EmbeddedPostgresError(message, {
    cause,
    lastWords: words.map((line) => line.replace(/^.*? \[\d+\] /, '')),
  });
}

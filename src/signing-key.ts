import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * The key that signs client tokens, where no setting gives one: made once and kept in the data directory, readable by
 * its owner only. Good for a single machine; instances on several need the setting, since all must have the same.
 */
export async function signingKeyIn(dataDirectory: string): Promise<string> {
  const file = path.join(dataDirectory, 'client-token.key');
  await mkdir(dataDirectory, { recursive: true });
  try {
    // Of two that start at once, one makes the file and both read it.
    await writeFile(file, randomBytes(32).toString('base64url'), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  return readFile(file, 'utf8');
}

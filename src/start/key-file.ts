import { randomBytes, randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ConfigError } from '../config.ts';
import { makeFolder, unusableDataDirectory } from '../database/embedded/data-directory.ts';

/** A file of the data directory with a key that is made at the first start. */
export interface KeyFile {
  readonly name: string;
  /** Returns the text of a key of `keyBytes` bytes. */
  encode(key: Buffer): string;
  /** Matches the text of a valid key. */
  readonly pattern: RegExp;
  /** The encoding for error messages, such as "in base64". */
  readonly encoding: string;
  /** The setting that replaces the file. */
  readonly setting: string;
  /** What a new key makes unusable, for error messages. */
  readonly loss: string;
}

const keyBytes = 32;

/**
 * Reads the key, and makes it first if there is none. Of several processes that start at once, all read the same key.
 *
 * @returns the file's text without the line end
 * @throws ConfigError when the file holds no key, or the data directory cannot be used
 */
export async function readOrMakeKey(dataDirectory: string, kind: KeyFile): Promise<string> {
  const file = path.join(dataDirectory, kind.name);
  try {
    return checkedKey(file, (await readKey(file)) ?? (await makeKey(file, kind)), kind);
  } catch (error) {
    const fault = unusableDataDirectory(dataDirectory, error);
    throw fault === undefined ? error : new ConfigError([fault]);
  }
}

function checkedKey(file: string, text: string, { pattern, encoding, loss, setting }: KeyFile): string {
  const key = text.trimEnd();
  if (pattern.test(key)) return key;
  const fault = key === '' ? 'is empty' : 'holds something else';
  throw new ConfigError([
    `${file} should hold ${keyBytes} bytes ${encoding} and ${fault}: restore it; or remove it, and the next start makes a new one (${loss}); or set ${setting}`,
  ]);
}

async function readKey(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    // A folder of that name is invalid, like an empty file.
    if (hasCode(error, 'EISDIR')) return '';
    throw error;
  }
}

/** Stores a new key that only this user can read. The file appears whole or not at all: a process may die at any moment. */
async function makeKey(file: string, { encode }: KeyFile): Promise<string> {
  await makeFolder(path.dirname(file));
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, encode(randomBytes(keyBytes)), { mode: 0o600, flush: true });
    await link(draft, file).catch((error: unknown) => {
      // Another process has stored its key first: all use that one.
      if (!hasCode(error, 'EEXIST')) throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  return (await readKey(file)) ?? '';
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

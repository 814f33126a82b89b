import { randomBytes, randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ConfigError } from '../config.ts';
import { makeFolder, unusableDataDirectory } from '../database/embedded/data-directory.ts';

/** A key that is made at the first start and then read from a file in the data directory. */
export interface KeyFile {
  readonly name: string;
  /** The text of a key of `keyBytes` random bytes, and how to recognise one. */
  encode(key: Buffer): string;
  readonly form: RegExp;
  /** The form in words, such as "in base64". */
  readonly encoding: string;
  /** The setting that replaces the file. */
  readonly setting: string;
  /** What a new key means for what was made with the old one. */
  readonly loss: string;
}

const keyBytes = 32;

/**
 * Reads the key, and makes it first where there is none. Of several processes that start at once one makes it and all
 * read the same.
 *
 * @returns the file's text without the end of its line
 * @throws ConfigError when the file holds no key, or the data directory cannot be used
 */
export async function readOrMakeKey(dataDirectory: string, kind: KeyFile): Promise<string> {
  const file = path.join(dataDirectory, kind.name);
  try {
    return checked(file, (await readKey(file)) ?? (await makeKey(file, kind)), kind);
  } catch (error) {
    const fault = unusableDataDirectory(dataDirectory, error);
    throw fault === undefined ? error : new ConfigError([fault]);
  }
}

function checked(file: string, text: string, { form, encoding, loss, setting }: KeyFile): string {
  const key = text.trimEnd();
  if (form.test(key)) return key;
  const found = key === '' ? 'is empty' : 'holds something else';
  throw new ConfigError([
    `${file} should hold ${keyBytes} bytes ${encoding} and ${found}: restore it; or remove it, and the next start makes a new one (${loss}); or set ${setting}`,
  ]);
}

async function readKey(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    // A folder of that name holds no key either.
    if (hasCode(error, 'EISDIR')) return '';
    throw error;
  }
}

/** Stores a new key, for us alone to read. It appears whole or not at all: a process may die at any moment. */
async function makeKey(file: string, { encode }: KeyFile): Promise<string> {
  await makeFolder(path.dirname(file));
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, encode(randomBytes(keyBytes)), { mode: 0o600, flush: true });
    await link(draft, file).catch((error: unknown) => {
      // Another process was faster; its key is as good.
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

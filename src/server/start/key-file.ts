import { randomBytes, randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder, unusableDataDirectory } from '../../infra/database/embedded/embedded-location.ts';
import { type Config, ConfigError } from '../config.ts';

/** The files in the data directory that hold the keys generated on first startup. */
const keyFiles = { SECRET_KEY: 'secret.key', CLIENT_TOKEN_KEY: 'client-token.key' } as const;

const keyBytes = 32;

type Settings = Pick<Config, 'SECRET_KEY' | 'CLIENT_TOKEN_KEY' | 'NODE_ENV' | 'DATA_DIR'>;

/**
 * Finds the keys that encrypt stored secrets and sign client tokens: the keys in the settings or, outside production,
 * keys that are generated on first startup and stored in the data directory. In production, all instances must have
 * the same keys, so missing keys are not generated.
 * @throws ConfigError if a file contains no key, or the data directory cannot be used
 */
export async function findKeys({ SECRET_KEY, CLIENT_TOKEN_KEY, NODE_ENV, DATA_DIR }: Settings) {
  if (NODE_ENV === 'production') return { SECRET_KEY, CLIENT_TOKEN_KEY };
  const folder = path.resolve(DATA_DIR);
  return {
    SECRET_KEY: SECRET_KEY ?? Buffer.from(await readOrMakeKey(folder, 'SECRET_KEY'), 'base64'),
    CLIENT_TOKEN_KEY: CLIENT_TOKEN_KEY ?? (await readOrMakeKey(folder, 'CLIENT_TOKEN_KEY')),
  };
}

/** Reads the key, generating it first if there is none. Processes that start at the same time all read the same key. */
async function readOrMakeKey(dataDirectory: string, setting: keyof typeof keyFiles): Promise<string> {
  const file = path.join(dataDirectory, keyFiles[setting]);
  try {
    const key = ((await readKey(file)) ?? (await makeKey(file))).trimEnd();
    if (/^[A-Za-z0-9+/_-]{43}=?$/.test(key)) return key;
  } catch (error) {
    const fault = unusableDataDirectory(dataDirectory, error);
    throw fault === undefined ? error : new ConfigError([fault]);
  }
  throw new ConfigError([
    `${file} should hold ${keyBytes} bytes in base64url (43 characters), but does not: restore it; or remove it, so that the next start creates a new key (anything signed or encrypted with the old key is then refused); or set ${setting}`,
  ]);
}

async function readKey(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    // Docker creates a folder in place of a mounted file that is missing.
    if (error.code === 'EISDIR') return '';
    throw error;
  });
}

/** Stores a new key, readable only by this user. The file is created atomically, even if the process dies. */
async function makeKey(file: string): Promise<string> {
  await makeFolder(path.dirname(file));
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, `${randomBytes(keyBytes).toString('base64url')}\n`, { mode: 0o600, flush: true });
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      // Another process stored its key first. All processes use that one.
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  return (await readKey(file)) ?? '';
}

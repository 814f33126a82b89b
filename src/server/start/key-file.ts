import { randomBytes, randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder, unusableDataDirectory } from '../../infra/database/embedded/embedded-location.ts';
import { type Config, ConfigError } from '../config.ts';

/**
 * The files in the data directory with the keys that are generated at the first start, and what becomes unusable if a
 * new key is generated.
 */
const keyFiles = {
  SECRET_KEY: {
    name: 'secret.key',
    encoding: 'base64',
    loss: 'webhook secrets that were encrypted with the old key can then no longer be read',
  },
  CLIENT_TOKEN_KEY: {
    name: 'client-token.key',
    encoding: 'base64url',
    loss: 'client tokens signed with the old key are then refused',
  },
} as const;

type KeySetting = keyof typeof keyFiles;

const keyBytes = 32;

type Settings = Pick<Config, 'SECRET_KEY' | 'CLIENT_TOKEN_KEY' | 'NODE_ENV' | 'DATA_DIR'>;

/**
 * Finds the keys that encrypt stored secrets and sign client tokens: the keys in the settings or, outside production,
 * keys that are generated at the first start and stored in the data directory. In production, all instances must have
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
async function readOrMakeKey(dataDirectory: string, setting: KeySetting): Promise<string> {
  const { name, encoding } = keyFiles[setting];
  const file = path.join(dataDirectory, name);
  try {
    return checkedKey(file, (await readKey(file)) ?? (await makeKey(file, encoding)), setting);
  } catch (error) {
    const fault = unusableDataDirectory(dataDirectory, error);
    throw fault === undefined ? error : new ConfigError([fault]);
  }
}

function checkedKey(file: string, text: string, setting: KeySetting): string {
  const { encoding, loss } = keyFiles[setting];
  const key = text.trimEnd();
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(key)) return key;
  const characters = encoding === 'base64' ? 44 : 43;
  const fault = key === '' ? 'is empty' : 'holds something else';
  throw new ConfigError([
    `${file} should hold ${keyBytes} bytes in ${encoding} (${characters} characters) but ${fault}: restore it; or remove it, and the next start creates a new key (${loss}); or set ${setting}`,
  ]);
}

async function readKey(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    // A folder of that name is as invalid as an empty file.
    if (hasCode(error, 'EISDIR')) return '';
    throw error;
  }
}

/** Stores a new key, readable only by this user. The file is created atomically, even if the process dies. */
async function makeKey(file: string, encoding: BufferEncoding): Promise<string> {
  await makeFolder(path.dirname(file));
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, `${randomBytes(keyBytes).toString(encoding)}\n`, { mode: 0o600, flush: true });
    await link(draft, file).catch((error: unknown) => {
      // Another process has stored a key first. All processes use that one.
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

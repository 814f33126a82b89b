import { randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Config, ConfigError } from './config.ts';

const fileName = 'secret.key';
const keyBytes = 32;

/**
 * The key that stored secrets are encrypted with: SECRET_KEY, or, outside production, one made at the first start and
 * kept in the data directory. In production there is none unless it is set: every instance must have the same.
 * @throws ConfigError when the kept key is not one
 */
export async function findSecretKey(
  config: Pick<Config, 'SECRET_KEY' | 'NODE_ENV' | 'DATA_DIR'>,
): Promise<Buffer | undefined> {
  if (config.SECRET_KEY || config.NODE_ENV === 'production') return config.SECRET_KEY;
  const file = path.resolve(config.DATA_DIR, fileName);
  await mkdir(path.dirname(file), { recursive: true });
  const kept = await readFile(file, 'utf8').catch(() => undefined);
  const key = (kept === undefined && (await makeKey(file))) || Buffer.from(await readFile(file, 'utf8'), 'base64');
  if (key.length !== keyBytes) {
    throw new ConfigError([`${file} should hold ${keyBytes} bytes in base64: restore it, or set SECRET_KEY`]);
  }
  return key;
}

/** Keeps a new key, for us alone to read; undefined when there is one already. It appears whole or not at all. */
async function makeKey(file: string): Promise<Buffer | undefined> {
  const key = randomBytes(keyBytes);
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, `${key.toString('base64')}\n`, { mode: 0o600, flush: true });
  try {
    await link(draft, file);
    return key;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return undefined;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

import path from 'node:path';
import type { Config } from '../config.ts';
import { type KeyFile, readOrMakeKey } from './key-file.ts';

const keyFile: KeyFile = {
  name: 'secret.key',
  encode: (key) => `${key.toString('base64')}\n`,
  pattern: /^[A-Za-z0-9+/_-]{43}=?$/,
  encoding: 'in base64 (44 characters)',
  setting: 'SECRET_KEY',
  loss: 'signing secrets of webhooks that are stored under the old one can then not be read',
};

/**
 * Finds the key that encrypts stored secrets: SECRET_KEY, or, outside production, a key that is made at the first start
 * and stored in the data directory. In production every instance must have the same key, so there is none unless it is set.
 * @throws ConfigError when the file holds no key, or the data directory cannot be used
 */
export async function findSecretKey(
  config: Pick<Config, 'SECRET_KEY' | 'NODE_ENV' | 'DATA_DIR'>,
): Promise<Buffer | undefined> {
  if (config.SECRET_KEY || config.NODE_ENV === 'production') return config.SECRET_KEY;
  return Buffer.from(await readOrMakeKey(path.resolve(config.DATA_DIR), keyFile), 'base64');
}

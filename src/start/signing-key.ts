import path from 'node:path';
import type { Config } from '../config.ts';
import { type KeyFile, readOrMakeKey } from './key-file.ts';

const keyFile: KeyFile = {
  name: 'client-token.key',
  encode: (key) => key.toString('base64url'),
  pattern: /^[\w-]{43}$/,
  encoding: 'in base64url (43 characters)',
  setting: 'CLIENT_TOKEN_KEY',
  loss: 'client tokens signed with the old one are then refused',
};

/**
 * Finds the key that signs client tokens: CLIENT_TOKEN_KEY, or, outside production, a key that is made at the first start
 * and stored in the data directory. In production every instance must have the same key, so there is none unless it is set.
 * @throws ConfigError when the file holds no key, or the data directory cannot be used
 */
export async function findSigningKey(
  config: Pick<Config, 'CLIENT_TOKEN_KEY' | 'NODE_ENV' | 'DATA_DIR'>,
): Promise<string | undefined> {
  if (config.CLIENT_TOKEN_KEY || config.NODE_ENV === 'production') return config.CLIENT_TOKEN_KEY;
  return readOrMakeKey(path.resolve(config.DATA_DIR), keyFile);
}

import { hash } from 'node:crypto';

/**
 * Returns the id of a key: 8 hexadecimal digits of its SHA-256. Stored ciphertexts and signed tokens name their key by it, and
 * operators compare it. It reveals nothing about a random key.
 * @param setting the setting of the key, so that a key that serves two of them has two ids
 */
export function keyId(setting: 'SECRET_KEY' | 'CLIENT_TOKEN_KEY', key: Uint8Array | string): string {
  const text = typeof key === 'string' ? key : Buffer.from(key).toString('hex');
  return hash('sha256', `${setting} id ${text}`).slice(0, 8);
}

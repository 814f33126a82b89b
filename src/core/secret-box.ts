import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const formatVersion = 2;
const idBytes = 4;
const nonceBytes = 12;
const tagBytes = 16;

export const keyBytes = 32;

/**
 * Encrypts and decrypts stored secrets: AES-256-GCM with a new nonce for each secret. The owner is authenticated along
 * with the secret, so a stored secret cannot be moved to another row. A stored secret contains its key's id, so that
 * keys can be rotated.
 */
export class SecretBox {
  readonly #keys: ReadonlyMap<string, Buffer>;
  readonly keyId: string;

  /** @param fallbacks keys used only for decryption: earlier keys, and the next key */
  constructor(key: Buffer, fallbacks: readonly Buffer[] = []) {
    const keys = [key, ...fallbacks];
    if (keys.some(({ length }) => length !== keyBytes)) throw new Error(`a secret box key must have ${keyBytes} bytes`);
    this.keyId = keyId('SECRET_KEY', key);
    this.#keys = new Map(keys.map((one) => [keyId('SECRET_KEY', one), one]));
  }

  /** @returns format version, key id, nonce, tag, ciphertext */
  seal(secret: string, owner: string): Buffer {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, this.#keyOf(this.keyId), nonce).setAAD(Buffer.from(owner));
    const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    const head = Buffer.concat([Buffer.of(formatVersion), Buffer.from(this.keyId, 'hex')]);
    return Buffer.concat([head, nonce, cipher.getAuthTag(), text]);
  }

  /** @throws Error if this instance lacks the key, or if the secret belongs to another owner or was changed */
  open(sealed: Uint8Array, owner: string): string {
    const bytes = Buffer.from(sealed);
    const parts = bytes.subarray(1 + idBytes);
    const nonce = parts.subarray(0, nonceBytes);
    const tag = parts.subarray(nonceBytes, nonceBytes + tagBytes);
    const decipher = createDecipheriv(algorithm, this.#keyOf(sealedWith(bytes)), nonce, { authTagLength: tagBytes })
      .setAAD(Buffer.from(owner))
      .setAuthTag(tag);
    return Buffer.concat([decipher.update(parts.subarray(nonceBytes + tagBytes)), decipher.final()]).toString('utf8');
  }

  #keyOf(id: string): Buffer {
    const key = this.#keys.get(id);
    if (!key) throw new Error(`this secret was encrypted with the key ${id}, which this instance does not have`);
    return key;
  }
}

/** Returns the id of a stored secret's key. @throws Error for bytes that `seal` did not create */
export function sealedWith(sealed: Uint8Array): string {
  if (sealed[0] !== formatVersion) throw new Error('this secret was stored in an unknown format');
  return Buffer.from(sealed.subarray(1, 1 + idBytes)).toString('hex');
}

/** Returns a key's id, which stored ciphertexts and signed tokens contain. It reveals nothing about a random key. */
export function keyId(setting: 'SECRET_KEY' | 'CLIENT_TOKEN_KEY', key: Uint8Array | string): string {
  const text = typeof key === 'string' ? key : Buffer.from(key).toString('hex');
  return hash('sha256', `${setting} id ${text}`).slice(0, 8);
}

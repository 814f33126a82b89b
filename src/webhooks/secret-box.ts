import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const formatVersion = 1;
const nonceBytes = 12;
const tagBytes = 16;

/** The number of bytes in the key of a secret box. */
export const keyBytes = 32;

/**
 * Encrypts and decrypts stored secrets: AES-256-GCM with a new nonce each. The owner is authenticated with the secret, so
 * that a stored secret cannot be moved to another row.
 */
export class SecretBox {
  readonly #key: Buffer;

  /** @param key 32 random bytes */
  constructor(key: Buffer) {
    if (key.length !== keyBytes) throw new Error(`the key of a secret box has ${keyBytes} bytes`);
    this.#key = key;
  }

  /** Encrypts a secret for `owner`. @returns format version, nonce, tag, ciphertext */
  seal(secret: string, owner: string): Buffer {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, this.#key, nonce).setAAD(Buffer.from(owner));
    const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    return Buffer.concat([Buffer.of(formatVersion), nonce, cipher.getAuthTag(), text]);
  }

  /**
   * Decrypts a secret.
   * @throws Error when it was encrypted with another key, for another owner, or has been changed
   */
  open(sealed: Uint8Array, owner: string): string {
    const bytes = Buffer.from(sealed);
    if (bytes[0] !== formatVersion) throw new Error('this secret was stored in an unknown format');
    const nonce = bytes.subarray(1, 1 + nonceBytes);
    const tag = bytes.subarray(1 + nonceBytes, 1 + nonceBytes + tagBytes);
    const decipher = createDecipheriv(algorithm, this.#key, nonce, { authTagLength: tagBytes })
      .setAAD(Buffer.from(owner))
      .setAuthTag(tag);
    return Buffer.concat([decipher.update(bytes.subarray(1 + nonceBytes + tagBytes)), decipher.final()]).toString(
      'utf8',
    );
  }
}

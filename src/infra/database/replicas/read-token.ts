import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';
import type { Position } from './primary-position.ts';

/** The token for a caller whose position is unknown. Reads with it are as fresh as reads without a token. */
export const latest = 'latest';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
/** A position and the hash of its history, eight bytes each. */
const tokenBytes = nonceBytes + tagBytes + 16;
const prefix = 'wal_';
const form = new RegExp(`^${prefix}[\\w-]{${Math.ceil((tokenBytes * 4) / 3)}}$`);

export function isReadToken(text: string): boolean {
  return form.test(text);
}

/** Encrypts and decrypts tokens. A plain-text position would reveal to each platform how much the others write. */
export class ReadTokens {
  readonly #key: Buffer;

  /** @param secret the same on all instances, so that each can decrypt all tokens; random by default */
  constructor(secret: string | undefined) {
    this.#key = secret === undefined ? randomBytes(32) : hash('sha256', `key of read tokens ${secret}`, 'buffer');
  }

  seal(platformId: string, { lsn, history }: Position): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, this.#key, nonce).setAAD(Buffer.from(platformId));
    const text = Buffer.from(lsn.toString(16).padStart(16, '0') + hashOf(history), 'hex');
    const sealed = Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
    return prefix + sealed.toString('base64url');
  }

  /** Reads a platform's token; undefined if it was created for another platform or with a different secret. */
  open(platformId: string, token: string) {
    const sealed = Buffer.from(token.slice(prefix.length), 'base64url');
    if (sealed.length !== tokenBytes) return undefined;
    const decipher = createDecipheriv(algorithm, this.#key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
      .setAAD(Buffer.from(platformId))
      .setAuthTag(sealed.subarray(-tagBytes));
    const text = decipher.update(sealed.subarray(nonceBytes, -tagBytes)).toString('hex');
    try {
      decipher.final();
    } catch {
      return undefined;
    }
    return { lsn: BigInt(`0x${text.slice(0, 16)}`), historyHash: text.slice(16) };
  }
}

export function hashOf(history: string): string {
  return hash('sha256', history).slice(0, 16);
}

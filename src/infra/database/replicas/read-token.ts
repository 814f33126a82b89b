import { hash } from 'node:crypto';
import type { Position } from './primary-position.ts';

/** The token for a caller whose position is unknown. Reads with it are as fresh as reads without a token. */
export const latest = 'latest';

const prefix = 'wal_';

/** Returns whether a text looks like a read token, even one of another version or key, which is ignored. */
export function isReadToken(text: string): boolean {
  return /^wal_[\w-]{32,64}$/.test(text);
}

/** Encrypts positions for a platform, with the same key on all instances (core/cursors.ts). */
export interface PositionCipher {
  write(list: string, platformId: string, position: string): string;
  read(list: string, platformId: string, text: string): string | undefined;
}

/** Encrypts and decrypts tokens. A plain-text position would reveal to each platform how much the others write. */
export class ReadTokens {
  readonly #cipher: PositionCipher;

  constructor(cipher: PositionCipher) {
    this.#cipher = cipher;
  }

  seal(platformId: string, { lsn, history }: Position): string {
    return prefix + this.#cipher.write(prefix, platformId, `${lsn}:${hashOf(history)}`);
  }

  /** Reads a platform's token; undefined if it was created for another platform or with a different key. */
  open(platformId: string, token: string) {
    const [lsn, historyHash] = this.#cipher.read(prefix, platformId, token.slice(prefix.length))?.split(':') ?? [];
    return lsn === undefined ? undefined : { lsn: BigInt(lsn), historyHash: Number(historyHash) };
  }
}

export function hashOf(history: string): number {
  return hash('sha256', history, 'buffer').readUInt32BE();
}

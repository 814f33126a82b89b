import { createHash } from 'node:crypto';
import type { Position } from './position.ts';

/** What a token names: a position, and the hash of its history. */
export interface ReadToken {
  readonly lsn: bigint;
  readonly historyHash: string;
}

/** The token of a caller whose position could not be found out: its reads are as new as those without a token. */
export const latest = 'latest';

const form = /^wal_([0-9a-f]{16})([0-9a-f]{16})$/;

/** Returns the token of a position. */
export function tokenOf({ lsn, history }: Position): string {
  return `wal_${lsn.toString(16).padStart(16, '0')}${hashOf(history)}`;
}

/** Reads a token; undefined where it is none. */
export function readTokenOf(text: string): ReadToken | undefined {
  const [, lsn, historyHash] = form.exec(text) ?? [];
  return lsn && historyHash ? { lsn: BigInt(`0x${lsn}`), historyHash } : undefined;
}

const hashes = new Map<string, string>();

/** Returns the hash of a history. There are few histories. */
export function hashOf(history: string): string {
  let hash = hashes.get(history);
  if (hash === undefined) {
    hash = createHash('sha256').update(history).digest('hex').slice(0, 16);
    hashes.set(history, hash);
  }
  return hash;
}

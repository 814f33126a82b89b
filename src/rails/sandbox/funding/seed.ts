import { createHash } from 'node:crypto';

/**
 * Derives 32 bytes for one purpose of one quote or account. Identical owners and purposes produce identical bytes, so
 * nothing is stored; different ones differ. They serve as a private key if a payment instruction needs one.
 */
export function seedOf(owner: string, purpose: string): Buffer {
  return createHash('sha256').update(`sandbox funding ${purpose} ${owner}`).digest();
}

/** Returns a number of exactly `count` decimal digits (at most 18) from a seed. */
export function digitsOf(seed: Buffer, count: number): string {
  return (seed.readBigUInt64BE(0) % 10n ** BigInt(count)).toString().padStart(count, '0');
}

import { hash } from 'node:crypto';
import { keyedOperation } from '../../core/idempotency.ts';
import type { Caller } from '../access/caller.ts';
import type { Operation } from '../access/operations.ts';

/**
 * The ids of orders are the idempotency keys of providers. They derive from what a client repeats, so that a payment
 * that was made before a database was restored, and is made again after it, has the same order (decision 76).
 */

/**
 * Returns the id of the order that a command makes: the same for the same idempotency key. Without a key, nothing says
 * that a command repeats another one, and `fresh` is the id.
 */
export function orderIdOfKey(
  caller: Caller,
  command: { readonly operation: Operation; readonly idempotencyKey: string | null | undefined },
  fresh: string,
): string {
  const { operation, idempotencyKey: key } = command;
  return key === null || key === undefined
    ? fresh
    : derivedId(caller.platformId, keyedOperation(caller, operation), key);
}

export function orderIdOfQuote(quote: { readonly platformId: string; readonly id: string }): string {
  return derivedId(quote.platformId, 'quote', quote.id);
}

/** Returns the id of the order that follows another one, as a payout follows its pull. */
export function nextOrderId(order: { readonly platformId: string; readonly id: string }): string {
  return derivedId(order.platformId, 'next', order.id);
}

export function depositId(platformId: string, reference: string): string {
  return derivedId(platformId, 'deposit', reference);
}

/** Returns a UUID of version 8 (RFC 9562) made from the SHA-256 of the parts. */
function derivedId(...parts: readonly string[]): string {
  const digits = hash('sha256', JSON.stringify(parts), 'hex');
  const variant = ((Number.parseInt(digits.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    `${variant}${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ].join('-');
}

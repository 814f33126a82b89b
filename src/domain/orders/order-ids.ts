import { hash } from 'node:crypto';
import { keyedOperation } from '../../core/idempotency.ts';
import { hyphenated } from '../../core/ids.ts';
import type { Caller } from '../access/caller.ts';
import type { Operation } from '../access/operations.ts';

// Order ids serve as idempotency keys at providers. They are derived from values that a client sends again when it
// retries a payment. A payment that is retried after a database restore therefore gets its previous order id.

/** Returns the id of a command's order: the same id for the same idempotency key, or `fresh` if there is no key. */
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

/** Returns the id of a quote's order. It is known before the order exists, because a rate lock refers to it. */
export function orderIdOfQuote(quote: { readonly platformId: string; readonly id: string }): string {
  return derivedId(quote.platformId, 'quote', quote.id);
}

/** Returns the id of the order that follows the given one, such as a payout after its pull. */
export function nextOrderId(order: { readonly platformId: string; readonly id: string }): string {
  return derivedId(order.platformId, 'next', order.id);
}

/** Returns a deposit's id, which is the same whenever the rail reports the same reference. */
export function depositId(platformId: string, reference: string): string {
  return derivedId(platformId, 'deposit', reference);
}

/** Derives a version 8 UUID (RFC 9562) from the SHA-256 of the parts. */
function derivedId(...parts: readonly string[]): string {
  const digits = hash('sha256', JSON.stringify(parts), 'hex');
  const variant = ((Number.parseInt(digits.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return hyphenated(`${digits.slice(0, 12)}8${digits.slice(13, 16)}${variant}${digits.slice(17, 32)}`);
}

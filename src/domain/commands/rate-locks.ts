import type { Prisma } from '../../infra/database/generated/client/client.ts';
import { type Quote, trustedJson } from '../../infra/database/rows.ts';
import type { RateLock } from '../../rails/rate-lock.ts';

/** The rate locked by the rail (decision 83), as stored with a quote: amounts are strings of digits. */
export type StoredLock = { readonly [Field in keyof RateLock]: string };

/** Returns a rate lock in the form in which a quote stores it. */
export function storedLock({ reference, sent, received, rate, fees }: RateLock): StoredLock {
  return { reference, sent: String(sent), received: String(received), rate, fees: String(fees) };
}

/** Returns the rate lock that a quote stores, or undefined. */
export function lockOf(stored: Prisma.JsonValue | undefined): RateLock | undefined {
  if (stored === null || stored === undefined) return undefined;
  const { reference, sent, received, rate, fees } = trustedJson<StoredLock>(stored);
  return { reference, sent: BigInt(sent), received: BigInt(received), rate, fees: BigInt(fees) };
}

export type Lockable = Partial<Pick<Quote, 'rateLock'>>;

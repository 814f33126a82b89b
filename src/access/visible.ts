import { matchesNothing } from '../core/conditions.ts';
import type { Prisma } from '../database/generated/client/client.ts';
import type { Event } from '../database/rows.ts';
import { whereApiTokens } from './api-token-records.ts';
import type { Viewer } from './viewer.ts';

/**
 * What a caller can see, in one place: each list, getter, node, reference, stream and mutation asks here. What is not
 * visible is not there: it looks unknown.
 */

/** What of a caller decides that, and nothing else of it does. */
export type Scope = Pick<Viewer, 'platformId' | 'bound'>;

export function visibleQuotes({ platformId, bound }: Scope): Prisma.QuoteWhereInput {
  switch (bound.kind) {
    case 'PLATFORM':
      return { platformId };
    case 'CUSTOMER':
      return { platformId, customerId: bound.customerId };
    case 'PAYMENT':
      return { platformId, transactionId: bound.transactionId };
  }
}

export function visibleTransactions({ platformId, bound }: Scope): Prisma.TransactionWhereInput {
  switch (bound.kind) {
    case 'PLATFORM':
      return { platformId };
    case 'CUSTOMER':
      return { platformId, customerId: bound.customerId };
    case 'PAYMENT':
      return { platformId, id: bound.transactionId };
  }
}

/** The token of one payment shows the payment, not whose it is. */
export function visibleCustomers({ platformId, bound }: Scope): Prisma.CustomerWhereInput {
  switch (bound.kind) {
    case 'PLATFORM':
      return { platformId };
    case 'CUSTOMER':
      return { platformId, id: bound.customerId };
    case 'PAYMENT':
      return { platformId, ...matchesNothing };
  }
}

export function visibleAccounts({ platformId, bound }: Scope): Prisma.AccountWhereInput {
  switch (bound.kind) {
    case 'PLATFORM':
      return { platformId };
    case 'CUSTOMER':
      return { platformId, customerId: bound.customerId };
    case 'PAYMENT':
      return { platformId, ...matchesNothing };
  }
}

/** Lookups are made by servers, for quotes that they make, and endpoints are the platform's own business: an app sees none. */
export function visibleToPlatform({ platformId, bound }: Scope): { platformId: string } {
  return bound.kind === 'PLATFORM' ? { platformId } : { platformId, ...matchesNothing };
}

export function visibleApiTokens({ platformId, permissions }: Viewer): Prisma.ApiTokenWhereInput {
  return permissions.includes('MANAGE') ? whereApiTokens(platformId, {}) : { platformId, ...matchesNothing };
}

/** Events of quotes carry their transaction, so one condition holds for both. */
export function visibleEvents({ platformId, bound }: Scope): Prisma.EventWhereInput {
  switch (bound.kind) {
    case 'PLATFORM':
      return { platformId };
    case 'CUSTOMER':
      return { platformId, customerId: bound.customerId };
    case 'PAYMENT':
      return { platformId, transactionId: bound.transactionId };
  }
}

/** As `visibleEvents`, for one event in hand. */
export function maySeeEvent({ platformId, bound }: Scope, event: Event): boolean {
  if (event.platformId !== platformId) return false;
  switch (bound.kind) {
    case 'PLATFORM':
      return true;
    case 'CUSTOMER':
      return event.customerId === bound.customerId;
    case 'PAYMENT':
      return event.transactionId === bound.transactionId;
  }
}

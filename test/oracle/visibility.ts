import type { Prisma } from '../../src/infra/database/generated/client/client.ts';
import type { PlainViewer } from './viewer.ts';

/**
 * Who may see what, from the documents: a platform's token sees all of its platform, a customer's app the customer's data, and
 * the app of one payment its quote and its transaction with their events, and nothing else. Invisible objects do not exist.
 */

const nothing = { id: { in: [] as string[] } };

export function quotesSeenBy({ platformId, bound }: PlainViewer): Prisma.QuoteWhereInput {
  if (bound.kind === 'PAYMENT') return { platformId, transactionId: bound.transactionId };
  return bound.kind === 'CUSTOMER' ? { platformId, customerId: bound.customerId } : { platformId };
}

export function transactionsSeenBy({ platformId, bound }: PlainViewer): Prisma.TransactionWhereInput {
  if (bound.kind === 'PAYMENT') return { platformId, id: bound.transactionId };
  return bound.kind === 'CUSTOMER' ? { platformId, customerId: bound.customerId } : { platformId };
}

export function customersSeenBy({ platformId, bound }: PlainViewer): Prisma.CustomerWhereInput {
  if (bound.kind === 'PAYMENT') return nothing;
  return bound.kind === 'CUSTOMER' ? { platformId, id: bound.customerId } : { platformId };
}

export function accountsSeenBy({ platformId, bound }: PlainViewer): Prisma.AccountWhereInput {
  if (bound.kind === 'PAYMENT') return nothing;
  return bound.kind === 'CUSTOMER' ? { platformId, customerId: bound.customerId } : { platformId };
}

export function eventsSeenBy({ platformId, bound }: PlainViewer): Prisma.EventWhereInput {
  if (bound.kind === 'PAYMENT') return { platformId, transactionId: bound.transactionId };
  return bound.kind === 'CUSTOMER' ? { platformId, customerId: bound.customerId } : { platformId };
}

/** Lookups are the business of servers; an app that may look receivers up sees those for its customer's payments. */
export function lookupsSeenBy({ platformId, kind, bound, looksUp }: PlainViewer): Prisma.LookupWhereInput {
  if (bound.kind === 'CUSTOMER' && looksUp) return { platformId, senderCustomerId: bound.customerId };
  return kind === 'PLATFORM' ? { platformId } : nothing;
}

/** Webhook endpoints are the business of servers. */
export function endpointsSeenBy({ platformId, kind }: PlainViewer): Prisma.WebhookEndpointWhereInput {
  return kind === 'PLATFORM' ? { platformId } : nothing;
}

/** Client tokens are for those who may manage them. */
export function appsSeenBy({ platformId, permissions }: PlainViewer): Prisma.ClientTokenWhereInput {
  return permissions.includes('MANAGE') ? { platformId } : nothing;
}

/** API tokens are for those who may manage them. */
export function tokensSeenBy({ platformId, permissions }: PlainViewer): Prisma.ApiTokenWhereInput {
  return permissions.includes('MANAGE') ? { platformId, revokedAt: null } : nothing;
}

/** Policies are for those who may set them; of customers and of the platform, for all servers, and for the app of the customer. */
export function policiesSeenBy({ platformId, kind, bound, permissions }: PlainViewer): Prisma.PolicyWhereInput {
  if (bound.kind === 'CUSTOMER') return { platformId, subjectType: 'Customer', subjectId: bound.customerId };
  if (kind === 'CLIENT') return nothing;
  return permissions.includes('MANAGE')
    ? { platformId }
    : { platformId, subjectType: { in: ['Customer', 'Platform'] } };
}

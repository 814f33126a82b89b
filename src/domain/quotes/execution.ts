import type { Prisma } from '../../infra/database/generated/client/client.ts';
import type { Quote } from '../../infra/database/rows.ts';
import type { Rail } from '../../rails/rail.ts';
import { debit, type Flow } from '../commands/movements.ts';
import { type Lockable, lockOf } from '../commands/rate-locks.ts';
import type { Journal, Plan } from '../ledger/plan.ts';
import { expectedMs, firstAskMs } from '../orders/orders.ts';
import type { Target } from './quote-destination.ts';

/** The fields of a quote that its execution needs, all of which are fixed when the quote is created. */
export type Executable = Pick<
  Quote,
  | 'platformId'
  | 'id'
  | 'transactionId'
  | 'sendingCurrency'
  | 'receivingCurrency'
  | 'totalSendingAmount'
  | 'totalReceivingAmount'
  | 'feesIncluded'
  | 'platformFee'
> &
  Lockable;

export interface ExecutionOptions {
  readonly orderId: string;
  readonly rail: Rail;
  readonly sourceAccountId: string;
  /** The party that the rail pays. */
  readonly target: Target;
  readonly scenario: Prisma.JsonValue;
  readonly reason: string;
  /** The token that executes an existing quote. */
  readonly createdBy?: string | null;
  /** The external deposit for this quote, which is first credited to the source. */
  readonly arrived?: Journal;
  /** Whether the same plan inserts the quote. */
  readonly isNew?: boolean;
}

/**
 * Plans the single execution of a quote, before its expiry: debit, statuses and order (specification 3.1, decision 50).
 */
export function execution(quote: Executable, options: ExecutionOptions): Plan {
  const { rail, reason, target, scenario, sourceAccountId, createdBy, isNew = false } = options;
  const railRequest = { step: 'SETTLEMENT', ...target, scenario } as const;
  const order = {
    platformId: quote.platformId,
    id: options.orderId,
    transactionId: quote.transactionId,
    kind: 'PAYOUT' as const,
    scenario,
    rateLock: quote.rateLock ?? null,
    dueInMs: firstAskMs(rail, railRequest),
  };
  const flow: Flow = {
    transactionId: quote.transactionId,
    sourceAccountId,
    sendingCurrency: quote.sendingCurrency,
    sent: quote.totalSendingAmount,
    fees: quote.feesIncluded,
    platformFee: quote.platformFee,
    receivingCurrency: quote.receivingCurrency,
    received: quote.totalReceivingAmount,
    lockedSent: lockOf(quote.rateLock)?.sent,
  };
  return {
    quotes: [{ id: quote.id, from: ['PENDING'], to: 'PROCESSING', expiry: 'before', reason, isNew }],
    transactions: [
      {
        id: quote.transactionId,
        from: ['PENDING'],
        to: 'PROCESSING',
        reason,
        expectedInMs: expectedMs(rail, railRequest),
        isNew,
        ...(createdBy && { set: { createdBy } }),
      },
    ],
    journals: [...(options.arrived ? [options.arrived] : []), debit(flow)],
    insert: { rail_order: [order] },
  };
}

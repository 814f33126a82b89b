import type { Prisma } from '../../database/generated/client/client.ts';
import type { Quote } from '../../database/rows.ts';
import type { Journal, Plan } from '../../ledger/plan.ts';
import type { Rail } from '../../rails/rail.ts';
import { debit, type Flow } from '../movements.ts';
import { firstAskMs } from '../orders/orders.ts';
import type { Target } from './quote-destination.ts';

/** What of a quote its execution needs: all of it is fixed when the quote is made. */
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
>;

export interface ExecutionOptions {
  readonly orderId: string;
  readonly rail: Rail;
  readonly sourceAccountId: string;
  /** Where the rail delivers to. */
  readonly target: Target;
  /** What the sandbox is asked to do to it, or null. */
  readonly scenario: Prisma.JsonValue;
  /** Why it is executed, for the timeline. */
  readonly reason: string;
  /** Money that arrived from outside for this quote, credited to the source first. */
  readonly arrived?: Journal;
  /** The quote is inserted by the same plan. */
  readonly isNew?: boolean;
}

/**
 * The part of a plan that executes a quote (specification 3.1, decision 50): before its expiry, once, the source is
 * debited, quote and transaction are PROCESSING, and the rail has its order.
 */
export function execution(quote: Executable, options: ExecutionOptions): Plan {
  const { rail, reason, target, scenario, sourceAccountId, isNew = false } = options;
  const railRequest = { step: 'SETTLEMENT', ...target, scenario } as const;
  const order = {
    platformId: quote.platformId,
    id: options.orderId,
    transactionId: quote.transactionId,
    kind: 'PAYOUT' as const,
    scenario,
    dueInMs: firstAskMs(rail, railRequest),
  };
  const flow: Flow = {
    transactionId: quote.transactionId,
    sourceAccountId,
    sendingCurrency: quote.sendingCurrency,
    sent: quote.totalSendingAmount,
    fees: quote.feesIncluded,
    platformFee: quote.platformFee,
    platformAccountId: undefined,
    receivingCurrency: quote.receivingCurrency,
    received: quote.totalReceivingAmount,
    destinationAccountId: undefined,
  };
  return {
    quotes: [{ id: quote.id, from: ['PENDING'], to: 'PROCESSING', expiry: 'before', reason, isNew }],
    transactions: [
      {
        id: quote.transactionId,
        from: ['PENDING'],
        to: 'PROCESSING',
        reason,
        expectedInMs: rail.expectedMs(railRequest),
        isNew,
      },
    ],
    journals: [...(options.arrived ? [options.arrived] : []), debit(flow)],
    insert: { rail_order: [order] },
  };
}

import type { Quote } from '../database/rows.ts';
import type { Plan } from '../ledger/plan.ts';
import type { OutsideAccount, Rail } from '../rails/rail.ts';
import { debit, deposit, type Flow } from './movements.ts';

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
  /** Where the rail delivers to; undefined when the destination is an account here. */
  readonly outside: OutsideAccount | undefined;
  /** Why it is executed, for the timeline. */
  readonly reason: string;
  /** Money that arrived from outside for this quote, credited to the source first. */
  readonly depositAmount?: bigint;
  /** The quote is inserted by the same plan. */
  readonly fresh?: boolean;
}

/**
 * The part of a plan that executes a quote (specification 3.1, domain-facts 6.2): before its expiry, once, the source is
 * debited, quote and transaction are PROCESSING, and the rail has its order.
 */
export function execution(quote: Executable, options: ExecutionOptions) {
  const { rail, reason, outside, sourceAccountId, fresh = false } = options;
  const order = {
    platformId: quote.platformId,
    id: options.orderId,
    transactionId: quote.transactionId,
    kind: 'PAYOUT' as const,
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
  const arrived =
    options.depositAmount === undefined
      ? []
      : [deposit(sourceAccountId, quote.sendingCurrency, options.depositAmount, quote.transactionId)];
  return {
    quotes: [{ id: quote.id, from: ['PENDING'], to: 'PROCESSING', expiry: 'before', reason, fresh }],
    transactions: [
      {
        id: quote.transactionId,
        from: ['PENDING'],
        to: 'PROCESSING',
        reason,
        expectedInMs: rail.expectedMs({ account: outside, scenario: null }),
        fresh,
      },
    ],
    journals: [...arrived, debit(flow)],
    order,
  } as const satisfies Plan & { order: object };
}

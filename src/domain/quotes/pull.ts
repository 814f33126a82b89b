import type { FailureReason, Prisma } from '../../infra/database/generated/client/client.ts';
import type { Transaction } from '../../infra/database/rows.ts';
import { debit, deposit, type Flow } from '../commands/movements.ts';
import type { Plan, QuoteMove } from '../ledger/plan.ts';
import { nextOrderId } from '../orders/order-ids.ts';
import type { Executable } from './execution.ts';

/**
 * Payments from an external account (specification 2.7, decision 30). The money is pulled into the internal account of
 * its owner in that currency, then converted and paid out from there. Until the pull has settled, no account here is
 * debited or credited.
 */

/** Plans the execution of a quote from an external account: it is PROCESSING, and the rail gets an order to pull. */
export function planPull(
  quote: Executable,
  options: {
    readonly orderId: string;
    /** The estimated total time of pull and payout, in milliseconds. */
    readonly expectedInMs: number;
    /** When the rail is first queried, in milliseconds from now. */
    readonly dueInMs: number;
    /** The sandbox scenario, or null. The pull order also keeps it for the payout. */
    readonly scenario: Prisma.JsonValue;
    /** The token that executes an existing quote. */
    readonly createdBy?: string | null;
    /** Whether the same plan inserts the quote. */
    readonly isNew?: boolean;
  },
): Plan {
  const reason = 'executed: the money is being pulled from the external account';
  const { orderId, expectedInMs, dueInMs, scenario, createdBy, isNew = false } = options;
  const order = {
    platformId: quote.platformId,
    id: orderId,
    transactionId: quote.transactionId,
    kind: 'COLLECTION' as const,
    scenario,
    dueInMs,
  };
  return {
    quotes: [{ id: quote.id, from: ['PENDING'], to: 'PROCESSING', expiry: 'before', reason, isNew }],
    transactions: [
      {
        ...{ id: quote.transactionId, from: ['PENDING'], to: 'PROCESSING', reason, expectedInMs, isNew },
        ...(createdBy && { set: { createdBy } }),
      },
    ],
    insert: { rail_order: [order] },
  };
}

/**
 * Plans the steps after a settled pull: the money is credited, debited and converted, and the rail gets a payout order.
 */
export function planPayout(
  flow: Flow,
  order: {
    readonly platformId: string;
    readonly id: string;
    readonly scenario: Prisma.JsonValue;
  },
): Plan {
  const { platformId, id, scenario } = order;
  const payout = {
    platformId,
    id: nextOrderId(order),
    transactionId: flow.transactionId,
    kind: 'PAYOUT',
    scenario,
  } as const;
  return {
    orders: [{ id, dueInMs: null }],
    insert: { rail_order: [payout] },
    journals: [deposit(flow.sourceAccountId, flow.sendingCurrency, flow.sent, flow.transactionId), debit(flow)],
  };
}

/** Plans the steps after a failed pull: the payment fails, and there is nothing to refund. */
export function planPullFailure(
  transaction: Transaction,
  orderId: string,
  failure: { readonly explanation: string; readonly failureReason?: FailureReason | undefined },
): Plan {
  const reason = `the money could not be pulled: ${failure.explanation}`;
  const failureReason = failure.failureReason ?? 'QUOTE_EXECUTION_FAILED';
  return {
    orders: [{ id: orderId, dueInMs: null }],
    transactions: [{ id: transaction.id, from: ['PROCESSING'], to: 'FAILED', reason, set: { failureReason } }],
    quotes: quoteMoves(transaction, 'FAILED', reason),
  };
}

/** Plans the end of a payment's quote, if it has one. */
export function quoteMoves({ quoteId }: Transaction, to: 'COMPLETED' | 'FAILED', reason: string): QuoteMove[] {
  return quoteId === null ? [] : [{ id: quoteId, from: ['PROCESSING'], to, reason }];
}

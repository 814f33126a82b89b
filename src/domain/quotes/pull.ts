import type { FailureReason, Prisma } from '../../infra/database/generated/client/client.ts';
import type { Transaction } from '../../infra/database/rows.ts';
import { debit, deposit, type Flow } from '../commands/movements.ts';
import type { Plan, QuoteMove } from '../ledger/plan.ts';
import { nextOrderId } from '../orders/order-ids.ts';

/**
 * Payments from an external account (specification 2.7, decision 30). The money is pulled into the internal account of
 * its owner in that currency, then converted and paid out from there. Until the pull has settled, no internal account
 * is debited or credited.
 */

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

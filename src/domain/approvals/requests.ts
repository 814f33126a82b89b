import type { Account, Transaction } from '../../infra/database/rows.ts';
import { type Queryable, statement } from '../../infra/database/statement.ts';
import type { RateLock } from '../../rails/rail-parts.ts';
import type { Caller } from '../access/caller.ts';
import { debit, delivery, flowOf, refund, refundOf, transfer } from '../commands/movements.ts';
import { mergePlans, type Plan } from '../ledger/plan.ts';
import { directArrival, receivedAmount } from './incoming.ts';

// Payments that a policy holds for approval by a second person. They are CREATED until then (commands/command.ts).

/** A payment that awaits approval, with the data that is needed to end it. */
interface Waiting {
  readonly transaction: Transaction;
  /** Its order; null if a deposit will execute its quote. */
  readonly orderId: string | null;
  /** The internal account that pays for it. */
  readonly sourceAccountId: string | null;
  readonly lock: RateLock | undefined;
  readonly isReserved: boolean;
}

interface Approvable extends Waiting {
  readonly source: Account | null;
  readonly destination: Account | null;
  /** The id for the receiving transaction, if the receiver's account is internal. */
  readonly newId: string;
}

const reservedStatement = statement<object>(
  'reserved_money',
  'select from journal where platform_id = $1 and transaction_id = $2 limit 1',
);

/** Returns whether an unapproved payment's money is reserved: the reservation is the only journal it can have. */
export async function isMoneyReserved(on: Queryable, { platformId, id }: Transaction): Promise<boolean> {
  return (await reservedStatement(on, platformId, id)).length > 0;
}

/**
 * Plans the start of an approved payment, just as its command would have started it. All requirements are checked
 * again. The database refuses late approvals, and approvers who are not allowed to approve the payment
 * (may_approve.sql).
 */
export function planApproval(caller: Caller, found: Approvable, expectedInMs: number | undefined): Plan {
  const { transaction, orderId, source, destination, isReserved } = found;
  const { id, platformId, quoteId, type } = transaction;
  const isBetween = quoteId === null && source?.kind === 'INTERNAL' && destination?.kind === 'INTERNAL';
  const accounts = [source, destination].filter((account) => account !== null);
  const kind = (of: Account['kind']) => accounts.filter((account) => account.kind === of).map((account) => account.id);
  const owners = new Set([transaction, ...accounts].map(({ customerId }) => customerId).filter((one) => one !== null));
  const approved: Plan = {
    requireActive: {
      // The platform's own account can receive money from any customer.
      customers: isBetween && destination.customerId === null ? [] : [...owners],
      accounts: kind('EXTERNAL'),
      unfrozen: kind('INTERNAL'),
    },
    ...(destination?.kind === 'INTERNAL' &&
      !isBetween && { capacity: [{ account: destination.id, amount: receivedAmount(transaction) }] }),
    transactions: [
      {
        ...{ id, from: ['CREATED'], approval: 'before', makers: caller.makers, reason: 'approved', expectedInMs },
        to: isBetween ? 'COMPLETED' : quoteId !== null && orderId !== null ? 'PROCESSING' : 'PENDING',
        set: { decidedById: caller.tokenId, approvalDueAt: null },
      },
    ],
    orders: orderId === null ? [] : [{ id: orderId, dueInMs: isBetween ? null : 0, begins: true }],
  };
  // A pull's or a deposit's money has not arrived yet.
  if (type === 'INCOMING' || source?.kind !== 'INTERNAL') return approved;
  const flow = flowOf(transaction, source.id, found.lock);
  if (!isBetween) return isReserved ? approved : { ...approved, journals: [debit(flow)] };
  const left = isReserved ? delivery(flow) : transfer(source.id, flow.sendingCurrency, flow.sent, id);
  const arrival = { platformId, transaction, newId: found.newId, fundingAccountId: source.id };
  return mergePlans({ ...approved, journals: [left] }, directArrival(arrival, destination));
}

/** Plans the end of an unapproved payment: reserved money is refunded, and its order never reaches the rail. */
export function planEnd(
  waiting: Waiting,
  to: 'REJECTED' | 'EXPIRED',
  reason: string,
  decidedById?: string | null,
): Plan {
  const { transaction, orderId, isReserved } = waiting;
  const { id, quoteId } = transaction;
  const quoteEnd = { from: ['PENDING', 'PROCESSING'], to: to === 'EXPIRED' ? 'EXPIRED' : 'FAILED', reason } as const;
  return {
    transactions: [
      {
        ...{ id, from: ['CREATED'], to, reason, ...(to === 'REJECTED' && { approval: 'before' }) },
        set: {
          ...(to === 'EXPIRED' && { failureReason: 'PAYMENT_APPROVAL_TIMED_OUT' }),
          ...(decidedById && { decidedById }),
          ...(isReserved && refundOf(transaction)),
        },
      },
    ],
    quotes: quoteId === null ? [] : [{ id: quoteId, ...quoteEnd }],
    orders: orderId === null ? [] : [{ id: orderId, dueInMs: null }],
    journals: isReserved ? [refund(flowOf(transaction, waiting.sourceAccountId, waiting.lock))] : [],
  };
}

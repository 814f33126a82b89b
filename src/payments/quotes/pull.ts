import type { FieldPath } from '../../core/path.ts';
import { Refusal } from '../../core/refusal.ts';
import type { FailureReason, Prisma } from '../../database/generated/client/client.ts';
import type { Account, Transaction } from '../../database/rows.ts';
import type { Plan } from '../../ledger/plan.ts';
import { accountTypes } from '../accounts/account-types.ts';
import { debit, deposit, type Flow } from '../movements.ts';
import type { Executable } from './execution.ts';

/**
 * Payments whose source is an account outside (specification 2.7, decision 30): the money is pulled from it into its
 * owner's internal account of that currency, converted and paid out from there. Until the pull has settled, nothing here
 * is debited or credited.
 */

/** Refuses a source outside that cannot be pulled from: only banks give money on request. */
export function checkPullable(account: Account, path: FieldPath): void {
  if (account.accountType !== null && accountTypes[account.accountType].beneficiary) return;
  throw new Refusal(
    'INVALID_INPUT',
    'money cannot be pulled from a wallet: quote with real-time funding and pay by one of its payment instructions',
    { path },
  );
}

/** The part of a plan that executes such a quote: quote and transaction are PROCESSING, and the rail is to pull. */
export function pull(
  quote: Executable,
  options: {
    readonly orderId: string;
    /** About how long the pull and the payout will take together, in milliseconds. */
    readonly expectedInMs: number;
    /** When the rail is asked first, in milliseconds from now. */
    readonly dueInMs: number;
    /** What the sandbox is asked to do to the payout, or null: the pull's order only keeps it until then. */
    readonly scenario: Prisma.JsonValue;
    /** The quote is inserted by the same plan. */
    readonly isNew?: boolean;
  },
): Plan {
  const reason = 'executed: the money is being pulled from the account outside';
  const { orderId, expectedInMs, dueInMs, scenario, isNew = false } = options;
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
    transactions: [{ id: quote.transactionId, from: ['PENDING'], to: 'PROCESSING', reason, expectedInMs, isNew }],
    insert: { rail_order: [order] },
  };
}

/** Pulled: the money is credited to the flow's source account, debited and converted, and the rail is to pay it out. */
export function pulled(
  flow: Flow,
  order: {
    readonly platformId: string;
    readonly id: string;
    readonly nextId: string;
    readonly scenario: Prisma.JsonValue;
  },
): Plan {
  const { platformId, id, nextId, scenario } = order;
  return {
    orders: [{ id, dueInMs: null }],
    insert: { rail_order: [{ platformId, id: nextId, transactionId: flow.transactionId, kind: 'PAYOUT', scenario }] },
    journals: [deposit(flow.sourceAccountId, flow.sendingCurrency, flow.sent, flow.transactionId), debit(flow)],
  };
}

/** Not pulled: the payment fails, and there is nothing to give back. */
export function notPulled(
  transaction: Transaction,
  orderId: string,
  why: { readonly explanation: string; readonly failureReason?: FailureReason | undefined },
): Plan {
  const reason = `the money could not be pulled: ${why.explanation}`;
  const { id, quoteId } = transaction;
  const failureReason = why.failureReason ?? 'QUOTE_EXECUTION_FAILED';
  return {
    orders: [{ id: orderId, dueInMs: null }],
    transactions: [{ id, from: ['PROCESSING'], to: 'FAILED', reason, set: { failureReason } }],
    quotes: quoteId ? [{ id: quoteId, from: ['PROCESSING'], to: 'FAILED', reason }] : [],
  };
}

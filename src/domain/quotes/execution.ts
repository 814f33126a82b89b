import type { Prisma } from '../../infra/database/generated/client/client.ts';
import type { Account, Quote } from '../../infra/database/rows.ts';
import type { Rail } from '../../rails/rail.ts';
import type { Caller } from '../access/caller.ts';
import { type Payments, railOf } from '../commands/command.ts';
import { debit, type Flow, lockOf } from '../commands/movements.ts';
import { toRailAccount } from '../commands/parties.ts';
import { spendOf } from '../commands/spending.ts';
import type { Journal, NewOrder, NewRow, Plan, Spend } from '../ledger/plan.ts';
import { expectedMs, firstAskMs } from '../orders/orders.ts';
import type { Route, Target } from './quote-destination.ts';

interface StartOptions {
  readonly orderId: string;
  readonly rail: Rail;
  readonly target: Target;
  readonly scenario: Prisma.JsonValue;
  readonly reason: string;
  /** The token with which an existing quote is executed. */
  readonly createdBy?: string | null;
  /** Whether the same plan inserts the quote. */
  readonly isNew?: boolean;
}

/** Plans the statuses and the order for a quote's only execution, before its expiry (specification 3.1, decision 50). */
function begin(
  quote: NewRow<Quote>,
  { orderId, scenario, reason, createdBy, isNew = false }: Omit<StartOptions, 'rail' | 'target'>,
  order: Pick<NewOrder, 'kind' | 'dueInMs' | 'rateLock'>,
  expectedInMs: number,
): Plan {
  const { platformId, id, transactionId } = quote;
  return {
    quotes: [{ id, from: ['PENDING'], to: 'PROCESSING', expiry: 'before', reason, isNew }],
    transactions: [
      {
        ...{ id: transactionId, from: ['PENDING'], to: 'PROCESSING', reason, expectedInMs, isNew },
        ...(createdBy && { set: { createdBy } }),
      },
    ],
    insert: { rail_order: [{ platformId, id: orderId, transactionId, scenario, ...order }] },
  };
}

/**
 * Plans the execution of a quote whose money is in an internal account: it is debited, and the rail gets an order to
 * pay it out.
 * @param arrived the external deposit for this quote, which is first credited to the source
 */
export function execution(
  quote: NewRow<Quote>,
  options: StartOptions & { readonly sourceAccountId: string; readonly arrived?: Journal },
): Plan {
  const { rail, target, scenario, sourceAccountId, arrived } = options;
  const railRequest = { step: 'SETTLEMENT', ...target, scenario } as const;
  const order = { kind: 'PAYOUT', rateLock: quote.rateLock ?? null, dueInMs: firstAskMs(rail, railRequest) } as const;
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
    ...begin(quote, options, order, expectedMs(rail, railRequest)),
    journals: [...(arrived ? [arrived] : []), debit(flow)],
  };
}

/** Returns the rail, which can pay out and, if the source is external, pull. @throws Refusal SERVICE_UNAVAILABLE */
export function payingRail(payments: Payments, caller: Caller, source: Account): Rail {
  return railOf(payments, caller, 'payOut', ...(source.kind === 'EXTERNAL' ? (['collect'] as const) : []));
}

/** Starts a payment: debits an internal account, or gives the rail an order to pull from an external account. */
export function start(quote: NewRow<Quote>, source: Account, options: StartOptions): Plan {
  if (source.kind === 'INTERNAL') return execution(quote, { ...options, sourceAccountId: source.id });
  const { rail, target, scenario } = options;
  const railRequest = { step: 'PULL', account: toRailAccount(source), umaAddress: undefined, scenario } as const;
  const payMs = expectedMs(rail, { step: 'SETTLEMENT', ...target, scenario });
  const reason = 'executed: the money is being pulled from the external account';
  // The pull order also keeps the scenario for the payout.
  const order = { kind: 'COLLECTION', dueInMs: firstAskMs(rail, railRequest) } as const;
  return begin(quote, { ...options, reason }, order, expectedMs(rail, railRequest) + payMs);
}

/**
 * Returns what a quote's payment requires: customers who may move money (the sender, and the owner of the receiving
 * account), accounts that are not frozen (and ACTIVE, if they are external), and capacity for the amount.
 */
export function requirements(
  { sender, source }: { readonly sender: string | null | undefined; readonly source: Account | undefined },
  { receivers, accounts, internalAccountId }: Route,
  { totalReceivingAmount: amount }: Pick<Quote, 'totalReceivingAmount'>,
) {
  const customers = [...new Set([sender, ...receivers])].filter((id) => id !== null && id !== undefined);
  const internal = [source?.kind === 'INTERNAL' ? source.id : undefined, internalAccountId];
  return {
    requireActive: {
      customers,
      accounts: source?.kind === 'EXTERNAL' ? [source.id, ...accounts] : [...accounts],
      unfrozen: internal.filter((id) => id !== undefined),
    },
    capacity: internalAccountId === undefined ? undefined : [{ account: internalAccountId, amount }],
  };
}

export function spendOfQuote(caller: Caller, quote: NewRow<Quote>, to: Account | null | undefined): Spend {
  const { transactionId, customerId = null, totalSendingAmount: amount, sendingCurrency: currency } = quote;
  const payment = { transactionId, customerId, amount, currency, until: quote.expiresAt };
  return spendOf(caller, 'QUOTE', { ...payment, umaAddress: quote.destinationUmaAddress, to });
}

import { paymentReference } from '../../core/ids.ts';
import type { FailureReason } from '../../database/generated/client/client.ts';
import { trustedJson } from '../../database/trusted-json.ts';
import { mergePlans } from '../../ledger/merge-plans.ts';
import type { Journal, Plan, PlanGroup, TransactionMove } from '../../ledger/plan.ts';
import { arrivalJournals, directArrival, receiverMove } from '../approvals/incoming.ts';
import { bankReturn, delivery, deposit, type Flow, refund, suspension } from '../movements.ts';
import { type DueOrder, isPull } from '../orders/orders.ts';
import { notPulled, pulled } from '../quotes/pull.ts';

/** What an order's outcome means for both sides of its payment: statuses and money, in one commit. */

const open = ['PENDING', 'PROCESSING'] as const;

/** Delivered. `watchMs`: the rail says that it may still come back within so long. */
export function delivered(order: DueOrder, watchMs: number | undefined): PlanGroup {
  if (isPull(order)) return alone(order, pulled(flowOf(order), { ...order, nextId: order.newId }));
  const { transaction, incoming } = order;
  const reason = 'delivered';
  const move: TransactionMove = { id: transaction.id, from: open, to: 'COMPLETED', reason };
  // Only what has left this installation can come back from a bank.
  const leaves = order.kind === 'PAYOUT' && !incoming && order.destination?.kind !== 'INTERNAL';
  const orders = [{ id: order.id, dueInMs: leaves ? (watchMs ?? null) : null }];
  if (order.kind === 'COLLECTION') {
    return alone(order, { orders, transactions: [move], journals: collected(order) });
  }
  const flow = flowOf(order);
  const quotes = transaction.quoteId
    ? [{ id: transaction.quoteId, from: ['PROCESSING'] as const, to: 'COMPLETED' as const, reason }]
    : [];
  if (incoming) {
    const known = {
      ...asFacts(transaction.counterpartyInformation),
      ...givenFacts(incoming.transaction.requestedInformation),
    };
    const movedAndKnown = { ...move, set: { counterpartyInformation: known } };
    return together(
      order.platformId,
      { orders, quotes, transactions: [movedAndKnown], journals: [delivery(flow)] },
      incoming.transaction.platformId,
      {
        transactions: [receiverMove(incoming.transaction, 'COMPLETED', 'received')],
        journals: arrivalJournals(incoming),
      },
    );
  }
  const to = order.destination;
  if (to?.kind === 'INTERNAL' && to.customerId !== transaction.customerId) {
    // Its receiver has a transaction of its own, so the money leaves this one's books on one side and enters on the other.
    const arrival = directArrival(order, to);
    const sent: Plan = { orders, quotes, transactions: [move], journals: [delivery(flow)] };
    return alone(order, mergePlans(sent, arrival));
  }
  const here = to?.kind === 'INTERNAL' ? to.id : undefined;
  return alone(order, {
    orders,
    quotes,
    transactions: [move],
    journals: [delivery({ ...flow, destinationAccountId: here })],
  });
}

export interface Undoing {
  readonly to: 'FAILED' | 'REJECTED';
  readonly reason: string;
  /** Of the sending side; QUOTE_EXECUTION_FAILED when left out. */
  readonly failureReason?: FailureReason | undefined;
  /** Of the receiving side; OFFRAMP_FAILED when left out. */
  readonly incomingReason?: FailureReason | undefined;
  /** The rail has not given the money back. */
  readonly moneyStuck?: boolean | undefined;
}

/** Not delivered: the money goes back to its source (or waits in suspense), and the receiving side ends alike. */
export function failed(order: DueOrder, undoing: Undoing): PlanGroup {
  const { transaction, incoming } = order;
  const { to, reason, failureReason } = undoing;
  if (isPull(order)) return alone(order, notPulled(transaction, order.id, { explanation: reason, failureReason }));
  const orders = [{ id: order.id, dueInMs: null }];
  const receiving =
    incoming && (open as readonly string[]).includes(incoming.transaction.status)
      ? [receiverMove(incoming.transaction, to, reason, undoing.incomingReason ?? otherwise(order))]
      : [];
  if (order.kind === 'COLLECTION') return alone(order, { orders, transactions: receiving });
  const flow = flowOf(order);
  const stuck = undoing.moneyStuck === true;
  const move: TransactionMove = {
    id: transaction.id,
    from: open,
    to,
    reason: stuck ? `${reason}; the money has not come back and waits in suspense` : reason,
    refundWaits: stuck,
    set: {
      ...(to === 'FAILED' && { failureReason: failureReason ?? 'QUOTE_EXECUTION_FAILED' }),
      ...refundOf(order),
    },
  };
  const quotes = transaction.quoteId
    ? [{ id: transaction.quoteId, from: ['PROCESSING'] as const, to: 'FAILED' as const, reason }]
    : [];
  const sending: Plan = { orders, quotes, transactions: [move], journals: [stuck ? suspension(flow) : refund(flow)] };
  if (!incoming || receiving.length === 0) return alone(order, sending);
  return together(order.platformId, sending, incoming.transaction.platformId, { transactions: receiving });
}

/** Delivered, and come back from the bank: COMPLETED becomes REFUNDED, and the delivery and the debit are undone. */
export function returned(order: DueOrder, reason: string): PlanGroup {
  const { transaction, platformAccount } = order;
  // The platform's part of the fees is taken back where it is still there; otherwise the service bears it.
  const flow = { ...flowOf(order), platformAccountId: platformAccount?.canReturnFee ? platformAccount.id : undefined };
  return alone(order, {
    orders: [{ id: order.id, dueInMs: null }],
    transactions: [{ id: transaction.id, from: ['COMPLETED'], to: 'REFUNDED', reason, set: refundOf(order) }],
    journals: [bankReturn(flow), refund(flow)],
  });
}

/** The order has its outcome, or needs none any more. */
export function close(order: DueOrder): PlanGroup {
  return alone(order, { orders: [{ id: order.id, dueInMs: null }] });
}

/** A transfer-in pulls from an account, and fails as every payment does; a payment that was sent to us fails here. */
function otherwise({ transaction }: DueOrder): FailureReason {
  return transaction.type === 'INCOMING' && transaction.sourceKind === 'ACCOUNT'
    ? 'QUOTE_EXECUTION_FAILED'
    : 'OFFRAMP_FAILED';
}

function collected({ incoming, transaction }: DueOrder): Journal[] {
  if (transaction.sourceKind === 'UMA_ADDRESS' && incoming) return arrivalJournals(incoming);
  const { destinationAccountId, receivedCurrency, receivedAmount, id } = transaction;
  if (destinationAccountId === null || receivedAmount === null) throw new Error(`collection ${id} has no destination`);
  return [deposit(destinationAccountId, receivedCurrency, receivedAmount, id)];
}

function refundOf({ transaction }: DueOrder) {
  return { refundReference: `REFUND-${paymentReference(transaction.id)}`, refundAmount: transaction.sentAmount };
}

/** The money of an outgoing payment. */
export function flowOf(order: DueOrder): Flow {
  const { transaction, fundingAccountId } = order;
  const { id, sentAmount, sentCurrency, receivedAmount } = transaction;
  if (sentAmount === null || sentCurrency === null || receivedAmount === null || fundingAccountId === undefined) {
    throw new Error(`outgoing transaction ${id} lacks one of its sides`);
  }
  return {
    transactionId: id,
    sourceAccountId: fundingAccountId,
    sendingCurrency: sentCurrency,
    sent: sentAmount,
    fees: transaction.fees ?? 0n,
    platformFee: order.platformFee,
    platformAccountId: order.platformAccount?.id,
    receivingCurrency: transaction.receivedCurrency,
    received: receivedAmount,
    destinationAccountId: undefined,
  };
}

/** Written as a map of names and values. */
function asFacts(information: unknown): Record<string, string> {
  return trustedJson<Record<string, string>>(information ?? {});
}

/** What the receiving platform told when it approved. */
function givenFacts(requested: unknown): Record<string, string> {
  const fields = trustedJson<readonly { readonly name: string; readonly value?: string }[]>(requested ?? []);
  return Object.fromEntries(fields.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
}

function alone(order: DueOrder, plan: Plan): PlanGroup {
  return [{ platformId: order.platformId, plan }];
}

/** Two sides in one commit; as one plan where they are of one platform, so that its locks are taken in one order. */
function together(platformId: string, plan: Plan, otherPlatformId: string, other: Plan): PlanGroup {
  if (platformId !== otherPlatformId) {
    return [
      { platformId, plan },
      { platformId: otherPlatformId, plan: other },
    ];
  }
  return [{ platformId, plan: mergePlans(plan, other) }];
}

import type { FailureReason } from '../../infra/database/generated/client/client.ts';
import { type Transaction, trustedJson } from '../../infra/database/rows.ts';
import type { RailOutcome } from '../../rails/rail.ts';
import {
  announcedTransaction,
  arrivalJournals,
  directArrival,
  receivedAmount,
  receiverFields,
  receiverMove,
} from '../approvals/incoming.ts';
import { type Payments, railOf } from '../commands/command.ts';
import type { Flow } from '../commands/movements.ts';
import * as movements from '../commands/movements.ts';
import { inMajor } from '../commands/plan-refusals.ts';
import type { PlanRefusal } from '../ledger/commit.ts';
import {
  type Journal,
  mergePlans,
  type Plan,
  type PlanGroup,
  type QuoteMove,
  type TransactionMove,
} from '../ledger/plan.ts';
import { nextOrderId } from '../orders/order-ids.ts';
import { type DueOrder, isPull, railAnswer, railRequest } from '../orders/orders.ts';

// The plans for an order's outcomes. Each changes statuses and moves money on both sides of the payment, in one commit.

/**
 * Plans the next step after a settled pull from an external account. The money is credited to the owner's internal
 * account in the same currency, debited from it and converted, and the rail gets a payout order.
 */
export function planPayout(flow: Flow, order: Pick<DueOrder, 'platformId' | 'id' | 'scenario'>): Plan {
  const { platformId, id, scenario } = order;
  const { transactionId } = flow;
  return {
    orders: [{ id, dueInMs: null }],
    insert: { rail_order: [{ platformId, id: nextOrderId(order), transactionId, kind: 'PAYOUT', scenario }] },
    journals: [
      movements.deposit(flow.sourceAccountId, flow.sendingCurrency, flow.sent, transactionId),
      movements.debit(flow),
    ],
  };
}

/** Plans the end of a payment's quote, if it has one. */
function quoteMoves({ quoteId }: Transaction, to: 'COMPLETED' | 'FAILED', reason: string): QuoteMove[] {
  return quoteId === null ? [] : [{ id: quoteId, from: ['PROCESSING'], to, reason }];
}

const openStatuses = ['PENDING', 'PROCESSING'] as const;

type Settled = Pick<Extract<RailOutcome, { kind: 'settled' }>, 'watchMs' | 'information'>;

/** Plans what follows an order's delivery: the payout of a pulled payment, or the end of a payment. */
export function planDelivery(order: DueOrder, { watchMs, information }: Settled): PlanGroup {
  if (isPull(order)) return groupOf(order, planPayout(flowOfOrder(order), order));
  const { transaction, incoming } = order;
  const isPayout = order.kind === 'PAYOUT';
  const facts = isPayout && incoming ? approvedFacts(incoming.transaction.requestedInformation) : information;
  const known = transaction.counterpartyInformation;
  const move: TransactionMove = {
    ...{ id: transaction.id, from: openStatuses, to: 'COMPLETED', reason: 'delivered' },
    ...(facts && {
      set: { counterpartyInformation: { ...trustedJson<Record<string, string>>(known ?? {}), ...facts } },
    }),
  };
  const to = isPayout && !incoming && order.destination?.kind === 'INTERNAL' ? order.destination : undefined;
  // Only money that has left this installation can be returned by a bank.
  const isReturnable = isPayout && !incoming && !to;
  const sent: Plan = {
    orders: [{ id: order.id, dueInMs: isReturnable ? (watchMs ?? null) : null }],
    quotes: quoteMoves(transaction, 'COMPLETED', 'delivered'),
    transactions: [move],
  };
  if (!isPayout) return groupOf(order, { ...sent, journals: collectionJournals(order) });
  // If the receiver is someone else, the money leaves in the sender's transaction and arrives in the receiver's own.
  const isOwn = to?.customerId === transaction.customerId;
  const plan = {
    ...sent,
    journals: [movements.delivery({ ...flowOfOrder(order), destinationAccountId: isOwn ? to?.id : undefined })],
  };
  if (incoming) {
    return combineSides(order.platformId, plan, incoming.transaction.platformId, {
      transactions: [receiverMove(incoming.transaction, 'COMPLETED', 'received')],
      journals: arrivalJournals(incoming),
    });
  }
  return groupOf(order, to && !isOwn ? mergePlans(plan, directArrival(order, to)) : plan);
}

export interface Failure {
  readonly to: 'FAILED' | 'REJECTED';
  readonly reason: string;
  /** The sending side's reason; QUOTE_EXECUTION_FAILED if omitted. */
  readonly failureReason?: FailureReason | undefined;
  /** The receiving side's reason; OFFRAMP_FAILED if omitted. */
  readonly incomingReason?: FailureReason | undefined;
  /** Whether the rail has failed to return the money. */
  readonly moneyStuck?: boolean | undefined;
}

/** Plans the end of an undelivered payment on both sides: its money is returned, or goes to suspense. */
export function planFailure(order: DueOrder, failure: Failure): PlanGroup {
  const { transaction, incoming } = order;
  const { to, reason, failureReason = 'QUOTE_EXECUTION_FAILED', moneyStuck = false } = failure;
  const orders = [{ id: order.id, dueInMs: null }];
  if (isPull(order)) {
    // There is nothing to refund.
    const why = `the money could not be pulled: ${reason}`;
    const move = {
      id: transaction.id,
      from: ['PROCESSING'],
      to: 'FAILED',
      reason: why,
      set: { failureReason },
    } as const;
    return groupOf(order, { orders, transactions: [move], quotes: quoteMoves(transaction, 'FAILED', why) });
  }
  const receiving =
    incoming && (openStatuses as readonly string[]).includes(incoming.transaction.status)
      ? [receiverMove(incoming.transaction, to, reason, failure.incomingReason ?? defaultReason(order))]
      : [];
  if (order.kind === 'COLLECTION') return groupOf(order, { orders, transactions: receiving });
  const flow = flowOfOrder(order);
  const move: TransactionMove = {
    ...{ id: transaction.id, from: openStatuses, to, refundWaits: moneyStuck },
    reason: moneyStuck ? `${reason}; the money has not been returned and is held in suspense` : reason,
    set: { ...(to === 'FAILED' && { failureReason }), ...movements.refundOf(transaction) },
  };
  const sending: Plan = {
    orders,
    quotes: quoteMoves(transaction, 'FAILED', reason),
    transactions: [move],
    journals: [moneyStuck ? movements.suspension(flow) : movements.refund(flow)],
  };
  if (!incoming || receiving.length === 0) return groupOf(order, sending);
  return combineSides(order.platformId, sending, incoming.transaction.platformId, { transactions: receiving });
}

/** Plans a bank's return of a delivered payment, which becomes REFUNDED. Its delivery and debit are reversed. */
export function planReturn(order: DueOrder, reason: string): PlanGroup {
  const { transaction, platformAccountId, canReturnFee } = order;
  // The platform returns its share of the fees if its account still holds enough. Otherwise the service bears the loss.
  const flow = { ...flowOfOrder(order), platformAccountId: canReturnFee ? platformAccountId : null };
  return groupOf(order, {
    orders: [{ id: order.id, dueInMs: null }],
    transactions: [
      { id: transaction.id, from: ['COMPLETED'], to: 'REFUNDED', reason, set: movements.refundOf(transaction) },
    ],
    journals: [movements.bankReturn(flow), movements.refund(flow)],
  });
}

/** Plans a payment's announcement to the receiver's platform. The sender's order waits for that platform's decision. */
export function planAnnouncement(payments: Payments, order: DueOrder): PlanGroup {
  const { transaction, senderUmaAddress, newId: id, depositAccountId, receiverIsActive } = order;
  const { receiverPlatformId: platformId, receiverCustomerId: customerId } = order;
  const isKnown = platformId !== null && customerId !== null && senderUmaAddress !== null;
  if (!isKnown || !receiverIsActive || depositAccountId === null) {
    return planFailure(order, { to: 'REJECTED', reason: 'the receiver cannot receive this payment' });
  }
  const incoming = announcedTransaction(
    {
      ...{ platformId, id, customerId },
      sourceUmaAddress: senderUmaAddress,
      counterpartyInformation: order.senderInformation ?? {},
      requested: receiverFields,
      destinationAccountId: depositAccountId,
      receivedCurrency: transaction.receivedCurrency,
      receivedAmount: receivedAmount(transaction),
      description: transaction.description,
    },
    payments.approvalMs,
  );
  const sender = { senderPlatformId: order.platformId, senderTransactionId: transaction.id };
  const plan = {
    // The receiver may have been deleted or frozen since the order was read.
    requireActive: { customers: [customerId], unfrozen: [depositAccountId] },
    insert: { transaction: [incoming], arrival: [{ platformId, transactionId: id, ...sender }] },
  };
  const waiting = { orders: [{ id: order.id, dueInMs: payments.approvalMs }] };
  return [{ platformId, plan }, ...groupOf(order, waiting)];
}

export function planClose(order: DueOrder): PlanGroup {
  return groupOf(order, { orders: [{ id: order.id, dueInMs: null }] });
}

/** Returns the receiving side's default failure reason. For a transferIn, it is the same as for an outgoing payment. */
function defaultReason({ transaction }: DueOrder): FailureReason {
  return transaction.type === 'INCOMING' && transaction.sourceKind === 'ACCOUNT'
    ? 'QUOTE_EXECUTION_FAILED'
    : 'OFFRAMP_FAILED';
}

function collectionJournals({ incoming, transaction }: DueOrder): Journal[] {
  if (transaction.sourceKind === 'UMA_ADDRESS' && incoming) return arrivalJournals(incoming);
  const { destinationAccountId, receivedCurrency, receivedAmount, id } = transaction;
  if (destinationAccountId === null || receivedAmount === null) throw new Error(`collection ${id} has no destination`);
  return [movements.deposit(destinationAccountId, receivedCurrency, receivedAmount, id)];
}

export function flowOfOrder({ transaction, fundingAccountId, platformFee, platformAccountId, lock }: DueOrder): Flow {
  return {
    ...movements.flowOf(transaction, fundingAccountId, lock),
    platformFee: platformFee ?? 0n,
    platformAccountId,
  };
}

function approvedFacts(requested: unknown): Record<string, string> {
  const fields = trustedJson<readonly { readonly name: string; readonly value?: string }[]>(requested ?? []);
  return Object.fromEntries(fields.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
}

function groupOf(order: DueOrder, plan: Plan): PlanGroup {
  return [{ platformId: order.platformId, plan }];
}

/** Combines both sides into one commit. Sides on the same platform form one plan, to take locks in a fixed order. */
function combineSides(platformId: string, plan: Plan, otherPlatformId: string, other: Plan): PlanGroup {
  if (platformId === otherPlatformId) return [{ platformId, plan: mergePlans(plan, other) }];
  return [
    { platformId, plan },
    { platformId: otherPlatformId, plan: other },
  ];
}

/** An order's conclusion: the rail's answer, if the rail was queried, and the plans that follow. */
export interface Conclusion {
  readonly order: DueOrder;
  readonly outcome: RailOutcome | undefined;
  readonly group: PlanGroup;
}

/** A credit that the database refused: the balance would exceed its limit, or the customer is deleted. */
type CreditRefusal = Extract<PlanRefusal, { code: 'AMOUNT_OUT_OF_RANGE' | 'CUSTOMER_DELETED' }>;

/** Returns whether a plan was refused because an account cannot receive a credit. */
export function isCreditRefused(refusal: PlanRefusal): refusal is CreditRefusal {
  return refusal.code === 'AMOUNT_OUT_OF_RANGE' || refusal.code === 'CUSTOMER_DELETED';
}

/**
 * Concludes an order again after the database refused its outcome because an account cannot receive the money
 * (check_balances.sql). Collected money is returned by the rail; money debited from an internal account is refunded to
 * it. If the refund cannot be credited either, because the customer has been deleted or the balance would exceed even
 * the limit for refunds, it is held in suspense for an operator. Each of these outcomes credits less than the one
 * before, and the last credits nothing, so every order ends.
 * @throws whatever the rail throws when it is asked to return money
 */
export async function concludeWithoutCredit(
  payments: Payments,
  { order, outcome, group }: Conclusion,
  refusal: CreditRefusal,
): Promise<Conclusion> {
  if (group.some(({ plan }) => plan.journals?.some(isRefund))) {
    payments.log.error({ order: order.id, refusal }, 'a refund is held in suspense: the account cannot receive it');
    return { order, outcome, group: group.map((one) => ({ ...one, plan: suspendRefund(order, one.plan) })) };
  }
  if (outcome?.kind === 'settled' && isShareOnly(order, refusal.id)) {
    // The payment is delivered anyway, and the service keeps the fees that the platform's account cannot receive.
    payments.log.error({ order: order.id, refusal }, "the platform's fee was not paid: the account cannot receive it");
    const withoutShare = { ...order, platformAccountId: null };
    return { order: withoutShare, outcome, group: planDelivery(withoutShare, outcome) };
  }
  // This text is shown to the sender, who may be on a different platform, so it reveals neither the receiver's account
  // nor its balance.
  const why =
    refusal.code === 'CUSTOMER_DELETED'
      ? 'the receiving customer is deleted'
      : `the receiving account may hold at most ${inMajor(refusal.limit, refusal.currency)}`;
  const reason = `${why}; the money went back to its source`;
  // The payment does not end until the rail has returned the money.
  if (order.kind === 'COLLECTION')
    await railAnswer(railOf(payments, order, 'giveBack').giveBack(railRequest(order, true)));
  return { order, outcome, group: planFailure(order, { to: 'FAILED', reason }) };
}

/** Returns whether an account takes part in a payment only as the platform's fee account. */
function isShareOnly({ platformAccountId, destination, incoming }: DueOrder, accountId: string): boolean {
  return platformAccountId === accountId && ![destination?.id, incoming?.destination?.id].includes(accountId);
}

/** Returns the plan with its refund replaced by a suspension, as if the rail had not returned the money. */
function suspendRefund(order: DueOrder, plan: Plan): Plan {
  const { journals = [], transactions = [] } = plan;
  const why = 'the account cannot receive the refund, which is held in suspense';
  return {
    ...plan,
    journals: journals.map((journal) => (isRefund(journal) ? movements.suspension(flowOfOrder(order)) : journal)),
    transactions: transactions.map((move) =>
      move.set?.refundReference ? { ...move, refundWaits: true, reason: `${move.reason}; ${why}` } : move,
    ),
  };
}

function isRefund({ kind }: Journal): boolean {
  return kind === 'refund';
}

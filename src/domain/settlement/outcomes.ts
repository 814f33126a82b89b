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
import {
  bankReturn,
  debit,
  delivery,
  deposit,
  type Flow,
  flowOf,
  refund,
  refundOf,
  suspension,
} from '../commands/movements.ts';
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
import { type DueOrder, isPull, type Receiver, railAnswer, railRequest } from '../orders/orders.ts';

/**
 * Payments from an external account (specification 2.7, decision 30). The money is pulled into the internal account of
 * its owner in that currency, then converted and paid out from there. Until the pull has settled, no internal account
 * is debited or credited.
 */

/**
 * Plans the steps after a settled pull: the money is credited, debited and converted, and the rail gets a payout order.
 */
export function planPayout(flow: Flow, order: Pick<DueOrder, 'platformId' | 'id' | 'scenario'>): Plan {
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
function planPullFailure(
  { id, transaction }: DueOrder,
  { reason: why, failureReason = 'QUOTE_EXECUTION_FAILED' }: Failure,
): Plan {
  const reason = `the money could not be pulled: ${why}`;
  return {
    orders: [{ id, dueInMs: null }],
    transactions: [{ id: transaction.id, from: ['PROCESSING'], to: 'FAILED', reason, set: { failureReason } }],
    quotes: quoteMoves(transaction, 'FAILED', reason),
  };
}

/** Plans the end of a payment's quote, if it has one. */
function quoteMoves({ quoteId }: Transaction, to: 'COMPLETED' | 'FAILED', reason: string): QuoteMove[] {
  return quoteId === null ? [] : [{ id: quoteId, from: ['PROCESSING'], to, reason }];
}

/** The plans for an order's outcomes: statuses and money on both sides of its payment, in one commit. */

const openStatuses = ['PENDING', 'PROCESSING'] as const;

type Settled = Pick<Extract<RailOutcome, { kind: 'settled' }>, 'watchMs' | 'information'>;

/** Plans what follows once an order is delivered: the payout of a pulled payment, or the end of a payment. */
export function planDelivery(order: DueOrder, { watchMs, information }: Settled): PlanGroup {
  if (isPull(order)) return groupOf(order, planPayout(flowOfOrder(order), order));
  const { transaction, incoming } = order;
  const reason = 'delivered';
  const move: TransactionMove = {
    ...{ id: transaction.id, from: openStatuses, to: 'COMPLETED', reason },
    ...(information && {
      set: { counterpartyInformation: { ...readFacts(transaction.counterpartyInformation), ...information } },
    }),
  };
  // Only money that has left this installation can be returned by a bank.
  const leaves = order.kind === 'PAYOUT' && !incoming && order.destination?.kind !== 'INTERNAL';
  const orders = [{ id: order.id, dueInMs: leaves ? (watchMs ?? null) : null }];
  if (order.kind === 'COLLECTION') {
    return groupOf(order, { orders, transactions: [move], journals: collectionJournals(order) });
  }
  const flow = flowOfOrder(order);
  const quotes = quoteMoves(transaction, 'COMPLETED', reason);
  if (incoming) {
    const facts = {
      ...readFacts(transaction.counterpartyInformation),
      ...approvedFacts(incoming.transaction.requestedInformation),
    };
    const moveWithFacts = { ...move, set: { counterpartyInformation: facts } };
    return combineSides(
      order.platformId,
      { orders, quotes, transactions: [moveWithFacts], journals: [delivery(flow)] },
      incoming.transaction.platformId,
      {
        transactions: [receiverMove(incoming.transaction, 'COMPLETED', 'received')],
        journals: arrivalJournals(incoming),
      },
    );
  }
  const to = order.destination;
  if (to?.kind === 'INTERNAL' && to.customerId !== transaction.customerId) {
    // The receiver has its own transaction: the money leaves through the sender's and arrives through the receiver's.
    const arrival = directArrival(order, to);
    const sent: Plan = { orders, quotes, transactions: [move], journals: [delivery(flow)] };
    return groupOf(order, mergePlans(sent, arrival));
  }
  const internalAccountId = to?.kind === 'INTERNAL' ? to.id : undefined;
  return groupOf(order, {
    orders,
    quotes,
    transactions: [move],
    journals: [delivery({ ...flow, destinationAccountId: internalAccountId })],
  });
}

export interface Failure {
  readonly to: 'FAILED' | 'REJECTED';
  readonly reason: string;
  /** The sending side's reason; QUOTE_EXECUTION_FAILED if omitted. */
  readonly failureReason?: FailureReason | undefined;
  /** The receiving side's reason; OFFRAMP_FAILED if omitted. */
  readonly incomingReason?: FailureReason | undefined;
  /** Whether the rail has not returned the money. */
  readonly moneyStuck?: boolean | undefined;
}

/** Plans the end of an undelivered payment on both sides: its money is returned, or goes to suspense. */
export function planFailure(order: DueOrder, failure: Failure): PlanGroup {
  const { transaction, incoming } = order;
  const { to, reason, failureReason } = failure;
  if (isPull(order)) return groupOf(order, planPullFailure(order, failure));
  const orders = [{ id: order.id, dueInMs: null }];
  const receiving =
    incoming && (openStatuses as readonly string[]).includes(incoming.transaction.status)
      ? [receiverMove(incoming.transaction, to, reason, failure.incomingReason ?? defaultReason(order))]
      : [];
  if (order.kind === 'COLLECTION') return groupOf(order, { orders, transactions: receiving });
  const flow = flowOfOrder(order);
  const stuck = failure.moneyStuck === true;
  const move: TransactionMove = {
    id: transaction.id,
    from: openStatuses,
    to,
    reason: stuck ? `${reason}; the money has not been returned and waits in suspense` : reason,
    refundWaits: stuck,
    set: {
      ...(to === 'FAILED' && { failureReason: failureReason ?? 'QUOTE_EXECUTION_FAILED' }),
      ...refundOf(order.transaction),
    },
  };
  const quotes = quoteMoves(transaction, 'FAILED', reason);
  const sending: Plan = { orders, quotes, transactions: [move], journals: [stuck ? suspension(flow) : refund(flow)] };
  if (!incoming || receiving.length === 0) return groupOf(order, sending);
  return combineSides(order.platformId, sending, incoming.transaction.platformId, { transactions: receiving });
}

/** Plans the bank's return of a delivered payment: REFUNDED, with delivery and debit reversed. */
export function planReturn(order: DueOrder, reason: string): PlanGroup {
  const { transaction, platformAccountId, canReturnFee } = order;
  // The platform's part of the fees is taken back if the platform's account still holds it; otherwise the service bears
  // it.
  const flow = { ...flowOfOrder(order), platformAccountId: canReturnFee ? platformAccountId : null };
  return groupOf(order, {
    orders: [{ id: order.id, dueInMs: null }],
    transactions: [
      { id: transaction.id, from: ['COMPLETED'], to: 'REFUNDED', reason, set: refundOf(order.transaction) },
    ],
    journals: [bankReturn(flow), refund(flow)],
  });
}

/** Plans the announcement of a payment to its receiver's platform here. The sender's order waits for the decision. */
export function planAnnouncement(payments: Payments, order: DueOrder, receiver: Receiver): PlanGroup {
  const { transaction, senderUmaAddress } = order;
  const { depositAccountId } = receiver;
  if (!receiver.isReceiverActive || depositAccountId === null || senderUmaAddress === null) {
    return planFailure(order, { to: 'REJECTED', reason: 'the receiver cannot receive this payment' });
  }
  const incoming = announcedTransaction(
    {
      platformId: receiver.platformId,
      id: order.newId,
      customerId: receiver.customerId,
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
  const arrival = {
    platformId: receiver.platformId,
    transactionId: incoming.id,
    senderPlatformId: order.platformId,
    senderTransactionId: transaction.id,
  };
  return [
    {
      platformId: receiver.platformId,
      plan: {
        // The receiver may have been deleted or frozen since the order was read.
        requireActive: { customers: [receiver.customerId], unfrozen: [depositAccountId] },
        insert: { transaction: [incoming], arrival: [arrival] },
      },
    },
    { platformId: order.platformId, plan: { orders: [{ id: order.id, dueInMs: payments.approvalMs }] } },
  ];
}

export function planClose(order: DueOrder): PlanGroup {
  return groupOf(order, { orders: [{ id: order.id, dueInMs: null }] });
}

/** Returns the receiving side's default failure reason; a transferIn uses that of an outgoing payment. */
function defaultReason({ transaction }: DueOrder): FailureReason {
  return transaction.type === 'INCOMING' && transaction.sourceKind === 'ACCOUNT'
    ? 'QUOTE_EXECUTION_FAILED'
    : 'OFFRAMP_FAILED';
}

function collectionJournals({ incoming, transaction }: DueOrder): Journal[] {
  if (transaction.sourceKind === 'UMA_ADDRESS' && incoming) return arrivalJournals(incoming);
  const { destinationAccountId, receivedCurrency, receivedAmount, id } = transaction;
  if (destinationAccountId === null || receivedAmount === null) throw new Error(`collection ${id} has no destination`);
  return [deposit(destinationAccountId, receivedCurrency, receivedAmount, id)];
}

export function flowOfOrder({ transaction, fundingAccountId, platformFee, platformAccountId, lock }: DueOrder): Flow {
  return { ...flowOf(transaction, fundingAccountId, lock), platformFee: platformFee ?? 0n, platformAccountId };
}

function readFacts(information: unknown): Record<string, string> {
  return trustedJson<Record<string, string>>(information ?? {});
}

function approvedFacts(requested: unknown): Record<string, string> {
  const fields = trustedJson<readonly { readonly name: string; readonly value?: string }[]>(requested ?? []);
  return Object.fromEntries(fields.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
}

function groupOf(order: DueOrder, plan: Plan): PlanGroup {
  return [{ platformId: order.platformId, plan }];
}

/**
 * Combines both sides in one commit. If both are on the same platform, they form one plan, so that locks are taken in a
 * fixed order.
 */
function combineSides(platformId: string, plan: Plan, otherPlatformId: string, other: Plan): PlanGroup {
  if (platformId !== otherPlatformId) {
    return [
      { platformId, plan },
      { platformId: otherPlatformId, plan: other },
    ];
  }
  return [{ platformId, plan: mergePlans(plan, other) }];
}

/** An order's conclusion: its rail's answer, if it was queried, and the plans that follow. */
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
 * (check_balances.sql). The money is returned: by the rail if it was collected, by a refund if an internal account was
 * debited. If the refund cannot be credited either, because the customer has been deleted or the balance would exceed
 * even the limit for refunds, it waits in suspense for an operator. Each of these outcomes credits less than the one
 * before, and the last credits nothing, so an order always ends.
 * @throws whatever the rail throws when it is asked to return money
 */
export async function concludeWithoutCredit(
  payments: Payments,
  { order, outcome, group }: Conclusion,
  refusal: CreditRefusal,
): Promise<Conclusion> {
  if (group.some(({ plan }) => plan.journals?.some(isRefund))) {
    payments.log.error({ order: order.id, refusal }, 'a refund waits in suspense: the account cannot receive it');
    return { order, outcome, group: group.map((one) => ({ ...one, plan: suspendRefund(order, one.plan) })) };
  }
  if (outcome?.kind === 'settled' && isShareOnly(order, refusal.id)) {
    // The payment is delivered anyway: the service keeps the part of the fees that the platform's account cannot
    // receive.
    payments.log.error({ order: order.id, refusal }, "the platform's fee was not paid: the account cannot receive it");
    const withoutShare = { ...order, platformAccountId: null };
    return { order: withoutShare, outcome, group: planDelivery(withoutShare, outcome) };
  }
  // The sender, who may be on a different platform, reads this, so it reveals neither the receiver's account nor its
  // balance.
  const why =
    refusal.code === 'CUSTOMER_DELETED'
      ? 'the receiving customer is deleted'
      : `the receiving account may hold at most ${inMajor(refusal.limit, refusal.currency)}`;
  const reason = `${why}; the money went back to its source`;
  if (order.kind === 'COLLECTION') await giveBack(payments, order);
  return { order, outcome, group: planFailure(order, { to: 'FAILED', reason }) };
}

/** Asks the rail to refund a collection. The payment does not end until this succeeds. */
async function giveBack(payments: Payments, order: DueOrder): Promise<void> {
  await railAnswer(railOf(payments, order, 'giveBack').giveBack(railRequest(order, true)));
}

/** Returns whether an account takes part in a payment only as the platform's account for fees. */
function isShareOnly({ platformAccountId, destination, incoming }: DueOrder, accountId: string): boolean {
  return platformAccountId === accountId && ![destination?.id, incoming?.destination?.id].includes(accountId);
}

/** Returns the same end of the payment, but with its refund in suspense, as if the rail had not returned the money. */
function suspendRefund(order: DueOrder, plan: Plan): Plan {
  return {
    ...plan,
    journals: plan.journals?.map((journal) => (isRefund(journal) ? suspension(flowOfOrder(order)) : journal)) ?? [],
    transactions:
      plan.transactions?.map((move) =>
        move.set?.refundReference
          ? {
              ...move,
              refundWaits: true,
              reason: `${move.reason}; the account cannot receive the refund, which waits in suspense`,
            }
          : move,
      ) ?? [],
  };
}

function isRefund({ kind }: Journal): boolean {
  return kind === 'refund';
}

import { publicId } from '../../core/ids.ts';
import { Slots } from '../../core/slots.ts';
import type { Postponement } from '../../infra/database/leases.ts';
import { retryLostRaces } from '../../infra/database/retry.ts';
import { inSpan } from '../../infra/instruments/spans.ts';
import type { RailOutcome } from '../../rails/rail.ts';
import { platformItself } from '../access/platform-itself.ts';
import {
  type Decision,
  decideUnlessDecided,
  isMoneyReserved,
  planEnd,
  simulatedDecision,
} from '../approvals/approvals.ts';
import type { Payments } from '../commands/command.ts';
import { commitGroups, type PlanRefusal } from '../ledger/commit.ts';
import type { PlanGroup, TransactionMove } from '../ledger/plan.ts';
import {
  type DueOrder,
  isPull,
  leaseOrders,
  performOrder,
  postponeOrders,
  railAnswer,
  railRequest,
  renewLeases,
  wholeMs,
} from '../orders/orders.ts';
import {
  type Contradiction,
  type CredibleOutcome,
  contradictionOf,
  noteCase,
  otherAmount,
  otherOutcome,
} from './cases.ts';
import {
  type Conclusion,
  concludeWithoutCredit,
  isCreditRefused,
  planAnnouncement,
  planClose,
  planDelivery,
  planFailure,
  planReturn,
} from './outcomes.ts';

/** How long an order waits for an operator before its rail is queried again, in milliseconds. */
const caseMs = 60_000;

/**
 * How many orders are passed to rails at once: about as many as a rail has connections (upstream-client.ts). With more,
 * orders would time out while waiting for a connection, and all of them would be sent to a slow provider again.
 */
const askedAtOnce = 32;

/**
 * Leases up to `limit` due orders, queries their rails, and commits the outcomes. An order settles, fails (and the
 * money is returned), or is queried again later. If a process dies, another takes over its orders when their lease
 * expires, after two seconds. No outcome is committed twice, because the first commit changes the payment's status.
 * @returns the number of orders processed
 */
export async function settleDueOrders(payments: Payments, limit: number): Promise<number> {
  const orders = await leaseOrders(payments.database.pool, limit);
  if (orders.length > 0) await inSpan('settle orders', { isRoot: true }, () => settleOrders(payments, orders));
  return orders.length;
}

async function settleOrders(payments: Payments, orders: readonly DueOrder[]): Promise<void> {
  const { pool } = payments.database;
  const leases = renewLeases(pool, orders, payments.log);
  // Announcements do not wait for rails, because the approval period started when the orders were leased.
  const parts = [orders.filter(isToAnnounce), orders.filter((order) => !isToAnnounce(order))];
  const postponements = await Promise.all(parts.map((part) => settleTogether(payments, part)));
  await leases.end();
  await retryLostRaces(() => postponeOrders(pool, postponements.flat()));
}

type Step = Conclusion | Postponement;

async function settleTogether(payments: Payments, orders: readonly DueOrder[]): Promise<Postponement[]> {
  const slots = new Slots(askedAtOnce);
  const settleOne = (order: DueOrder): Promise<Step> =>
    inSpan('settle order', { attributes: attributesOf(order) }, () => settle(payments, order));
  // A failed order does not stop the others.
  const postpone = (order: DueOrder) => (error: unknown) =>
    postponeFailed(payments, order, error, 'could not process an order');
  let steps = await Promise.all(orders.map((order) => slots.run(() => settleOne(order)).catch(postpone(order))));
  const postponements: Postponement[] = [];
  // If an account cannot receive the money, the step is replaced by another, until all the money is accepted.
  while (steps.length > 0) {
    postponements.push(...steps.filter((step) => 'dueInMs' in step));
    const concluded = steps.filter((step) => 'group' in step);
    steps = await commitConcluded(payments, concluded);
  }
  return postponements;
}

/** Returns the attributes of an order's span. Operators can find the span by the payment's id. */
function attributesOf({ id, kind, platformId, transaction, attempts }: DueOrder) {
  return {
    'payments.platform.id': platformId,
    'payments.order.id': id,
    'payments.order.kind': kind,
    'payments.order.attempts': attempts,
    'payments.transaction.id': publicId('Transaction', transaction.id),
  };
}

/**
 * Commits conclusions independently.
 * @returns the next steps: postponements for orders whose conclusions failed, and new conclusions where an account
 *   could not receive the money
 */
async function commitConcluded(payments: Payments, concluded: readonly Conclusion[]): Promise<Step[]> {
  const postpone = ({ order }: Conclusion, error: unknown, message = 'could not settle an order') =>
    postponeFailed(payments, order, error, message);
  const groups = concluded.map(({ group }) => group);
  const results = await commitGroups(payments.database, groups);
  const steps = concluded.map(async (one, position): Promise<Step | undefined> => {
    const result = results[position];
    if (!result) return undefined;
    if (result.code === 'FAILED') return postpone(one, result.error);
    if (!isCreditRefused(result)) return postponeRefused(payments, one, result).catch((error) => postpone(one, error));
    const replacement = concludeWithoutCredit(payments, one, result);
    return replacement.catch((error) => postpone(one, error, 'could not send a refund to the rail'));
  });
  return (await Promise.all(steps)).filter((step) => step !== undefined);
}

/** Postpones an order whose outcome the database refused because something has changed since the order was read. */
async function postponeRefused(payments: Payments, { order, outcome }: Conclusion, refusal: PlanRefusal) {
  const contradiction = outcome && (await contradictionOf(payments.database, order, outcome));
  if (contradiction) await openCase(payments, order, contradiction);
  else payments.log.info({ order: order.id, refusal: refusal.code }, 'an outcome was stale; reading the order again');
  return { lease: order, dueInMs: Math.min(60_000, 100 * 2 ** order.attempts) };
}

async function openCase(payments: Payments, order: DueOrder, contradiction: Contradiction): Promise<void> {
  payments.log.error(
    { order: order.id, ...contradiction },
    'the rail contradicts a recorded outcome; an operator must resolve the case',
  );
  await noteCase(payments.database, order, contradiction).catch((error: unknown) => {
    payments.log.error(
      { err: error, order: order.id },
      "could not store the rail's contradiction; will retry on its next answer",
    );
  });
}

/** Postpones an order after an error. The delay doubles each time, up to five minutes. */
function postponeFailed(payments: Payments, order: DueOrder, error: unknown, message: string): Postponement {
  const dueInMs = Math.min(300_000, 1000 * 2 ** order.attempts);
  payments.log.error({ err: error, order: order.id }, `${message}; will retry in ${dueInMs / 1000} s`);
  return { lease: order, dueInMs };
}

/** Decides an order's next step: a conclusion to commit, or another query later. */
async function settle(payments: Payments, order: DueOrder): Promise<Conclusion | Postponement> {
  const toStep = (next: PlanGroup | Postponement, outcome?: RailOutcome) =>
    'dueInMs' in next ? next : { order, outcome, group: next };
  const next = await planWithoutRail(payments, order);
  if (next) return toStep(next);
  const outcome = await perform(payments, order);
  return toStep(await conclude(payments, order, outcome), outcome);
}

/** Decides an order's next step if it does not depend on the rail; undefined if the rail must be queried. */
async function planWithoutRail(payments: Payments, order: DueOrder): Promise<PlanGroup | Postponement | undefined> {
  const { transaction, incoming } = order;
  switch (transaction.status) {
    case 'CREATED':
      if (transaction.approvalDueAt) return waitForApproval(payments, order);
      if (leftMs(payments, order) > 0) return undefined;
      return planMove(order, null, { to: 'EXPIRED', reason: 'the sender did not send the pay request in time' });
    case 'PENDING':
    case 'PROCESSING':
      break;
    case 'COMPLETED':
      return undefined;
    default:
      // The payment has already ended in some other way.
      return planClose(order);
  }
  // A payment is not announced until its money has been pulled.
  if (isPull(order)) return undefined;
  if (isToAnnounce(order)) return planAnnouncement(payments, order);
  if (!incoming?.transaction.approvalDueAt) return undefined;
  switch (incoming.transaction.status) {
    case 'PENDING': {
      if (incoming.approvalLeftMs > 0) return decideBySimulation(payments, order, incoming.approvalLeftMs);
      if (order.approvalDeferred)
        return planFailure(order, { to: 'REJECTED', reason: 'the platform did not decide in time' });
      const reason = 'the platform neither approved nor rejected it in time';
      return planFailure(order, { to: 'FAILED', reason, incomingReason: 'PAYMENT_APPROVAL_TIMED_OUT' });
    }
    case 'REJECTED':
      return planFailure(order, { to: 'REJECTED', reason: "the receiver's platform rejected it" });
    case 'FAILED':
      return planFailure(order, { to: 'FAILED', reason: 'the receiving side failed' });
    default:
      return undefined;
  }
}

async function waitForApproval({ database }: Payments, order: DueOrder): Promise<PlanGroup | Postponement> {
  const { platformId, id: orderId, transaction, fundingAccountId: sourceAccountId, lock, approvalLeftMs } = order;
  if (approvalLeftMs !== null && approvalLeftMs > 0) return { lease: order, dueInMs: wholeMs(approvalLeftMs) };
  const isReserved = await isMoneyReserved(database.pool, transaction);
  const waiting = { transaction, orderId, sourceAccountId, lock, isReserved };
  return [{ platformId, plan: planEnd(waiting, 'EXPIRED', 'nobody approved it in time') }];
}

/** Returns whether an order's receiver is a customer of this installation whose platform has yet to be notified. */
function isToAnnounce(order: DueOrder): boolean {
  return order.receiverCustomerId !== null && !order.incoming && !order.lock && !isPull(order);
}

async function waitForPerson(payments: Payments, order: DueOrder, contradiction: Contradiction): Promise<Postponement> {
  await openCase(payments, order, contradiction);
  return { lease: order, dueInMs: caseMs };
}

async function conclude(payments: Payments, order: DueOrder, outcome: RailOutcome): Promise<PlanGroup | Postponement> {
  const { status, type, sentCurrency } = order.transaction;
  if (outcome.kind === 'contradiction') return waitForPerson(payments, order, otherOutcome(outcome, status));
  const amount = otherAmount(outcome, railRequest(order, isSettled(order)), sentCurrency);
  if (amount) return waitForPerson(payments, order, amount);
  if (status === 'CREATED') return concludePayRequest(payments, order, outcome);
  switch (outcome.kind) {
    case 'pending':
      return { lease: order, dueInMs: wholeMs(outcome.checkInMs) };
    case 'settled':
      return isSettled(order) ? planClose(order) : planDelivery(order, outcome);
    case 'failed': {
      const { explanation: reason, failureReason, moneyStuck } = outcome;
      return planFailure(order, { to: 'FAILED', reason, failureReason, incomingReason: failureReason, moneyStuck });
    }
    case 'rejected':
      return planFailure(order, { to: 'REJECTED', reason: outcome.explanation });
    case 'returned':
      return type === 'OUTGOING' ? planReturn(order, outcome.explanation) : planClose(order);
  }
}

const isSettled = ({ transaction }: DueOrder) => transaction.status === 'COMPLETED';

/** Asks the rail to perform an order. A failure leaves the outcome unknown, so the rail is queried again. */
async function perform(payments: Payments, order: DueOrder): Promise<RailOutcome> {
  try {
    return await railAnswer(performOrder(payments, order, isSettled(order)));
  } catch (error) {
    payments.log.error({ err: error, order: order.id }, 'a call to the rail failed');
    return { kind: 'pending', checkInMs: Math.min(60_000, 500 * 2 ** order.attempts) };
  }
}

// The sender of a CREATED incoming UMA payment has looked up the receiver, but has not sent the pay request yet. When
// the request arrives, the payment becomes PENDING, and the approval period begins. If it does not arrive within the
// lifetime of a quote, the payment expires.

/** Returns how many milliseconds are left for the pay request to arrive, by the database's clock. */
function leftMs(payments: Payments, order: DueOrder): number {
  return payments.quoteSeconds * 1_000 - order.ageMs;
}

/** Plans the transition after the rail's answer: CREATED → PENDING, CREATED → FAILED, or another query later. */
function concludePayRequest(payments: Payments, order: DueOrder, outcome: CredibleOutcome): PlanGroup | Postponement {
  switch (outcome.kind) {
    case 'pending':
      return { lease: order, dueInMs: Math.min(wholeMs(outcome.checkInMs), leftMs(payments, order)) };
    case 'settled':
      return planMove(order, simulatedDecision(payments, order, order.scenario) ? 0 : payments.approvalMs, {
        to: 'PENDING',
        reason: 'awaits approval by the platform',
        approvalInMs: payments.approvalMs,
      });
    default: {
      const failureReason = (outcome.kind === 'failed' && outcome.failureReason) || 'PAY_REQUEST_FAILED';
      return planMove(order, null, { to: 'FAILED', reason: outcome.explanation, set: { failureReason } });
    }
  }
}

function planMove(order: DueOrder, dueInMs: number | null, to: Omit<TransactionMove, 'id' | 'from'>): PlanGroup {
  const { platformId, id, transaction } = order;
  const transactions: TransactionMove[] = [{ id: transaction.id, from: ['CREATED'], ...to }];
  return [{ platformId, plan: { orders: [{ id, dueInMs }], transactions } }];
}

/** Makes the decision that a waiting payment's scenario specifies, if any. An earlier decision remains in force. */
async function decideBySimulation(payments: Payments, order: DueOrder, leftMs: number): Promise<Postponement> {
  const simulated = simulatedDecision(payments, order, order.scenario);
  if (!simulated) return { lease: order, dueInMs: leftMs };
  const decision: Decision =
    simulated === 'APPROVE' ? { kind: 'approve' } : { kind: 'reject', reason: 'sandbox scenario' };
  await decideUnlessDecided(payments, platformItself(order), order.transaction.id, decision);
  return { lease: order, dueInMs: 0 };
}

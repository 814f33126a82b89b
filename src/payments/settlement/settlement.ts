import { publicId } from '../../core/ids.ts';
import { Slots } from '../../core/slots.ts';
import { retryLostRaces } from '../../database/retry.ts';
import { inSpan } from '../../instruments/spans.ts';
import { commitGroups, type PlanRefusal } from '../../ledger/commit.ts';
import type { PlanGroup } from '../../ledger/plan.ts';
import type { RailOutcome } from '../../rails/rail.ts';
import type { Payments } from '../command.ts';
import {
  type DueOrder,
  isPull,
  leaseOrders,
  nextOrderDue as nextDue,
  type Postponement,
  postponeOrders,
  renewLeases,
  wholeMs,
} from '../orders/orders.ts';
import { railAnswer } from '../orders/rail-answer.ts';
import { railRequest } from '../orders/rail-request.ts';
import { planAnnouncement } from './announcement.ts';
import { type Contradiction, type CredibleOutcome, noteCase, otherAmount, otherOutcome } from './cases.ts';
import { type Conclusion, concludeWithoutCapacity } from './full-account.ts';
import { planClose, planDelivery, planFailure, planReturn } from './outcomes.ts';
import { concludePayRequest, payRequestIsLate, planPayRequestExpiry } from './pay-request.ts';
import { performOrder } from './perform.ts';
import { decideBySimulation } from './simulated-approval.ts';

/** How long an order waits for a person until its rail is asked again, in milliseconds. */
const caseMs = 60_000;

/**
 * About how many orders rails are asked at once: as many as a rail has connections (upstream-client.ts). With more, those that
 * wait for a connection use up their time. A provider that is slow would then answer none of them in time, and all would be sent
 * again.
 */
const askedAtOnce = 32;

/** Returns the milliseconds until the next order is due, or undefined when none waits. */
export function nextOrderDue(payments: Payments): Promise<number | undefined> {
  return nextDue(payments.database.pool);
}

/**
 * Leases up to `limit` due orders, asks their rails, and commits the outcome of each: delivered, failed with the money
 * back at its source, or to be asked again. When a process dies, another takes its orders when their lease ends, two
 * seconds later. A committed outcome is not committed twice, because the transaction has changed its status.
 * @returns the number of orders taken
 */
export async function settleDueOrders(payments: Payments, limit: number): Promise<number> {
  const { pool } = payments.database;
  const orders = await leaseOrders(pool, limit);
  if (orders.length > 0) {
    await inSpan('settle orders', { isRoot: true }, () => settleOrders(payments, orders));
  }
  return orders.length;
}

/** Asks the rail about orders, and commits what it says. */
async function settleOrders(payments: Payments, orders: readonly DueOrder[]): Promise<void> {
  const { pool } = payments.database;
  const leases = renewLeases(pool, orders, payments.log);
  const postponements: Postponement[] = [];
  const concluded: Conclusion[] = [];
  const slots = new Slots(askedAtOnce);
  await Promise.all(
    orders.map(async (order) => {
      let outcome: RailOutcome | undefined;
      try {
        const next = await slots.run(() =>
          inSpan('settle order', { attributes: attributesOf(order) }, () =>
            settle(payments, order, (answer) => {
              outcome = answer;
            }),
          ),
        );
        if ('dueInMs' in next) postponements.push(next);
        else concluded.push({ order, outcome, group: next });
      } catch (error) {
        // A failure of one order does not stop the others.
        postponements.push(postponeFailed(payments, order, error, 'an order could not be worked on'));
      }
    }),
  );
  // A conclusion that an account has no capacity for is replaced, until there is nothing that an account could refuse.
  for (let remaining: readonly Conclusion[] = concluded; remaining.length > 0; )
    remaining = await commitConcluded(payments, remaining, postponements);
  await leases.end();
  await retryLostRaces(() => postponeOrders(pool, postponements));
}

/** The attributes of an order's span. The request that made the payment has its id in its answer. */
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
 * Commits conclusions, each on its own, and postpones those that fail.
 * @returns the conclusions that replace those that an account had no capacity for
 */
async function commitConcluded(
  payments: Payments,
  concluded: readonly Conclusion[],
  postponements: Postponement[],
): Promise<readonly Conclusion[]> {
  const groups = concluded.map(({ group }) => group);
  const errors = new Map<number, unknown>();
  const refusals = await commitGroups(payments.database, groups, (error, position) => errors.set(position, error));
  const replacements = await Promise.all(
    concluded.map(async (one, position) => {
      const refusal = refusals[position];
      if (errors.has(position)) {
        postponements.push(postponeFailed(payments, one.order, errors.get(position), 'an order could not be settled'));
      } else if (refusal?.code === 'AMOUNT_OUT_OF_RANGE') {
        return concludeWithoutCapacity(payments, one, refusal).catch((error: unknown) => {
          postponements.push(
            postponeFailed(payments, one.order, error, 'the rail could not be told to give money back'),
          );
        });
      } else if (refusal) postponements.push(await postponeRefused(payments, one, refusal));
    }),
  );
  return replacements.filter((one) => one !== undefined);
}

/**
 * Postpones an order whose outcome the database refused, because something has changed since the order was read, such
 * as a decision of the platform.
 */
async function postponeRefused(
  payments: Payments,
  { order, outcome }: Conclusion,
  refusal: PlanRefusal,
): Promise<Postponement> {
  const stands = refusal.code === 'CONFLICT' ? String(refusal.status) : refusal.code;
  if (outcome && contradicts(outcome, stands)) await openCase(payments, order, otherOutcome(outcome, stands));
  else payments.log.info({ order: order.id }, 'an outcome came too late; looking again');
  return { order, dueInMs: Math.min(60_000, 100 * 2 ** order.attempts) };
}

/** Notes a contradiction for a person. */
async function openCase(payments: Payments, order: DueOrder, contradiction: Contradiction): Promise<void> {
  payments.log.error(
    { order: order.id, ...contradiction },
    'the rail contradicts what stands; a person must look at it',
  );
  await noteCase(payments.database, order, contradiction).catch((error: unknown) => {
    payments.log.error(
      { err: error, order: order.id },
      'a contradiction could not be noted; it is when it is said again',
    );
  });
}

/** Postpones an order after an error, longer each time: a lasting error is logged every five minutes at most. */
function postponeFailed(payments: Payments, order: DueOrder, error: unknown, message: string): Postponement {
  const dueInMs = Math.min(300_000, 1000 * 2 ** order.attempts);
  payments.log.error({ err: error, order: order.id }, `${message}; it is taken up again in ${dueInMs / 1000} s`);
  return { order, dueInMs };
}

/** Tells whether the answer of the rail about the money contradicts the status or the refusal that stands. */
function contradicts({ kind }: RailOutcome, stands: string): boolean {
  switch (kind) {
    case 'settled':
      return stands !== 'COMPLETED';
    case 'failed':
    case 'rejected':
      return stands !== 'FAILED' && stands !== 'REJECTED';
    default:
      return false;
  }
}

/** Decides what to do about an order now: plans to commit, or another question later. */
async function settle(
  payments: Payments,
  order: DueOrder,
  onOutcome: (outcome: RailOutcome) => void,
): Promise<PlanGroup | Postponement> {
  const { transaction, incoming } = order;
  const askRail = async (settled: boolean) => {
    const outcome = await perform(payments, order, settled);
    onOutcome(outcome);
    if (outcome.kind === 'contradiction') {
      return waitForPerson(payments, order, otherOutcome(outcome, order.transaction.status));
    }
    const amount = otherAmount(outcome, railRequest(order, settled), transaction.sentCurrency);
    if (amount) return waitForPerson(payments, order, amount);
    return conclude(payments, order, outcome);
  };
  switch (transaction.status) {
    case 'CREATED':
      return payRequestIsLate(payments, order) ? planPayRequestExpiry(order) : askRail(false);
    case 'PENDING':
    case 'PROCESSING':
      break;
    case 'COMPLETED':
      return askRail(true);
    default:
      // It has ended in another way.
      return planClose(order);
  }
  // A payment whose money is still to be pulled is not announced yet.
  if (isPull(order)) return askRail(false);
  if (order.receiver && !incoming && !order.lock) return planAnnouncement(payments, order, order.receiver);
  if (incoming?.transaction.approvalDueAt) {
    const { status } = incoming.transaction;
    if (status === 'PENDING' && incoming.approvalLeftMs > 0) {
      return decideBySimulation(payments, order, incoming.approvalLeftMs);
    }
    if (status === 'PENDING' && order.approvalDeferred) {
      return planFailure(order, { to: 'REJECTED', reason: 'the platform did not decide in time' });
    }
    if (status === 'PENDING') {
      const reason = 'the platform neither approved nor rejected it in time';
      return planFailure(order, { to: 'FAILED', reason, incomingReason: 'PAYMENT_APPROVAL_TIMED_OUT' });
    }
    if (status === 'REJECTED') {
      return planFailure(order, { to: 'REJECTED', reason: "the receiver's platform rejected it" });
    }
    if (status === 'FAILED') {
      return planFailure(order, { to: 'FAILED', reason: 'the receiving side failed' });
    }
  }
  return askRail(false);
}

/** Notes a contradiction, and lets its order wait for a person. */
async function waitForPerson(payments: Payments, order: DueOrder, contradiction: Contradiction): Promise<Postponement> {
  await openCase(payments, order, contradiction);
  return { order, dueInMs: caseMs };
}

function conclude(payments: Payments, order: DueOrder, outcome: CredibleOutcome): PlanGroup | Postponement {
  if (order.transaction.status === 'CREATED') return concludePayRequest(payments, order, outcome);
  switch (outcome.kind) {
    case 'pending':
      return { order, dueInMs: wholeMs(outcome.checkInMs) };
    case 'settled':
      return order.transaction.status === 'COMPLETED' ? planClose(order) : planDelivery(order, outcome);
    case 'failed':
      return planFailure(order, {
        to: 'FAILED',
        reason: outcome.explanation,
        failureReason: outcome.failureReason,
        incomingReason: outcome.failureReason,
        moneyStuck: outcome.moneyStuck,
      });
    case 'rejected':
      return planFailure(order, { to: 'REJECTED', reason: outcome.explanation });
    case 'returned':
      return order.transaction.type === 'OUTGOING' ? planReturn(order, outcome.explanation) : planClose(order);
  }
}

/**
 * Asks the rail to perform an order. When it fails nothing is known, so the order is asked about again, later each
 * time.
 */
async function perform(payments: Payments, order: DueOrder, settled: boolean): Promise<RailOutcome> {
  try {
    return await railAnswer(performOrder(payments, order, settled));
  } catch (error) {
    payments.log.error({ err: error, order: order.id }, 'the rail could not be asked');
    return { kind: 'pending', checkInMs: Math.min(60_000, 500 * 2 ** order.attempts) };
  }
}

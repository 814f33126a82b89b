import { retryLostRaces } from '../../database/retry.ts';
import { commitGroups, type PlanRefusal } from '../../ledger/commit.ts';
import type { PlanGroup } from '../../ledger/plan.ts';
import type { RailOutcome } from '../../rails/rail.ts';
import type { Payments } from '../command.ts';
import {
  type DueOrder,
  isPull,
  keepLeases,
  leaseOrders,
  nextOrderDue as nextDue,
  type Postponement,
  postponeOrders,
  wholeMs,
} from '../orders/orders.ts';
import { railAnswer } from '../orders/rail-answer.ts';
import { railRequest } from '../orders/rail-request.ts';
import { announcement } from './announcement.ts';
import { type Concluded, concludedOtherwise } from './no-room.ts';
import { close, delivered, failed, returned } from './outcomes.ts';
import { payRequestConcluded, payRequestExpired, payRequestIsLate } from './pay-request.ts';

/** How many milliseconds until an order is due; undefined when none waits. */
export function nextOrderDue(payments: Payments): Promise<number | undefined> {
  return nextDue(payments.database.pool);
}

/**
 * Takes up to `limit` due orders, asks their rails, and commits what came of each: delivered, failed with the money back
 * at its source, or to be asked again. A process that dies at any point leaves orders that another takes up when their
 * lease ends, two seconds later; an outcome that was committed is not committed twice, since the transaction has moved on.
 * @returns how many orders were taken
 */
export async function settleDueOrders(payments: Payments, limit: number): Promise<number> {
  const { pool } = payments.database;
  const orders = await leaseOrders(pool, limit);
  const leases = keepLeases(pool, orders, payments.log);
  const postponements: Postponement[] = [];
  const concluded: Concluded[] = [];
  await Promise.all(
    orders.map(async (order) => {
      let outcome: RailOutcome | undefined;
      try {
        const next = await settle(payments, order, (heard) => {
          outcome = heard;
        });
        if ('dueInMs' in next) postponements.push(next);
        else concluded.push({ order, outcome, group: next });
      } catch (error) {
        // One order that cannot be understood holds up no other.
        postponements.push(putOff(payments, order, error, 'an order could not be worked on'));
      }
    }),
  );
  // What an account has no room for is concluded otherwise, until there is nothing that an account could refuse.
  for (let trying: readonly Concluded[] = concluded; trying.length > 0; )
    trying = await commitConcluded(payments, trying, postponements);
  await leases.end();
  await retryLostRaces(() => postponeOrders(pool, postponements));
  return orders.length;
}

/**
 * Commits what was concluded, each order on its own, and puts off those of which nothing came.
 * @returns what is to be tried instead of outcomes that an account had no room for
 */
async function commitConcluded(
  payments: Payments,
  concluded: readonly Concluded[],
  postponements: Postponement[],
): Promise<readonly Concluded[]> {
  const groups = concluded.map(({ group }) => group);
  const failed = new Map<number, unknown>();
  const refusals = await commitGroups(payments.database, groups, (error, position) => failed.set(position, error));
  const others = await Promise.all(
    concluded.map(async (one, position) => {
      const refusal = refusals[position];
      if (failed.has(position)) {
        postponements.push(putOff(payments, one.order, failed.get(position), 'an order could not be settled'));
      } else if (refusal?.code === 'AMOUNT_OUT_OF_RANGE') {
        return concludedOtherwise(payments, one, refusal).catch((error: unknown) => {
          postponements.push(putOff(payments, one.order, error, 'the rail could not be told to give money back'));
        });
      } else if (refusal) postponements.push(lookAgain(payments, one, refusal));
    }),
  );
  return others.filter((one) => one !== undefined);
}

/** Something moved since the order was read, such as a decision of the platform: it is looked at again. */
function lookAgain(payments: Payments, { order, outcome }: Concluded, refusal: PlanRefusal): Postponement {
  if (contradicts(outcome, refusal)) {
    payments.log.error(
      { order: order.id, outcome, refusal },
      'the rail contradicts what stands; a person must look at it',
    );
  } else payments.log.info({ order: order.id }, 'an outcome came too late; looking again');
  return { order, dueInMs: Math.min(60_000, 100 * 2 ** order.attempts) };
}

/** After an error, it is taken up again later each time: what goes wrong every time is told every five minutes at most. */
function putOff(payments: Payments, order: DueOrder, error: unknown, what: string): Postponement {
  const dueInMs = Math.min(300_000, 1000 * 2 ** order.attempts);
  payments.log.error({ err: error, order: order.id }, `${what}; it is taken up again in ${dueInMs / 1000} s`);
  return { order, dueInMs };
}

/** Whether the rail says that money has moved, or has not, where the ledger has already said otherwise. */
function contradicts(outcome: RailOutcome | undefined, refusal: PlanRefusal): boolean {
  if (outcome?.kind !== 'settled' && outcome?.kind !== 'failed') return false;
  const same = outcome.kind === 'settled' ? 'COMPLETED' : 'FAILED';
  return !(refusal.code === 'CONFLICT' && refusal.status === same);
}

/** What is to be done about an order now: plans to commit, or to ask again later. */
async function settle(
  payments: Payments,
  order: DueOrder,
  heard: (outcome: RailOutcome) => void,
): Promise<PlanGroup | Postponement> {
  const { transaction, incoming } = order;
  const ask = async (settled: boolean) => {
    const outcome = await perform(payments, order, settled);
    heard(outcome);
    return conclude(payments, order, outcome);
  };
  switch (transaction.status) {
    case 'CREATED':
      return payRequestIsLate(payments, order) ? payRequestExpired(order) : ask(false);
    case 'PENDING':
    case 'PROCESSING':
      break;
    case 'COMPLETED':
      return ask(true);
    default:
      // It has ended by another way.
      return close(order);
  }
  // What is still to be pulled is announced to nobody yet.
  if (isPull(order)) return ask(false);
  if (order.receiver && !incoming) return announcement(payments, order, order.receiver);
  if (incoming?.transaction.approvalDueAt) {
    const { status } = incoming.transaction;
    if (status === 'PENDING' && incoming.approvalLeftMs > 0) {
      return { order, dueInMs: incoming.approvalLeftMs };
    }
    if (status === 'PENDING') {
      const reason = 'the platform neither approved nor rejected it in time';
      return failed(order, { to: 'FAILED', reason, incomingReason: 'PAYMENT_APPROVAL_TIMED_OUT' });
    }
    if (status === 'REJECTED') {
      return failed(order, { to: 'REJECTED', reason: "the receiver's platform rejected it" });
    }
    if (status === 'FAILED') {
      return failed(order, { to: 'FAILED', reason: 'the receiving side failed' });
    }
  }
  return ask(false);
}

function conclude(payments: Payments, order: DueOrder, outcome: RailOutcome): PlanGroup | Postponement {
  if (order.transaction.status === 'CREATED') return payRequestConcluded(payments, order, outcome);
  switch (outcome.kind) {
    case 'pending':
      return { order, dueInMs: wholeMs(outcome.checkInMs) };
    case 'settled':
      return order.transaction.status === 'COMPLETED' ? close(order) : delivered(order, outcome.watchMs);
    case 'failed':
      return failed(order, {
        to: 'FAILED',
        reason: outcome.explanation,
        failureReason: outcome.failureReason,
        incomingReason: outcome.failureReason,
        moneyStuck: outcome.moneyStuck,
      });
    case 'rejected':
      return failed(order, { to: 'REJECTED', reason: outcome.explanation });
    case 'returned':
      return order.transaction.type === 'OUTGOING' ? returned(order, outcome.explanation) : close(order);
  }
}

/** What a rail that cannot be asked means: nothing is known, so ask again, later each time. */
async function perform(payments: Payments, order: DueOrder, settled: boolean): Promise<RailOutcome> {
  const rail = payments.rails[order.environment];
  try {
    if (!rail) throw new Error(`no rail is connected for ${order.environment}`);
    return await railAnswer(rail.perform(railRequest(order, settled)));
  } catch (error) {
    payments.log.error({ err: error, order: order.id }, 'the rail could not be asked');
    return { kind: 'pending', checkInMs: Math.min(60_000, 500 * 2 ** order.attempts) };
  }
}

import { retryLostRaces } from '../database/retry.ts';
import { commitGroups, type PlanGroup, type PlanRefusal } from '../ledger/commit.ts';
import type { RailOrder, RailOutcome, RailStep } from '../rails/rail.ts';
import { announcement } from './announcement.ts';
import type { Payments } from './command.ts';
import {
  type DueOrder,
  isPull,
  leaseOrders,
  nextOrderDue as nextDue,
  type Postponement,
  postponeOrders,
} from './orders.ts';
import { close, delivered, returned, undone, wholeMs } from './outcomes.ts';
import { outsideOf } from './parties.ts';
import { payRequestConcluded, payRequestExpired, payRequestIsLate } from './pay-request.ts';
import { railAnswer } from './rail-answer.ts';

/** How many milliseconds until an order is due; undefined when none waits. */
export function nextOrderDue(payments: Payments): Promise<number | undefined> {
  return nextDue(payments.database.pool);
}

/**
 * Takes up to `limit` due orders, asks their rails, and commits what came of each: delivered, failed with the money back
 * at its source, or to be asked again. A process that dies at any point leaves orders that another takes up when their
 * lease ends; an outcome that was committed is not committed twice, since the transaction has moved on.
 * @returns how many orders were taken
 */
export async function settleDueOrders(payments: Payments, limit: number): Promise<number> {
  const orders = await leaseOrders(payments.database.pool, limit);
  const postponements: Postponement[] = [];
  const settled: { readonly order: DueOrder; readonly outcome: RailOutcome | undefined; readonly group: PlanGroup }[] =
    [];
  await Promise.all(
    orders.map(async (order) => {
      let outcome: RailOutcome | undefined;
      try {
        const next = await settle(payments, order, (heard) => {
          outcome = heard;
        });
        if ('dueInMs' in next) postponements.push(next);
        else settled.push({ order, outcome, group: next });
      } catch (error) {
        // One order that cannot be understood holds up no other.
        payments.log.error({ err: error, order: order.id }, 'an order could not be worked on; it is taken up again');
      }
    }),
  );
  const groups = settled.map(({ group }) => group);
  const refusals = await commitGroups(payments.database, groups, (error, position) =>
    payments.log.error(
      { err: error, order: settled[position]?.order.id },
      'an order could not be settled; it is taken up again',
    ),
  );
  for (const [position, { order, outcome }] of settled.entries()) {
    const refusal = refusals[position];
    if (!refusal) continue;
    if (contradicts(outcome, refusal)) {
      payments.log.error(
        { order: order.id, outcome, refusal },
        'the rail contradicts what stands; a person must look at it',
      );
    } else payments.log.info({ order: order.id }, 'an outcome came too late; looking again');
    // Something moved since the order was read, such as a decision of the platform: it is looked at again.
    postponements.push({ order, dueInMs: Math.min(60_000, 100 * 2 ** order.attempts) });
  }
  await retryLostRaces(() => postponeOrders(payments.database.pool, postponements));
  return orders.length;
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
      return undone(order, { to: 'FAILED', reason, incomingReason: 'PAYMENT_APPROVAL_TIMED_OUT' });
    }
    if (status === 'REJECTED') {
      return undone(order, { to: 'REJECTED', reason: "the receiver's platform rejected it" });
    }
    if (status === 'FAILED') {
      return undone(order, { to: 'FAILED', reason: 'the receiving side failed' });
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
      return undone(order, {
        to: 'FAILED',
        reason: outcome.explanation,
        failureReason: outcome.failureReason,
        incomingReason: outcome.failureReason,
        moneyStuck: outcome.moneyStuck,
      });
    case 'rejected':
      return undone(order, { to: 'REJECTED', reason: outcome.explanation });
    case 'returned':
      return order.transaction.type === 'OUTGOING' ? returned(order, outcome.explanation) : close(order);
  }
}

/** What a rail that cannot be asked means: nothing is known, so ask again, later each time. */
async function perform(payments: Payments, order: DueOrder, settled: boolean): Promise<RailOutcome> {
  const rail = payments.rails[order.environment];
  const request: RailOrder = {
    id: order.id,
    step: stepOf(order),
    kind: order.kind,
    ...moneyOf(order),
    account: outside(order),
    umaAddress: order.receiver ? undefined : farAddress(order),
    settled,
    ageMs: order.ageMs,
    attempts: order.attempts - 1,
    scenario: order.scenario,
  };
  try {
    if (!rail) throw new Error(`no rail is connected for ${order.environment}`);
    return await railAnswer(rail.perform(request));
  } catch (error) {
    payments.log.error({ err: error, order: order.id }, 'the rail could not be asked');
    return { kind: 'pending', checkInMs: Math.min(60_000, 500 * 2 ** order.attempts) };
  }
}

function stepOf(order: DueOrder): RailStep {
  if (order.transaction.status === 'CREATED') return 'PAY_REQUEST';
  return isPull(order) ? 'PULL' : 'SETTLEMENT';
}

/** What the rail is to move: what arrives, or for a pull what is sent. */
function moneyOf(order: DueOrder): { readonly amount: bigint; readonly currency: string } {
  const { sentAmount, sentCurrency, receivedAmount, receivedCurrency } = order.transaction;
  return isPull(order) && sentAmount !== null && sentCurrency !== null
    ? { amount: sentAmount, currency: sentCurrency }
    : { amount: receivedAmount ?? 0n, currency: receivedCurrency };
}

/** The account outside that the rail pays or pulls from: where a UMA payment is paid on to, also the receiver's. */
function outside(order: DueOrder) {
  const account =
    order.kind === 'COLLECTION' && order.source ? order.source : (order.incoming?.destination ?? order.destination);
  return account && outsideOf(account);
}

function farAddress({ kind, transaction }: DueOrder): string | undefined {
  return (kind === 'PAYOUT' ? transaction.destinationUmaAddress : transaction.sourceUmaAddress) ?? undefined;
}

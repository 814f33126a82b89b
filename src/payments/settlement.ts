import { commitGroups, type PlanGroup, type PlanRefusal } from '../ledger/commit.ts';
import type { RailOrder, RailOutcome, RailStep } from '../rails/rail.ts';
import { announcement } from './announcement.ts';
import type { Payments } from './command.ts';
import { type DueOrder, isPull, leaseOrders, nextOrderDue as nextDue } from './orders.ts';
import { close, delivered, returned, undone, wait, wholeMs } from './outcomes.ts';
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
  const outcomes: (RailOutcome | undefined)[] = [];
  const groups = await Promise.all(
    orders.map((order, position) =>
      settle(payments, order, (outcome) => {
        outcomes[position] = outcome;
      }).catch((error: unknown) => {
        // One order that cannot be understood holds up no other.
        payments.log.error({ err: error, order: order.id }, 'an order could not be worked on; it is taken up again');
        return [];
      }),
    ),
  );
  const failed = (error: unknown, position: number) =>
    payments.log.error(
      { err: error, order: orders[position]?.id },
      'an order could not be settled; it is taken up again',
    );
  const refusals = await commitGroups(payments.database, groups, failed);
  // Something moved since these orders were read, such as a decision of the platform: they are looked at again.
  const moved = orders.filter((_order, position) => refusals[position]);
  for (const [position, refusal] of refusals.entries()) {
    if (!refusal) continue;
    const [order, outcome] = [orders[position]?.id, outcomes[position]];
    if (contradicts(outcome, refusal)) {
      payments.log.error({ order, outcome, refusal }, 'the rail contradicts what stands; a person must look at it');
    } else payments.log.info({ order }, 'an outcome came too late; looking again');
  }
  await commitGroups(
    payments.database,
    moved.map((order) => wait(order, Math.min(60_000, 100 * 2 ** order.attempts))),
    failed,
  );
  return orders.length;
}

/** Whether the rail says that money has moved, or has not, where the ledger has already said otherwise. */
function contradicts(outcome: RailOutcome | undefined, refusal: PlanRefusal): boolean {
  if (outcome?.kind !== 'settled' && outcome?.kind !== 'failed') return false;
  const same = outcome.kind === 'settled' ? 'COMPLETED' : 'FAILED';
  return !(refusal.code === 'CONFLICT' && refusal.status === same);
}

async function settle(payments: Payments, order: DueOrder, heard: (outcome: RailOutcome) => void): Promise<PlanGroup> {
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
    if (status === 'PENDING' && incoming.approvalLeftMs > 0) return wait(order, incoming.approvalLeftMs);
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

function conclude(payments: Payments, order: DueOrder, outcome: RailOutcome): PlanGroup {
  if (order.transaction.status === 'CREATED') return payRequestConcluded(payments, order, outcome);
  switch (outcome.kind) {
    case 'pending':
      return wait(order, wholeMs(outcome.checkInMs));
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

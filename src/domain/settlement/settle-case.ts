import { maxAmount } from '../../core/checks.ts';
import { formatMajor, requiredCurrency } from '../../core/currencies.ts';
import { publicId } from '../../core/ids.ts';
import type { RailCase } from '../../infra/database/generated/client/client.ts';
import type { RailOutcome } from '../../rails/rail.ts';
import { type ActFacts, type Operator, RefusedByHand } from '../access/operator-acts.ts';
import type { Payments } from '../commands/command.ts';
import { difference, type Moves } from '../commands/movements.ts';
import type { Journal, Money, PlanGroup } from '../ledger/plan.ts';
import { type DueOrder, isPull } from '../orders/orders.ts';
import { railRequest } from '../orders/rail-request.ts';
import { otherAmount } from './cases.ts';
import { askWithoutSending, commitByHand, endedMeanwhile, withOrder } from './order-by-hand.ts';
import { planDelivery } from './outcomes.ts';

/**
 * Settles a payment by hand if its provider moved a different amount from the promised one (decision 95): the customer
 * and the receiver get the amounts of the payment, and the difference is booked on DIFFERENCES. Not offered by any API.
 */

interface SettledByHand {
  readonly orderId: string;
  /** Whether only the payment's pull has settled, so that its payout follows. */
  readonly isPull: boolean;
  readonly said: string;
  readonly stands: string;
  /** The parts of the difference as booked on DIFFERENCES; negative is the operator's loss. */
  readonly differences: readonly Money[];
  /** The shortfall of the external receiver; undefined if it got the promised amount. */
  readonly short: Money | undefined;
}

/**
 * Settles the payment of a case. The rail is queried once more, and the amounts moved are taken from its answer: none
 * is entered by hand.
 * @param id the payment: `Transaction:…`
 * @throws RefusedByHand
 */
export function settleCase(payments: Payments, id: string, operator: Operator & { readonly reason: string }) {
  return withOrder(payments, id, async (order) => {
    const where = { platformId: order.platformId, orderId: order.id, kind: 'OTHER_AMOUNT', closedAt: null } as const;
    const open = await payments.database.prisma.railCase.findFirst({ where });
    if (!open) throw new RefusedByHand(`${id} has no open case about a different amount`);
    return settle(payments, { order, open, ...(await askOnceMore(payments, order)) }, operator);
  });
}

type Settled = Extract<RailOutcome, { kind: 'settled' }>;

interface ToSettle {
  readonly order: DueOrder;
  readonly open: RailCase;
  readonly outcome: Settled;
  readonly said: string;
  readonly stands: string;
  readonly moved: Moves;
}

async function askOnceMore(payments: Payments, order: DueOrder): Promise<Omit<ToSettle, 'order' | 'open'>> {
  const outcome = await askWithoutSending(payments, order);
  if (outcome?.kind !== 'settled') {
    const answer = outcome?.kind ?? 'that it has no such payment';
    throw new RefusedByHand(`the rail reports ${answer}: investigate with the provider`);
  }
  const contradiction = otherAmount(outcome, railRequest(order, false), order.transaction.sentCurrency);
  if (!contradiction) throw new RefusedByHand('the rail now reports the promised amount: the workers are booking it');
  const { said, stands } = contradiction;
  const moved = movedBy(order, outcome);
  if (!moved) throw new RefusedByHand(`the rail has reported: ${said}. That cannot be the amount that it moved`);
  return { outcome, said, stands, moved };
}

/** Returns the amounts that the provider was supposed to move on the platform's account with the provider. */
function promisedOf(order: DueOrder): Moves {
  const { lock, kind, transaction, destination } = order;
  const { amount, currency } = railRequest(order, false);
  const arrives = { amount, currency };
  if (kind === 'COLLECTION') return { in: arrives };
  if (!lock || transaction.sentCurrency === null) return { out: arrives };
  return {
    out: { amount: lock.sent, currency: transaction.sentCurrency },
    ...(destination?.kind === 'INTERNAL' && { in: { amount: lock.received, currency } }),
  };
}

/** Returns the amounts that the provider moved on that account; undefined if it reports none, or an impossible one. */
function movedBy(order: DueOrder, { amount, sent }: Settled): Moves | undefined {
  const promised = promisedOf(order);
  const taken = order.lock ? sent : (sent ?? amount);
  const moved: Moves = {
    ...(promised.out && taken !== undefined && { out: { ...promised.out, amount: taken } }),
    ...(promised.in && amount !== undefined && { in: { ...promised.in, amount } }),
  };
  const isWhole = [promised.out, promised.in].every((side, at) => !side || [moved.out, moved.in][at] !== undefined);
  const canBe = [moved.out, moved.in].every((side) => !side || (side.amount >= 0n && side.amount <= maxAmount));
  return isWhole && canBe ? moved : undefined;
}

/** Returns how much less than promised the external receiver got. */
function shortOf(order: DueOrder, { amount: arrived }: Settled): Money | undefined {
  const { amount, currency } = railRequest(order, false);
  const isOutside = order.kind === 'PAYOUT' && order.destination?.kind !== 'INTERNAL';
  if (!isOutside || arrived === undefined || arrived >= amount) return undefined;
  return { currency, amount: amount - arrived };
}

/** Commits the settlement, the end of the case and the act. */
async function settle(payments: Payments, facts: ToSettle, operator: Operator & { readonly reason: string }) {
  const { order, outcome, moved, said, stands } = facts;
  const journal = difference(order.transaction.id, promisedOf(order), moved);
  const result: SettledByHand = {
    orderId: order.id,
    isPull: isPull(order),
    ...{ said, stands },
    differences: booked(journal),
    short: shortOf(order, outcome),
  };
  const group = planSettlement(facts, journal, operator);
  const refusal = await commitByHand(payments.database, group, operator, factsOf(facts, result));
  if (!refusal) return result;
  if (refusal.code === 'AMOUNT_OUT_OF_RANGE') {
    const limit = formatMajor(BigInt(refusal.limit), requiredCurrency(refusal.currency));
    throw new RefusedByHand(`nothing done: the receiving account may hold at most ${limit}`);
  }
  throw endedMeanwhile(refusal);
}

/** Plans the delivery as promised, and the difference. If money is returned later, reconciliation finds it. */
function planSettlement(
  { order, outcome, moved }: ToSettle,
  journal: Journal | undefined,
  { by, reason }: Operator & { readonly reason: string },
): PlanGroup {
  const [own, ...others] = planDelivery(order, { information: outcome.information });
  if (!own) throw new Error(`order ${order.id} has no plan`);
  const { out, in: come } = moved;
  const settled = { orderId: order.id, by, reason, movedOut: out?.amount ?? null, movedIn: come?.amount ?? null };
  const journals = [...(own.plan.journals ?? []), ...(journal ? [journal] : [])];
  return [{ platformId: own.platformId, plan: { ...own.plan, journals, cases: [settled] } }, ...others];
}

function booked(journal: Journal | undefined): Money[] {
  return (journal?.legs ?? []).flatMap((leg) =>
    'system' in leg && leg.system === 'DIFFERENCES' ? [{ currency: leg.currency, amount: leg.amount }] : [],
  );
}

function factsOf({ order, open, said, stands }: ToSettle, { differences, short }: SettledByHand): ActFacts {
  const words = ({ amount, currency }: Money) => formatMajor(amount, requiredCurrency(currency));
  return {
    platformId: order.platformId,
    subject: publicId('Transaction', order.transaction.id),
    before: { order: order.id, status: order.transaction.status, said: open.said, stands: open.stands },
    after: { said, stands, differences: differences.map(words), short: short ? words(short) : null },
  };
}

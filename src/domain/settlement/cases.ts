import { maxAmount } from '../../core/checks.ts';
import { formatMajor, requiredCurrency } from '../../core/currencies.ts';
import { publicId } from '../../core/ids.ts';
import type { Database } from '../../infra/database/database.ts';
import type { RailCase, TransactionStatus } from '../../infra/database/generated/client/client.ts';
import { statement } from '../../infra/database/statement.ts';
import type { RailOrder, RailOutcome } from '../../rails/rail.ts';
import type { RateLock } from '../../rails/rail-parts.ts';
import { actByHand, type Operator, RefusedByHand } from '../access/operator-acts.ts';
import type { Payments } from '../commands/command.ts';
import { difference, type Moves } from '../commands/movements.ts';
import type { Journal, Money } from '../ledger/plan.ts';
import { type DueOrder, isPull, railRequest } from '../orders/orders.ts';
import { askWithoutSending, commitByHand, endedMeanwhile, paymentUuid, withOrder } from './order-by-hand.ts';
import { planDelivery } from './outcomes.ts';

// A case is a rail's contradictory report, which an operator must investigate. An order has at most one of each kind.

/** Any outcome that does not contradict an earlier one. */
export type CredibleOutcome = Exclude<RailOutcome, { kind: 'contradiction' }>;

export type Contradiction = Pick<RailCase, 'kind' | 'said' | 'stands'>;

const noteStatement = statement<object>(
  'note_rail_case',
  `insert into rail_case (platform_id, order_id, transaction_id, kind, said, stands) values ($1, $2, $3, $4, $5, $6)
   on conflict (platform_id, order_id, kind) do update set times = rail_case.times + 1`,
);

export async function noteCase(
  { pool }: Pick<Database, 'pool'>,
  order: Pick<DueOrder, 'platformId' | 'id' | 'transaction'>,
  { kind, said, stands }: Contradiction,
): Promise<void> {
  await noteStatement(pool, order.platformId, order.id, order.transaction.id, kind, said, stands);
}

const statusStatement = statement<{ status: TransactionStatus; pulled: boolean }>(
  'status_of_order',
  `select t.status, exists (
     select from journal j where j.platform_id = t.platform_id and j.transaction_id = t.id and j.kind = 'deposit') as pulled
   from transaction t where t.platform_id = $1 and t.id = $2`,
);

/** Describes how a rail's report contradicts an order's recorded outcome; undefined if it does not. */
export async function contradictionOf(
  { pool }: Pick<Database, 'pool'>,
  order: Pick<DueOrder, 'platformId' | 'kind' | 'transaction'>,
  outcome: RailOutcome,
): Promise<Contradiction | undefined> {
  const [row] = await statusStatement(pool, order.platformId, order.transaction.id);
  if (!row) return undefined;
  const { status, pulled } = row;
  // After a pull, the payment may still continue or fail. Either way, the pulled money is in the books.
  const settled = isPull(order) ? pulled : status === 'COMPLETED' || status === 'REFUNDED';
  const failed = !settled && ['FAILED', 'REJECTED', 'EXPIRED'].includes(status);
  const isOther = outcome.kind === 'settled' ? failed : settled && ['failed', 'rejected'].includes(outcome.kind);
  return isOther ? otherOutcome(outcome, isPull(order) && settled ? 'the pull has settled' : status) : undefined;
}

/** Describes the contradiction between the outcome that a rail reports and the status that a payment already has. */
export function otherOutcome(outcome: RailOutcome, status: string): Contradiction {
  const explanation = 'explanation' in outcome ? ` (${outcome.explanation})` : '';
  return { kind: 'OTHER_OUTCOME', said: `${outcome.kind}${explanation}`, stands: status };
}

/**
 * Describes how a settled order's amount differs from the ordered amount; undefined if it does not. For a locked rate,
 * the rail must report both amounts, the sent one in `sentCurrency`.
 */
export function otherAmount(
  outcome: RailOutcome,
  { amount, currency: code, lock }: Pick<RailOrder, 'amount' | 'currency' | 'lock'>,
  sentCurrency: string | null,
): Contradiction | undefined {
  if (outcome.kind !== 'settled') return undefined;
  const words = (units: bigint | undefined, of: string) =>
    units === undefined ? 'an unreported amount' : formatMajor(units, requiredCurrency(of));
  const contradiction = (said: string, stands: string) => ({ kind: 'OTHER_AMOUNT', said, stands }) as const;
  if (lock && sentCurrency !== null) {
    if (outcome.amount === lock.received && outcome.sent === lock.sent) return undefined;
    const both = ({ received, sent }: Partial<Pick<RateLock, 'received' | 'sent'>>) =>
      `${words(received, code)} for ${words(sent, sentCurrency)}`;
    const moved = { received: outcome.amount, sent: outcome.sent };
    return contradiction(`settled ${both(moved)}`, `locked ${both(lock)}`);
  }
  const { amount: arrived = amount, sent: taken = arrived } = outcome;
  if (arrived === amount && taken === amount) return undefined;
  const cost = taken === arrived ? '' : ` for ${words(taken, code)}`;
  return contradiction(`settled ${words(arrived, code)}${cost}`, `ordered ${words(amount, code)}`);
}

/** Lists the contradictions on all platforms, oldest first: only the open ones, or all of them. */
export function listCases({ prisma }: Pick<Database, 'prisma'>, { all } = { all: false }) {
  return prisma.railCase.findMany({
    where: all ? {} : { closedAt: null },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    take: 10_000,
  });
}

/**
 * Closes a payment's open cases after an investigation, without moving money.
 * @param transactionId the payment, such as `Transaction:…`
 * @throws RefusedByHand
 */
export async function closeCases(database: Database, transactionId: string, operator: Operator): Promise<void> {
  const uuid = paymentUuid(transactionId);
  await actByHand(database, operator, async ({ prisma }, now) => {
    const where = { transactionId: uuid, closedAt: null };
    const open = await prisma.railCase.findMany({ where });
    const { count } = await prisma.railCase.updateMany({
      where: { ...where, id: { in: open.map(({ id }) => id) } },
      data: { closedAt: now, closedBy: operator.by, closedReason: operator.reason ?? null },
    });
    const [one] = open;
    if (count === 0 || !one) throw new RefusedByHand(`${transactionId} has no open case`);
    const before = { open: open.map(({ said, stands }) => ({ said, stands })) };
    const after = { closed: count };
    return { platformId: one.platformId, subject: transactionId, before, after };
  });
}

/**
 * Settles a payment by hand if its provider moved an amount other than the promised one. The payment keeps its promised
 * amounts on both sides, and the difference is booked to DIFFERENCES. The operator does not enter the moved amounts:
 * they are taken from the rail's answer to one more query. Not offered by any API.
 * @param id the payment: `Transaction:…`
 * @throws RefusedByHand
 */
export function settleCase(payments: Payments, id: string, operator: Decider) {
  return withOrder(payments, id, async (order) => {
    const where = { platformId: order.platformId, orderId: order.id, kind: 'OTHER_AMOUNT', closedAt: null } as const;
    const open = await payments.database.prisma.railCase.findFirst({ where });
    if (!open) throw new RefusedByHand(`${id} has no open case about a different amount`);
    return settle(payments, { order, open, ...(await askOnceMore(payments, order)) }, operator);
  });
}

type Decider = Operator & { readonly reason: string };
type Settled = Extract<RailOutcome, { kind: 'settled' }>;

interface ToSettle extends Awaited<ReturnType<typeof askOnceMore>> {
  readonly order: DueOrder;
  readonly open: RailCase;
}

async function askOnceMore(payments: Payments, order: DueOrder) {
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

/** Returns the amounts that should have moved out of and into the platform's account at the provider. */
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

/** Returns the amounts that the provider moved; undefined if one of them is unreported or impossible. */
function movedBy(order: DueOrder, { amount, sent }: Settled): Moves | undefined {
  const promised = promisedOf(order);
  const moved = { out: order.lock ? sent : (sent ?? amount), in: amount };
  const sides: Moves[] = [];
  for (const side of ['out', 'in'] as const) {
    const units = moved[side];
    if (!promised[side]) continue;
    if (units === undefined || units < 0n || units > maxAmount) return undefined;
    sides.push({ [side]: { ...promised[side], amount: units } });
  }
  return Object.assign({}, ...sides);
}

function shortOf(order: DueOrder, { amount: arrived }: Settled): Money | undefined {
  const { amount, currency } = railRequest(order, false);
  const isOutside = order.kind === 'PAYOUT' && order.destination?.kind !== 'INTERNAL';
  if (!isOutside || arrived === undefined || arrived >= amount) return undefined;
  return { currency, amount: amount - arrived };
}

async function settle(payments: Payments, facts: ToSettle, operator: Decider) {
  const { order, open, outcome, moved, said, stands } = facts;
  const journal = difference(order.transaction.id, promisedOf(order), moved);
  const result = {
    orderId: order.id,
    /** Whether only the payment's pull has settled and its payout is still to come. */
    isPull: isPull(order),
    ...{ said, stands },
    /** The amounts booked to DIFFERENCES. A negative amount is the operator's loss. */
    differences: booked(journal),
    /** The external receiver's shortfall; undefined if it got the promised amount. */
    short: shortOf(order, outcome),
  };
  const words = ({ amount, currency }: Money) => formatMajor(amount, requiredCurrency(currency));
  const { differences, short } = result;
  const [own, ...others] = planDelivery(order, { information: outcome.information });
  if (!own) throw new Error(`order ${order.id} has no plan`);
  // The promised amount is delivered, and the difference is posted in a separate journal.
  const journals = [...(own.plan.journals ?? []), ...(journal ? [journal] : [])];
  const { by, reason } = operator;
  const [movedOut, movedIn] = [moved.out?.amount ?? null, moved.in?.amount ?? null];
  const plan = { ...own.plan, journals, cases: [{ orderId: order.id, by, reason, movedOut, movedIn }] };
  const group = [{ platformId: own.platformId, plan }, ...others];
  const refusal = await commitByHand(payments.database, group, operator, {
    platformId: order.platformId,
    subject: publicId('Transaction', order.transaction.id),
    before: { order: order.id, status: order.transaction.status, said: open.said, stands: open.stands },
    after: { said, stands, differences: differences.map(words), short: short ? words(short) : null },
  });
  if (!refusal) return result;
  if (refusal.code === 'AMOUNT_OUT_OF_RANGE') {
    const limit = formatMajor(BigInt(refusal.limit), requiredCurrency(refusal.currency));
    throw new RefusedByHand(`nothing done: the receiving account may hold at most ${limit}`);
  }
  throw endedMeanwhile(refusal);
}

function booked(journal: Journal | undefined): Money[] {
  return (journal?.legs ?? []).flatMap((leg) =>
    'system' in leg && leg.system === 'DIFFERENCES' ? [{ currency: leg.currency, amount: leg.amount }] : [],
  );
}

import { formatMajor, requiredCurrency } from '../../core/currencies.ts';
import type { Database } from '../../infra/database/database.ts';
import type { RailCaseKind, TransactionStatus } from '../../infra/database/generated/client/client.ts';
import { statement } from '../../infra/database/statement.ts';
import { inTransaction, readClock } from '../../infra/database/transaction.ts';
import type { RailOrder, RailOutcome } from '../../rails/rail.ts';
import type { RateLock } from '../../rails/rate-lock.ts';
import { type Operator, RefusedByHand, recordAct } from '../access/operator-acts.ts';
import { type DueOrder, isPull } from '../orders/orders.ts';
import { paymentUuid } from './order-by-hand.ts';

/**
 * Cases: contradictory reports of a rail. They are never trusted, so an operator must investigate. An order has at most
 * one case per kind.
 */

/** An outcome that does not contradict an earlier one. */
export type CredibleOutcome = Exclude<RailOutcome, { kind: 'contradiction' }>;

export interface Contradiction {
  readonly kind: RailCaseKind;
  readonly said: string;
  readonly stands: string;
}

const noteStatement = statement<object>(
  'note_rail_case',
  `insert into rail_case (platform_id, order_id, transaction_id, kind, said, stands) values ($1, $2, $3, $4, $5, $6)
   on conflict (platform_id, order_id, kind) do update set times = rail_case.times + 1`,
);

/** Records a contradiction, or counts its repetition. */
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

/**
 * Describes how a rail's report about an order contradicts its recorded outcome. Undefined if they agree, or if either
 * side has no outcome yet.
 */
export async function contradictionOf(
  { pool }: Pick<Database, 'pool'>,
  order: Pick<DueOrder, 'platformId' | 'kind' | 'transaction'>,
  outcome: RailOutcome,
): Promise<Contradiction | undefined> {
  const [row] = await statusStatement(pool, order.platformId, order.transaction.id);
  if (!row) return undefined;
  const { status, pulled } = row;
  // After a pull, the payment continues or fails later: either way the pulled money is in the books.
  const settled = isPull(order) ? pulled : status === 'COMPLETED' || status === 'REFUNDED';
  const failed = !settled && ['FAILED', 'REJECTED', 'EXPIRED'].includes(status);
  const isOther = outcome.kind === 'settled' ? failed : settled && ['failed', 'rejected'].includes(outcome.kind);
  return isOther ? otherOutcome(outcome, isPull(order) && settled ? 'the pull has settled' : status) : undefined;
}

/** Describes the contradiction between a rail's outcome and the status that a payment already has. */
export function otherOutcome(outcome: RailOutcome, status: string): Contradiction {
  const explanation = 'explanation' in outcome ? ` (${outcome.explanation})` : '';
  return { kind: 'OTHER_OUTCOME', said: `${outcome.kind}${explanation}`, stands: status };
}

/**
 * Describes how the amount of a settled order differs from the ordered amount; undefined if it does not. For a locked
 * rate the rail must report the amount. `sentCurrency`: the currency of a lock's sent amount.
 */
export function otherAmount(
  outcome: RailOutcome,
  { amount, currency: code, lock }: Pick<RailOrder, 'amount' | 'currency' | 'lock'>,
  sentCurrency: string | null,
): Contradiction | undefined {
  if (lock && sentCurrency !== null) return otherThanLocked(outcome, lock, { received: code, sent: sentCurrency });
  if (outcome.kind !== 'settled') return undefined;
  const { amount: arrived = amount, sent: taken = arrived } = outcome;
  if (arrived === amount && taken === amount) return undefined;
  const words = (units: bigint) => formatMajor(units, requiredCurrency(code));
  return {
    kind: 'OTHER_AMOUNT',
    said: `settled ${words(arrived)}${taken === arrived ? '' : ` for ${words(taken)}`}`,
    stands: `ordered ${words(amount)}`,
  };
}

/** Describes a settled order whose two amounts differ from those of its lock (decision 83). */
function otherThanLocked(
  outcome: RailOutcome,
  lock: RateLock,
  codes: { readonly received: string; readonly sent: string },
): Contradiction | undefined {
  if (outcome.kind !== 'settled' || (outcome.amount === lock.received && outcome.sent === lock.sent)) return undefined;
  const words = (received: bigint | undefined, sent: bigint | undefined) =>
    [
      received === undefined ? 'an unreported amount' : formatMajor(received, requiredCurrency(codes.received)),
      sent === undefined ? 'an unreported amount' : formatMajor(sent, requiredCurrency(codes.sent)),
    ].join(' for ');
  return {
    kind: 'OTHER_AMOUNT',
    said: `settled ${words(outcome.amount, outcome.sent)}`,
    stands: `locked ${words(lock.received, lock.sent)}`,
  };
}

/** Lists contradictions on all platforms, oldest first: either the open ones or all. */
export function listCases({ prisma }: Pick<Database, 'prisma'>, { all } = { all: false }) {
  return prisma.railCase.findMany({
    where: all ? {} : { closedAt: null },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    take: 10_000,
  });
}

/**
 * Closes the open cases of a payment after an investigation, without moving money.
 * @param transactionId the payment, such as `Transaction:…`
 * @throws RefusedByHand
 */
export async function closeCases(database: Database, transactionId: string, operator: Operator): Promise<void> {
  const uuid = paymentUuid(transactionId);
  await inTransaction(database, async (transaction) => {
    const { client, prisma } = transaction;
    const open = await prisma.railCase.findMany({ where: { transactionId: uuid, closedAt: null } });
    const { now } = await readClock(client);
    const { count } = await prisma.railCase.updateMany({
      where: { id: { in: open.map(({ id }) => id) }, transactionId: uuid, closedAt: null },
      data: { closedAt: now, closedBy: operator.by, closedReason: operator.reason ?? null },
    });
    const [one] = open;
    if (count === 0 || !one) throw new RefusedByHand(`${transactionId} has no open case`);
    const before = { open: open.map(({ said, stands }) => ({ said, stands })) };
    const after = { closed: count };
    await recordAct(transaction, operator, { platformId: one.platformId, subject: transactionId, before, after });
  });
}

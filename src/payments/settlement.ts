import type { Environment, RailOrderKind } from '../database/generated/client/client.ts';
import { type Account, rowFromSnapshot, type Transaction } from '../database/rows.ts';
import { statement } from '../database/statement.ts';
import { commitPlans } from '../ledger/commit.ts';
import type { Plan, QuoteMove, TransactionMove } from '../ledger/plan.ts';
import type { RailOrder, RailOutcome } from '../rails/rail.ts';
import type { Payments } from './command.ts';
import { paymentReference } from './ids.ts';
import { delivery, deposit, type Flow, refund } from './movements.ts';
import { outsideOf } from './parties.ts';

/** How long a process may work on an order before another takes it up. */
const leaseMs = 30_000;

interface LeasedOrder {
  platform_id: string;
  id: string;
  kind: RailOrderKind;
  attempts: number;
  age_ms: number;
  scenario: unknown;
  environment: Environment;
  transaction: Record<string, unknown>;
  source: Record<string, unknown> | null;
  destination: Record<string, unknown> | null;
  funding_account_id: string | null;
  platform_fee: bigint | null;
  platform_account_id: string | null;
}

const leaseOrders = statement<LeasedOrder>(
  'lease_orders',
  `with due as (
     select platform_id, id from rail_order where due_at <= clock_timestamp() order by due_at limit $1 for update skip locked
   ), leased as (
     update rail_order o set due_at = clock_ms() + $2 * interval '1 millisecond', attempts = o.attempts + 1
     from due where o.platform_id = due.platform_id and o.id = due.id
     returning o.*
   )
   select o.platform_id, o.id, o.kind, o.attempts, o.scenario, p.environment,
     (extract(epoch from clock_timestamp() - o.created_at) * 1000)::float8 as age_ms,
     to_jsonb(t) as transaction, q.platform_fee,
     case when s.id is not null then account_snapshot(s) end as source,
     case when d.id is not null then account_snapshot(d) end as destination,
     coalesce(t.source_account_id, f.id) as funding_account_id,
     pa.id as platform_account_id
   from leased o
   join platform p on p.id = o.platform_id
   join transaction t on t.platform_id = o.platform_id and t.id = o.transaction_id
   left join quote q on q.platform_id = t.platform_id and q.id = t.quote_id
   left join account s on s.platform_id = t.platform_id and s.id = t.source_account_id
   left join account d on d.platform_id = t.platform_id and d.id = t.destination_account_id
   left join account f on t.source_account_id is null and f.platform_id = t.platform_id and f.kind = 'INTERNAL'
     and f.customer_id is not distinct from t.customer_id and f.currency = t.sent_currency
   left join account pa on pa.platform_id = t.platform_id and pa.kind = 'INTERNAL' and pa.customer_id is null
     and pa.currency = t.sent_currency and q.platform_fee > 0
   order by o.id`,
);

const nextDueStatement = statement<{ wait_ms: number | null }>(
  'next_order_due',
  `select greatest(0, extract(epoch from min(due_at) - clock_timestamp()) * 1000)::float8 as wait_ms from rail_order where due_at is not null`,
);

/** How many milliseconds until an order is due; undefined when none waits. */
export async function nextOrderDue(payments: Payments): Promise<number | undefined> {
  const [row] = await nextDueStatement(payments.database.pool);
  return row?.wait_ms ?? undefined;
}

/**
 * Takes up to `limit` due orders, asks their rails, and commits what came of each: delivered, failed with the money back
 * at its source, or to be asked again. A process that dies at any point leaves orders that another takes up when their
 * lease ends; an outcome that was committed is not committed twice, since the transaction has moved on.
 * @returns how many orders were taken
 */
export async function settleDueOrders(payments: Payments, limit: number): Promise<number> {
  const orders = await leaseOrders(payments.database.pool, limit, leaseMs);
  const plans = await Promise.all(
    orders.map(async (order) => ({
      platformId: order.platform_id,
      plan: settlementPlan(order, await perform(payments, order)),
    })),
  );
  await commitPlans(payments.database, plans, (error, position) =>
    payments.log.error(
      { err: error, order: orders[position]?.id },
      'an order could not be settled; it is taken up again',
    ),
  );
  return orders.length;
}

/** What a rail that cannot be asked means: nothing is known, so ask again, later each time. */
async function perform(payments: Payments, order: LeasedOrder): Promise<RailOutcome> {
  const rail = payments.rails[order.environment];
  const outside = order.kind === 'PAYOUT' ? order.destination : order.source;
  const request: RailOrder = {
    id: order.id,
    kind: order.kind,
    amount: amountOf(order),
    currency: String(order.transaction.received_currency),
    account: outside ? outsideOf(accountRow(outside)) : undefined,
    ageMs: order.age_ms,
    attempts: order.attempts - 1,
    scenario: order.scenario,
  };
  try {
    if (!rail) throw new Error(`no rail is connected for ${order.environment}`);
    return await rail.perform(request);
  } catch (error) {
    payments.log.error({ err: error, order: order.id }, 'the rail could not be asked');
    return { kind: 'pending', checkInMs: Math.min(60_000, 500 * 2 ** order.attempts) };
  }
}

function accountRow(snapshot: Record<string, unknown>): Account {
  return rowFromSnapshot('Account', snapshot);
}

function amountOf(order: LeasedOrder): bigint {
  const { receivedAmount } = rowFromSnapshot('Transaction', order.transaction);
  if (receivedAmount === null) throw new Error(`order ${order.id} has no amount`);
  return receivedAmount;
}

function settlementPlan(order: LeasedOrder, outcome: RailOutcome): Plan {
  if (outcome.kind === 'pending') return { orders: [{ id: order.id, dueInMs: outcome.checkInMs }] };
  const transaction = rowFromSnapshot('Transaction', order.transaction);
  const delivered = outcome.kind === 'settled';
  const from = ['PENDING', 'PROCESSING'] as const;
  const done = { orders: [{ id: order.id, dueInMs: null }] };
  // An order whose transaction has ended by another way only needs closing.
  if (!from.some((status) => status === transaction.status)) return done;

  const reason = delivered ? 'delivered' : outcome.explanation;
  const move: TransactionMove = delivered
    ? { id: transaction.id, from, to: 'COMPLETED', reason }
    : {
        id: transaction.id,
        from,
        to: 'FAILED',
        reason,
        set: { failureReason: 'QUOTE_EXECUTION_FAILED', ...refundOf(order, transaction) },
      };
  const quotes: QuoteMove[] = transaction.quoteId
    ? [{ id: transaction.quoteId, from: ['PROCESSING'], to: delivered ? 'COMPLETED' : 'FAILED', reason }]
    : [];
  return { ...done, transactions: [move], quotes, journals: settlementJournals(order, transaction, delivered) };
}

function refundOf(order: LeasedOrder, transaction: Transaction) {
  if (order.kind === 'COLLECTION') return {};
  return { refundReference: `REFUND-${paymentReference(transaction.id)}`, refundAmount: transaction.sentAmount };
}

function settlementJournals(order: LeasedOrder, transaction: Transaction, delivered: boolean) {
  const received = amountOf(order);
  if (order.kind === 'COLLECTION') {
    const { destinationAccountId, receivedCurrency, id } = transaction;
    return delivered && destinationAccountId ? [deposit(destinationAccountId, receivedCurrency, received, id)] : [];
  }
  if (transaction.sentAmount === null || transaction.sentCurrency === null || order.funding_account_id === null) {
    throw new Error(`outgoing transaction ${transaction.id} lacks its sending side`);
  }
  const flow: Flow = {
    transactionId: transaction.id,
    sourceAccountId: order.funding_account_id,
    sendingCurrency: transaction.sentCurrency,
    sent: transaction.sentAmount,
    fees: transaction.fees ?? 0n,
    platformFee: order.platform_fee ?? 0n,
    platformAccountId: order.platform_account_id ?? undefined,
    receivingCurrency: transaction.receivedCurrency,
    received,
    destinationAccountId: order.destination?.kind === 'INTERNAL' ? String(order.destination.id) : undefined,
  };
  return [delivered ? delivery(flow) : refund(flow)];
}

import type { Period } from '../../core/checks.ts';
import { formatForeign } from '../../core/currencies.ts';
import type { Tenant } from '../../core/tenant.ts';
import type { RailDeposit, RailOrderKind, ReconciliationFault } from '../../infra/database/generated/client/client.ts';
import { type Queryable, statement } from '../../infra/database/statement.ts';
import type { RailMovement } from '../../rails/rail-parts.ts';
import { type Payments, railOf } from '../commands/command.ts';
import { railAnswer } from '../orders/orders.ts';

// Compares the movements that a provider reports with the service's orders. Differences are not corrected.

/** A difference between the service's records and the provider's. A side without a record is undefined. */
export interface Difference {
  /** The uuid of the order; undefined for a movement without an order. */
  readonly orderId: string | undefined;
  readonly transactionId: string | undefined;
  readonly reference: string | undefined;
  readonly fault: Exclude<ReconciliationFault, 'OTHER_BALANCE'>;
  readonly here: string | undefined;
  readonly there: string | undefined;
}

export type Reconciled = Awaited<ReturnType<typeof reconcile>>;

/**
 * Selects a period's orders that move money into or out of the service or need the rail to convert money, and any other
 * orders to which movements refer. A pull that was followed by a payout counts as settled, regardless of the payout's
 * outcome. If an operator settled an order for which the provider moved a different amount, that amount is used,
 * because the difference is already booked.
 */
const ordersStatement = statement<OrderHere>(
  'orders_to_reconcile',
  `select o.id, o.transaction_id, o.kind, t.status::text,
     coalesce(case when o.kind = 'PAYOUT' then c.moved_out else c.moved_in end, case
       when o.rate_lock is not null then (o.rate_lock ->> 'sent')::bigint when p.is_pull then t.sent_amount else t.received_amount end) as amount,
     case when p.is_pull or o.rate_lock is not null then t.sent_currency else t.received_currency end as currency,
     case when p.is_pull and (t.status = 'COMPLETED' or exists (select from rail_order n where n.platform_id = o.platform_id
            and n.transaction_id = o.transaction_id and n.kind = 'PAYOUT')) then 'SETTLED'
          when t.status in ('COMPLETED') then 'SETTLED'
          when t.status = 'REFUNDED' then 'RETURNED'
          when t.status in ('FAILED', 'REJECTED', 'EXPIRED') then 'FAILED'
          else 'UNDER_WAY' end as state,
     o.created_at >= $2 and o.created_at < $3 as in_period
   from rail_order o
   join transaction t on t.platform_id = o.platform_id and t.id = o.transaction_id
   left join rail_case c on c.platform_id = o.platform_id and c.order_id = o.id and c.kind = 'OTHER_AMOUNT'
   left join account a on a.platform_id = t.platform_id
     and a.id = case when o.kind = 'PAYOUT' then t.destination_account_id else t.source_account_id end,
   lateral (select o.kind = 'COLLECTION' and t.type = 'OUTGOING' as is_pull) p
   where o.platform_id = $1 and (a.kind = 'EXTERNAL' or o.rate_lock is not null) and (o.created_at >= $2 and o.created_at < $3 or o.id = any ($4::uuid[]))
   order by o.id`,
);

/** The longest delay allowed between an order and the start of its movement, in milliseconds: an hour. */
const laterMs = 3_600_000;

/**
 * Compares a platform's orders in a period with the movements that its provider reports.
 * @throws Refusal SERVICE_UNAVAILABLE if the rail cannot list movements; any error that the rail throws
 */
export async function reconcile(payments: Payments, tenant: Tenant, period: Period) {
  const rail = railOf(payments, tenant, 'movements');
  const to = new Date(period.to.getTime() + laterMs);
  const movements: RailMovement[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await railAnswer(rail.movements({ from: period.from, to, cursor }));
    movements.push(...page.movements);
    cursor = page.nextCursor;
    if (cursor === undefined) break;
  }
  const named = movements.flatMap(({ orderId, returnOf }) => [orderId, returnOf].filter((id) => id !== undefined));
  const { pool } = payments.database;
  const deposits = await readDeposits(pool, tenant.platformId, period, movements);
  const ordered = await ordersStatement(pool, tenant.platformId, period.from, period.to, named);
  const orders = [...ordered, ...deposits.credited];
  const unknown = deposits.movements.filter(({ reference }) => !deposits.open.has(reference));
  return {
    orders: orders.length,
    movements: movements.length,
    totals: totalsOf(orders, deposits.movements, period),
    differences: [...differencesOfOrders(orders, deposits.movements), ...strangers(orders, unknown)],
  };
}

function differencesOfOrders(orders: readonly OrderHere[], movements: readonly RailMovement[]): Difference[] {
  const byOrder = Map.groupBy(movements, ({ orderId }) => orderId);
  const returned = new Set(movements.map(({ returnOf }) => returnOf));
  return orders.flatMap((order): Difference[] => {
    const [movement, ...more] = byOrder.get(order.id) ?? [];
    const about = { orderId: order.id, transactionId: order.transactionId, here: wordsOf(order, order.status) };
    if (!movement) {
      // A failed order may never have reached the provider, and a waiting order may not have reached it yet.
      if (order.state === 'FAILED' || order.state === 'UNDER_WAY' || !order.inPeriod) return [];
      return [{ ...about, reference: undefined, fault: 'MISSING_THERE', there: undefined }];
    }
    const differing = (fault: Difference['fault'], { reference, state, ...money }: RailMovement): Difference => {
      return { ...about, reference, fault, there: wordsOf(money, state) };
    };
    const doubled = more.map((other) => differing('TWICE', other));
    if (order.amount !== movement.amount || order.currency !== movement.currency) {
      return [differing('OTHER_AMOUNT', movement), ...doubled];
    }
    // A collection that was refunded counts as failed.
    const state = movement.state === 'SETTLED' && returned.has(order.id) ? 'FAILED' : movement.state;
    // A payment that was returned before the service saw it arrive is FAILED here. Both sides agree: the money is back.
    const isBack = order.state === 'FAILED' && state === 'RETURNED';
    return order.state === state || isBack ? doubled : [differing('OTHER_OUTCOME', movement), ...doubled];
  });
}

/** Returns the movements that belong to no known order, except failed ones and incoming ones that are still pending. */
function strangers(orders: readonly OrderHere[], movements: readonly RailMovement[]): Difference[] {
  const known = new Set(orders.map(({ id }) => id));
  const nowhere = { transactionId: undefined, fault: 'MISSING_HERE', here: undefined } as const;
  return movements
    .filter(({ orderId = '', returnOf = '' }) => !known.has(orderId) && !known.has(returnOf))
    .filter(({ state, direction }) => state !== 'FAILED' && (state !== 'UNDER_WAY' || direction !== 'IN'))
    .map(({ orderId, reference, state, ...money }) => ({
      ...{ ...nowhere, orderId, reference, there: wordsOf(money, state) },
    }));
}

function wordsOf({ amount, currency }: Pick<RailMovement, 'amount' | 'currency'>, state: string): string {
  return `${state} ${formatForeign(amount, currency)}`;
}

const depositsStatement = statement<
  Pick<RailDeposit, 'id' | 'transactionId' | 'reference' | 'status' | 'amount' | 'currency'> & { inPeriod: boolean }
>(
  'deposits_to_reconcile',
  `select d.id, d.transaction_id, d.reference, d.status, d.amount, d.currency, d.began_at >= $2 and d.began_at < $3 as in_period
   from rail_deposit d
   where d.platform_id = $1 and (d.began_at >= $2 and d.began_at < $3 or d.reference = any ($4::text[]))
   order by d.id`,
);

/** Reads a period's deposits, and any others whose provider references occur in the given movements. */
async function readDeposits(on: Queryable, platformId: string, period: Period, movements: readonly RailMovement[]) {
  const references = movements.map(({ reference }) => reference);
  const deposits = await depositsStatement(on, platformId, period.from, period.to, references);
  const ids = new Map(deposits.map(({ reference, id }) => [reference, id]));
  return {
    /** The credited deposits, represented as orders. */
    credited: deposits.flatMap(({ transactionId, ...deposit }): OrderHere[] => {
      if (transactionId === null) return [];
      return [{ ...deposit, transactionId, kind: 'COLLECTION', status: 'COMPLETED', state: 'SETTLED' }];
    }),
    /** The movements. Those that belong to deposits have the deposits' ids as their order ids. */
    movements: movements.map((movement): RailMovement => {
      const id = ids.get(movement.reference);
      return id === undefined ? movement : { ...movement, orderId: id, returnOf: undefined };
    }),
    /** The references of uncredited deposits, which await an operator (`deposits list`) or have been closed by one. */
    open: new Set(deposits.flatMap(({ reference, transactionId }) => (transactionId === null ? [reference] : []))),
  };
}

export interface OrderHere {
  readonly id: string;
  readonly transactionId: string;
  readonly kind: RailOrderKind;
  readonly amount: bigint;
  readonly currency: string;
  readonly status: string;
  readonly state: RailMovement['state'];
  readonly inPeriod: boolean;
}

/** The sums of a period's movements in one currency, on both sides, in the currency's smallest unit. */
export interface Total extends Record<'receivedHere' | 'receivedThere' | 'paidHere' | 'paidThere', bigint> {
  readonly currency: string;
}

/** Sums a period's settled orders, the settled movements of its orders, and its settled movements without an order. */
export function totalsOf(orders: readonly OrderHere[], movements: readonly RailMovement[], { from, to }: Period) {
  const none = { receivedHere: 0n, receivedThere: 0n, paidHere: 0n, paidThere: 0n };
  const totals = new Map<string, Total>();
  const add = (currency: string, sum: keyof typeof none, amount: bigint) => {
    const total = totals.get(currency) ?? { currency, ...none };
    totals.set(currency, { ...total, [sum]: total[sum] + amount });
  };
  for (const { inPeriod, state, kind, currency, amount } of orders) {
    if (inPeriod && state === 'SETTLED') add(currency, kind === 'PAYOUT' ? 'paidHere' : 'receivedHere', amount);
  }
  const byId = new Map(orders.map((order) => [order.id, order]));
  for (const movement of movements) {
    const { orderId, returnOf, state, direction, at, currency, amount } = movement;
    const order = byId.get(orderId ?? returnOf ?? '');
    const isInPeriod = order ? order.inPeriod : at === undefined || (at >= from && at < to);
    if (!isInPeriod || state !== 'SETTLED') continue;
    // A collection's refund is an outgoing movement.
    const isPaid = returnOf !== undefined || (order ? order.kind === 'PAYOUT' : direction === 'OUT');
    add(currency, isPaid ? 'paidThere' : 'receivedThere', amount);
  }
  return [...totals.values()].sort((one, other) => one.currency.localeCompare(other.currency));
}

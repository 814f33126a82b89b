import type { Period } from '../../core/checks.ts';
import type { RailOrderKind } from '../../infra/database/generated/client/client.ts';
import type { RailMovement } from '../../rails/rail-movements.ts';

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

/** The movements of a period in one currency, on both sides, in smallest units. */
export interface Total {
  readonly currency: string;
  readonly receivedHere: bigint;
  readonly receivedThere: bigint;
  readonly paidHere: bigint;
  readonly paidThere: bigint;
}

type Sums = { -readonly [Sum in Exclude<keyof Total, 'currency'>]: bigint };

/** Sums a period's settled orders, and the movements that began in it and belong to these orders or to none. */
export function totalsOf(orders: readonly OrderHere[], movements: readonly RailMovement[], { from, to }: Period) {
  const totals = new Map<string, Sums>();
  const add = (currency: string, sum: keyof Sums, amount: bigint) => {
    const all = totals.get(currency) ?? { receivedHere: 0n, receivedThere: 0n, paidHere: 0n, paidThere: 0n };
    all[sum] += amount;
    totals.set(currency, all);
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
    // The refund of a collection goes out.
    const isPaid = returnOf !== undefined || (order ? order.kind === 'PAYOUT' : direction === 'OUT');
    add(currency, isPaid ? 'paidThere' : 'receivedThere', amount);
  }
  return [...totals]
    .map(([currency, sums]) => ({ currency, ...sums }))
    .sort((one, other) => one.currency.localeCompare(other.currency));
}

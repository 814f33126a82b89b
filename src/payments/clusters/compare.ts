import { statement } from '../../database/statement.ts';
import type { Payments } from '../command.ts';
import {
  type ClusterOrderState,
  type ClusterTotal,
  ordersAnswer,
  type ordersQuestion,
  paths,
  totalsAnswer,
} from './messages.ts';

/**
 * The comparison of two clusters: what each has settled with the other. What one owes the other is the sum of the orders that it has
 * sent and that have settled. Only where the sums of a day differ, its orders are compared one by one.
 */

const totalsStatement = statement<Omit<ClusterTotal, 'orders'> & { orders: bigint }>(
  'cluster_totals',
  'select direction, day, currency, orders, amount, fingerprint from cluster_totals($1)',
);

const ordersStatement = statement<ClusterOrderState>(
  'cluster_orders',
  'select order_id, transaction_id, amount, state from cluster_orders($1, $2, $3::text, $4::text)',
);

type Slice = Pick<ClusterTotal, 'direction' | 'day' | 'currency'>;

/** Lists what has settled here with another cluster, by direction, day and currency. */
export async function listTotals({ database }: Payments, cluster: string): Promise<ClusterTotal[]> {
  const rows = await totalsStatement(database.pool, cluster);
  return rows.map((row) => ({ ...row, orders: Number(row.orders) }));
}

/** Lists the orders of a day here with another cluster, and what has become of each. */
export function listOrders(
  { database }: Payments,
  cluster: string,
  { direction, day, currency }: (typeof ordersQuestion)['_output'],
): Promise<ClusterOrderState[]> {
  return ordersStatement(database.pool, cluster, direction, day, currency);
}

/** What this cluster and another owe each other in one currency, by each side's books, in smallest units. */
export interface Debt {
  readonly cluster: string;
  readonly currency: string;
  readonly owedToThem: bigint;
  readonly theyExpect: bigint;
  readonly owedToUs: bigint;
  readonly theyOwe: bigint;
}

/** An order that only one side has settled, while the other does not work on it. */
export interface ClusterDifference extends Slice {
  readonly cluster: string;
  readonly orderId: string;
  readonly transactionId: string | null;
  readonly amount: string;
  readonly here: ClusterOrderState['state'] | 'UNKNOWN';
  readonly there: ClusterOrderState['state'] | 'UNKNOWN';
}

/** What a comparison found. `underWay`: how many orders one side has settled and the other still works on. */
export interface Comparison {
  readonly debts: readonly Debt[];
  readonly differences: readonly ClusterDifference[];
  readonly underWay: number;
}

/**
 * Compares what was settled with a cluster by its books and by those here.
 * @throws ClusterFault where it does not answer
 */
export async function compareWith(payments: Payments, other: string): Promise<Comparison> {
  const { cluster } = payments;
  if (!cluster) throw new Error('there is no other cluster');
  const [here, answered] = await Promise.all([
    listTotals(payments, other),
    cluster.calls.call(other, paths.totals, {}),
  ]);
  // What one side has sent the other one has received.
  const there = totalsAnswer
    .parse(answered)
    .totals.map((total) => ({ ...total, direction: opposite(total.direction) }));
  const differences: ClusterDifference[] = [];
  let underWay = 0;
  for (const slice of slicesThatDiffer(here, there)) {
    const found = await compareSlice(payments, other, slice);
    differences.push(...found.differences);
    underWay += found.underWay;
  }
  return { debts: debtsOf(other, here, there), differences, underWay };
}

function opposite(direction: Slice['direction']): Slice['direction'] {
  return direction === 'SENT' ? 'RECEIVED' : 'SENT';
}

const keyOf = ({ direction, day, currency }: Slice) => `${direction} ${day} ${currency}`;

function slicesThatDiffer(here: readonly ClusterTotal[], there: readonly ClusterTotal[]): Slice[] {
  const textOf = (total: ClusterTotal | undefined) => total && `${total.orders} ${total.amount} ${total.fingerprint}`;
  const [ours, theirs] = [here, there].map((totals) => new Map(totals.map((total) => [keyOf(total), total])));
  const all = new Map([...here, ...there].map((total) => [keyOf(total), total]));
  return [...all].filter(([key]) => textOf(ours?.get(key)) !== textOf(theirs?.get(key))).map(([, total]) => total);
}

async function compareSlice(payments: Payments, other: string, { direction, day, currency }: Slice) {
  const [ours, answered] = await Promise.all([
    listOrders(payments, other, { direction, day, currency }),
    payments.cluster?.calls.call(other, paths.orders, { direction: opposite(direction), day, currency }),
  ]);
  const here = new Map(ours.map((order) => [order.orderId, order]));
  const there = new Map(ordersAnswer.parse(answered).orders.map((order) => [order.orderId, order]));
  const differences: ClusterDifference[] = [];
  let underWay = 0;
  for (const orderId of new Set([...here.keys(), ...there.keys()])) {
    const [one, two] = [here.get(orderId), there.get(orderId)];
    const states = [one?.state ?? 'UNKNOWN', two?.state ?? 'UNKNOWN'] as const;
    const settled = states.filter((state) => state === 'SETTLED').length;
    if (settled === 0 || (settled === 2 && one?.amount === two?.amount)) continue;
    if (states.includes('OPEN')) underWay += 1;
    else {
      const transactionId = one?.transactionId ?? null;
      const amount = one?.amount ?? two?.amount ?? '0';
      differences.push({
        ...{ cluster: other, direction, day, currency, orderId, transactionId, amount },
        ...{ here: states[0], there: states[1] },
      });
    }
  }
  return { differences, underWay };
}

function debtsOf(cluster: string, here: readonly ClusterTotal[], there: readonly ClusterTotal[]): Debt[] {
  const sum = (totals: readonly ClusterTotal[], direction: Slice['direction'], code: string) =>
    totals
      .filter((total) => total.direction === direction && total.currency === code)
      .reduce((all, { amount }) => all + BigInt(amount), 0n);
  return [...new Set([...here, ...there].map(({ currency }) => currency))].sort().map((currency) => ({
    ...{ cluster, currency },
    owedToThem: sum(here, 'SENT', currency),
    theyExpect: sum(there, 'SENT', currency),
    owedToUs: sum(here, 'RECEIVED', currency),
    theyOwe: sum(there, 'RECEIVED', currency),
  }));
}

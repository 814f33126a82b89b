import type { RailOutcome } from '../../rails/rail.ts';
import { isFromCluster } from '../clusters/from-cluster.ts';
import { clusterOfOrder, findOrderElsewhere, sendOrder } from '../clusters/send-order.ts';
import { connectedRail, type Payments, railOf } from '../command.ts';
import type { DueOrder } from '../orders/orders.ts';
import { railRequest } from '../orders/rail-request.ts';

/**
 * Performs an order where it is to be performed: in the cluster of its receiver, or by the rail of its platform.
 * @param settled whether it has settled before
 * @throws whatever keeps the other side from being asked
 */
export async function performAnywhere(payments: Payments, order: DueOrder, settled: boolean): Promise<RailOutcome> {
  const cluster = clusterOfOrder(payments, order);
  if (cluster !== undefined) return sendOrder(payments, order, cluster, settled);
  const request = railRequest(order, settled);
  if (order.kind === 'PAYOUT') return railOf(payments, order, 'payOut').payOut(request);
  if (!(await isFromCluster(payments, order))) return railOf(payments, order, 'collect').collect(request);
  // The other cluster holds the money for it. It stays here, or the rail pays it out to the external account of its receiver.
  if (!request.account) return { kind: 'settled' };
  return railOf(payments, order, 'payOut').payOut({ ...request, kind: 'PAYOUT', umaAddress: undefined });
}

/**
 * Says what has become of an order, and sends nothing where the other side can be asked like that.
 * @returns undefined where the other side does not have it
 */
export async function findAnywhere(payments: Payments, order: DueOrder): Promise<RailOutcome | undefined> {
  const cluster = clusterOfOrder(payments, order);
  if (cluster !== undefined) return findOrderElsewhere(payments, order, cluster);
  const findOrder = connectedRail(payments, order)?.findOrder;
  return findOrder ? findOrder(railRequest(order, false)) : performAnywhere(payments, order, false);
}

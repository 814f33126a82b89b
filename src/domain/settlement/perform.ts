import type { RailOutcome } from '../../rails/rail.ts';
import { connectedRail, type Payments, railOf } from '../commands/command.ts';
import type { DueOrder } from '../orders/orders.ts';
import { railRequest } from '../orders/rail-request.ts';

/**
 * Asks the rail of an order's platform to perform it.
 * @param settled whether it has settled before
 * @throws any error that keeps the rail from answering
 */
export async function performOrder(payments: Payments, order: DueOrder, settled: boolean): Promise<RailOutcome> {
  const request = railRequest(order, settled);
  return order.kind === 'PAYOUT'
    ? railOf(payments, order, 'payOut').payOut(request)
    : railOf(payments, order, 'collect').collect(request);
}

/**
 * Asks for the state of an order without sending it, where the rail supports that.
 * @returns undefined where the rail does not have it
 */
export async function findOrder(payments: Payments, order: DueOrder): Promise<RailOutcome | undefined> {
  const find = connectedRail(payments, order)?.findOrder;
  return find ? find(railRequest(order, false)) : performOrder(payments, order, false);
}

import { statement } from '../../database/statement.ts';
import type { Payments } from '../command.ts';
import type { DueOrder } from '../orders/orders.ts';

const receivedStatement = statement<object>(
  'payment_from_cluster',
  "select from cluster_order where platform_id = $1 and transaction_id = $2 and direction = 'RECEIVED'",
);

/** Tells whether an order collects a payment that another cluster has ordered: its money waits there until it is credited here. */
export async function isFromCluster({ database, cluster }: Payments, order: DueOrder): Promise<boolean> {
  const { kind, platformId, transaction } = order;
  if (!cluster || kind !== 'COLLECTION' || transaction.sourceKind !== 'UMA_ADDRESS') return false;
  return (await receivedStatement(database.pool, platformId, transaction.id)).length > 0;
}

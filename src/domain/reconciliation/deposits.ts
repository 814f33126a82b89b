import type { DepositStatus } from '../../infra/database/generated/client/client.ts';
import { type Queryable, statement } from '../../infra/database/statement.ts';
import type { RailMovement } from '../../rails/rail-movements.ts';
import type { OrderHere } from './totals.ts';

const depositsStatement = statement<{
  id: string;
  transactionId: string | null;
  reference: string;
  status: DepositStatus;
  amount: bigint;
  currency: string;
  inPeriod: boolean;
}>(
  'deposits_to_reconcile',
  `select d.id, d.transaction_id, d.reference, d.status, d.amount, d.currency, d.began_at >= $2 and d.began_at < $3 as in_period
   from rail_deposit d
   where d.platform_id = $1 and (d.began_at >= $2 and d.began_at < $3 or d.reference = any ($4::text[]))
   order by d.id`,
);

/** The deposits of a period, as they are compared with the movements there. */
export interface DepositsHere {
  /** The credited deposits, in the form of orders. */
  readonly credited: readonly OrderHere[];
  /** The movements, of which those of deposits name them instead of an order. */
  readonly movements: readonly RailMovement[];
  /** The references of those that are not credited: an operator has them (`deposits list`), or has closed them. */
  readonly open: ReadonlySet<string>;
}

/** Reads the deposits of a period, and those that movements name. A deposit is found by the provider's reference. */
export async function readDeposits(
  on: Queryable,
  platformId: string,
  period: { readonly from: Date; readonly to: Date },
  movements: readonly RailMovement[],
): Promise<DepositsHere> {
  const references = movements.map(({ reference }) => reference);
  const deposits = await depositsStatement(on, platformId, period.from, period.to, references);
  const ids = new Map(deposits.map(({ reference, id }) => [reference, id]));
  return {
    credited: deposits.flatMap(({ id, transactionId, amount, currency, inPeriod }) =>
      transactionId === null
        ? []
        : [
            {
              id,
              transactionId,
              kind: 'COLLECTION',
              amount,
              currency,
              status: 'COMPLETED',
              state: 'SETTLED',
              inPeriod,
            },
          ],
    ),
    movements: movements.map((movement) => {
      const id = ids.get(movement.reference);
      return id === undefined ? movement : { ...movement, orderId: id, returnOf: undefined };
    }),
    open: new Set(deposits.flatMap(({ reference, transactionId }) => (transactionId === null ? [reference] : []))),
  };
}

import type {
  TransactionStatus as Status,
  TransactionType as Type,
} from '../../../../infra/database/generated/client/client.ts';
import { totalsOf } from '../../reading/totals-reads.ts';
import { builder } from '../builder.ts';
import { TransactionStatus, TransactionType } from '../enums.ts';
import { TransactionFilter } from '../filters.ts';

/** The totals of payments, by status, direction and currency. */

interface Total {
  readonly status: Status;
  readonly type: Type;
  readonly count: number;
  readonly amount: bigint;
  readonly currency: string;
}

export const TransactionTotal = builder.objectRef<Total>('TransactionTotal').implement({
  description: 'The number and the sum of the payments that share a status, a direction and a currency.',
  fields: (t) => ({
    status: t.expose('status', { type: TransactionStatus, description: 'The status of these payments.' }),
    type: t.expose('type', { type: TransactionType, description: 'The direction of these payments.' }),
    count: t.exposeInt('count', { description: 'The number of these payments.' }),
    amount: t.money('amount', 'currency', {
      description:
        "The sum of these payments on the customer's side: amounts sent by OUTGOING payments, fees included, and amounts received by INCOMING ones.",
    }),
  }),
});

builder.queryField('transactionTotals', (t) =>
  t.fromQuery([TransactionTotal], totalsOf(), {
    description: 'The number and the sum of payments, by status, direction and currency.',
    args: { filter: t.arg({ type: TransactionFilter, description: 'Counts only payments that match this filter.' }) },
  }),
);

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
  description: 'How many payments have a status, a direction and a currency, and how much they are together.',
  fields: (t) => ({
    status: t.expose('status', { type: TransactionStatus, description: 'Their status.' }),
    type: t.expose('type', { type: TransactionType, description: 'Their direction.' }),
    count: t.exposeInt('count', { description: 'How many there are.' }),
    amount: t.money('amount', 'currency', {
      description:
        "What they are together, on the customer's side: what OUTGOING ones send, fees included, and INCOMING ones receive.",
    }),
  }),
});

builder.queryField('transactionTotals', (t) =>
  t.fromQuery([TransactionTotal], totalsOf(), {
    description: 'How many payments there are and how much they are together, by status, direction and currency.',
    args: { filter: t.arg({ type: TransactionFilter, description: 'Only those that match this filter.' }) },
  }),
);

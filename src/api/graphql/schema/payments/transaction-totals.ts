import { whereTransactions } from '../../../../domain/commands/filters.ts';
import { listRows } from '../../../../infra/database/list-rows.ts';
import { planned } from '../../reading/planned.ts';
import { leaf, type PageRead, type Read, sql, textOfRun } from '../../reading/reads.ts';
import { Shared } from '../../reading/sql.ts';
import { builder } from '../builder.ts';
import { TransactionStatus, TransactionType } from '../enums.ts';
import { TransactionFilter } from '../filters.ts';
import { MoneyType, moneyRead } from '../values/money.ts';

/** The totals of payments, by status, direction and currency. Only plans read them. */

export const TransactionTotal = builder.objectRef<never>('TransactionTotal').implement({
  description: 'How many payments have a status, a direction and a currency, and how much they are together.',
  fields: (t) => ({
    status: t.field({
      type: TransactionStatus,
      description: 'Their status.',
      ...planned(leaf.enumValue('status')),
    }),
    type: t.field({ type: TransactionType, description: 'Their direction.', ...planned(leaf.enumValue('type')) }),
    count: t.int({ description: 'How many there are.', ...planned(leaf.plain('count')) }),
    amount: t.field({
      type: MoneyType,
      description:
        "What they are together, on the customer's side: what OUTGOING ones send, fees included, and INCOMING ones receive.",
      ...planned(moneyRead('amount', 'currency')),
    }),
  }),
});

/** Reads the totals of the payments that a filter matches, of those that belong to the parent. */
export const totalsOf = (of?: PageRead['of']): Read => ({
  kind: 'values',
  costs: 'sums',
  from: (env, alias, args) => ({
    from: sql`${new Shared(sql`select t.status, t.type, t.currency, count(*) as count, sum(t.amount) as amount
      from (select x.status, x.type, case x.type when 'OUTGOING' then coalesce(x.sent_currency, x.received_currency) else x.received_currency end as currency,
          case x.type when 'OUTGOING' then coalesce(x.sent_amount, x.received_amount, 0) else coalesce(x.received_amount, 0) end as amount
        from ${(run) => {
          const filter = args(run).filter as Parameters<typeof whereTransactions>[1];
          const below = of?.(env, 'x', args).map((way) => textOfRun(way, run));
          return listRows(
            { model: 'Transaction', alias: 'x', where: whereTransactions(run.viewer, filter), below },
            run,
          );
        }}) t
      group by t.status, t.type, t.currency`)} ${alias}`,
    orderBy: `${alias}.status, ${alias}.type, ${alias}.currency`,
    env: { row: alias },
  }),
});

builder.queryField('transactionTotals', (t) =>
  t.field({
    type: [TransactionTotal],
    description: 'How many payments there are and how much they are together, by status, direction and currency.',
    args: { filter: t.arg({ type: TransactionFilter, description: 'Which ones.' }) },
    ...planned(totalsOf()),
  }),
);

import { whereTransactions } from '../../../domain/commands/filters.ts';
import { listRows } from '../../../infra/database/list-rows.ts';
import { type MadeRead, rowsBelow } from './kinds.ts';
import { sql } from './reads.ts';
import { Shared, textOfRun } from './sql.ts';

/** The totals of the payments that the field's filter matches, of those that relations lead to, by status, direction and currency. */
export const totalsOf =
  (...relations: readonly string[]): MadeRead =>
  ({ model }) => {
    const of = relations.length === 0 ? undefined : rowsBelow(model, relations);
    return {
      kind: 'values',
      costs: 'sums',
      ways: Math.max(1, relations.length),
      from: (env, alias, args) => ({
        from: sql`${new Shared(sql`select t.status, t.type, t.currency, count(*) as count, sum(t.amount) as amount
      from (select x.status, x.type, case x.type when 'OUTGOING' then coalesce(x.sent_currency, x.received_currency) else x.received_currency end as currency,
          case x.type when 'OUTGOING' then coalesce(x.sent_amount, x.received_amount, 0) else coalesce(x.received_amount, 0) end as amount
        from ${(run) => {
          const filter = args(run).filter as Parameters<typeof whereTransactions>[1];
          const below = of?.(env, 'x').map((way) => textOfRun(way, run));
          return listRows(
            { model: 'Transaction', alias: 'x', where: whereTransactions(run.viewer, filter), below },
            run,
          );
        }}) t
      group by t.status, t.type, t.currency`)} ${alias}`,
        orderBy: `${alias}.status, ${alias}.type, ${alias}.currency`,
        env: { row: alias },
      }),
    };
  };

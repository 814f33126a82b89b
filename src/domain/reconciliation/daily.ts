import { statement } from '../../infra/database/statement.ts';
import { connectedRail, type Payments } from '../commands/command.ts';
import { runReconciliation } from './reconciliation.ts';

/** The daily reconciliation: the service compares each day once it is over, and again while it has open differences. */

/** For how many days the service still compares a day that was missed or has open differences. */
const missedDays = 7;
const openDays = 31;

/**
 * Selects a platform's due days, oldest first, in UTC: those without a finished reconciliation and, once a day, those
 * with open differences. The previous day is due from the hour `$2` on. A worker that begins a day reserves it for 15
 * minutes.
 */
const dueStatement = statement<{ from: Date; to: Date }>(
  'due_reconciliations',
  `with now as (select clock_timestamp() as now,
       date_trunc('day', clock_timestamp() - $2::int * interval '1 hour', 'UTC') as today),
     day as (select today - d * interval '24 hours' as period_from, today - (d - 1) * interval '24 hours' as period_to,
       today + $2::int * interval '1 hour' as due_since, d from now, generate_series(1, ${openDays}) d)
   select day.period_from as "from", day.period_to as "to" from day
   cross join now
   join platform p on p.id = $1 and p.created_at < day.period_to
   left join reconciliation r on r.platform_id = $1 and r.period_from = day.period_from and r.period_to = day.period_to
   where (r.started_at is null or r.started_at < now.now - interval '15 minutes')
     and (r.finished_at is null and day.d <= ${missedDays} or r.finished_at < day.due_since and exists (
       select from reconciliation_difference x where x.platform_id = $1 and x.closed_at is null and x.gone_at is null
         and x.period_from >= day.period_from and x.period_to <= day.period_to))
   order by day.period_from`,
);

const claimStatement = statement<{ id: string }>(
  'claim_reconciliation',
  `insert into reconciliation as r (platform_id, period_from, period_to) values ($1, $2, $3)
   on conflict (platform_id, period_from, period_to) do update set started_at = clock_ms()
     where r.started_at < clock_timestamp() - interval '15 minutes'
   returning id`,
);

/**
 * Reconciles the due days of all platforms whose rails list movements. A provider that cannot be queried does not delay
 * the others: its day is retried 15 minutes later.
 * @param hour the hour of the day, in UTC, from which the previous day is compared
 * @returns the number of days compared
 */
export async function reconcileDueDays(payments: Payments, hour: number): Promise<number> {
  const { pool, prisma } = payments.database;
  let done = 0;
  for (const { id: platformId, environment } of await prisma.platform.findMany({ orderBy: { id: 'asc' } })) {
    const tenant = { platformId, environment };
    if (!connectedRail(payments, tenant)?.movements) continue;
    for (const { from, to } of await dueStatement(pool, platformId, hour)) {
      const [claimed] = await claimStatement(pool, platformId, from, to);
      if (!claimed) continue;
      try {
        const { differences } = await runReconciliation(payments, tenant, { from, to }, null);
        const day = from.toISOString().slice(0, 10);
        const found = { platform: platformId, day, differences: differences.length };
        if (differences.length > 0) payments.log.error(found, 'the ledger and the provider differ: see reconcile list');
        else payments.log.info(found, 'the ledger and the provider agree');
        done += 1;
      } catch (error) {
        payments.log.error({ err: error, platform: platformId }, 'could not compare the ledger with the provider');
        break;
      }
    }
  }
  return done;
}

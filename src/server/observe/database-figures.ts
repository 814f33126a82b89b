import { Gauge, type Registry } from 'prom-client';
import { DatabaseClient } from '../../infra/database/connections/hosts.ts';
import type { Database } from '../../infra/database/database.ts';
import { firstDue } from '../../infra/database/leases.ts';

/** The time limit for reading the figures, in milliseconds. Figures that arrive later are omitted from the scrape. */
const limitMs = 2_000;
/** The maximum number of rows to count: enough for an alert, but too few to slow down the scrape. */
const maxCount = 100_000;

const countOf = (rows: string) => `(select count(*)::int from (select ${rows} limit ${maxCount}) as counted)`;
const ageOf = (time: string) => `coalesce(greatest(0, extract(epoch from clock_timestamp() - (${time}))), 0)::float8`;
const lastAudit = '(select finished_at, broken from audit_run order by id desc limit 1) as last_audit';

/** Figures about the server. They are read first, so that a locked table cannot hide the sessions waiting for it. */
const serverFigures = `select
  case when pg_has_role('pg_read_all_stats', 'usage') then
    (select coalesce(max(extract(epoch from clock_timestamp() - since)), 0)::float8 from (
       select xact_start as since from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
         and (backend_xmin is not null or backend_xid is not null)
       union all select prepared from pg_prepared_xacts where database = current_database()) as open) end as oldest_snapshot_seconds,
  (select count(*)::int from pg_locks l where not l.granted and (0 = any (pg_blocking_pids(l.pid)) or exists (select from pg_stat_activity a
     where a.pid = any (pg_blocking_pids(l.pid)) and a.xact_start < clock_timestamp() - interval '2 seconds'))) as blocked_sessions,
  (select coalesce(max(pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end, restart_lsn)), 0)::float8
   from pg_replication_slots) as slot_kept_bytes,
  (select max(greatest(age(datfrozenxid), mxid_age(datminmxid)))::float8 / 2147483648 from pg_database) as transaction_numbers_used_ratio,
  pg_database_size(current_database())::float8 as size_bytes`;

const tableFigures = `select
  ${countOf('from outbox')} as outbox_events,
  ${ageOf('select occurred_at from outbox order by id limit 1')} as outbox_oldest_seconds,
  ${countOf('from rail_order where due_at is not null')} as orders_open,
  ${countOf("from rail_order where due_at < clock_timestamp() - interval '30 seconds'")} as orders_overdue,
  ${ageOf(firstDue({ table: 'rail_order' }))} as orders_oldest_overdue_seconds,
  ${countOf("from webhook_delivery where status = 'PENDING'")} as deliveries_pending,
  ${ageOf(`select min(uuid_v7_time(id)) from (select id from webhook_delivery where status = 'PENDING' limit ${maxCount}) as pending`)}
    as deliveries_oldest_seconds,
  ${countOf("from quote where status = 'PENDING' and expires_at < clock_timestamp() - interval '30 seconds'")} as quotes_overdue,
  (select count(*)::int from feed_epoch where marked_at is null) as restores_unmarked,
  ${countOf('from reconciliation_difference where closed_at is null and gone_at is null')} as reconciliation_differences,
  ${countOf("from rail_deposit where status = 'UNATTRIBUTED'")} as deposits_unattributed,
  ${ageOf(firstDue({ table: 'rail_webhook' }))} as provider_webhooks_oldest_overdue_seconds,
  (select coalesce(extract(epoch from max(finished_at)), 0)::float8 from reconciliation) as reconciliation_last_timestamp_seconds,
  (select coalesce(max(extract(epoch from finished_at)), 0)::float8 from ${lastAudit}) as audit_last_timestamp_seconds,
  (select coalesce(max(extract(epoch from finished_at)), 0)::float8 from (
     select finished_at from audit_run where covers_from is null order by id desc limit 1) as last_full_audit)
    as audit_full_last_timestamp_seconds,
  (select coalesce(max(cardinality(broken)), 0) from ${lastAudit}) as audit_broken_rules,
  (select extract(epoch from max(finished_at))::float8 from public._prisma_migrations where rolled_back_at is null)
    as last_migration_timestamp_seconds,
  (select coalesce(json_agg(json_build_object('currency', sent_currency, 'count', count)), '[]')
   from (select t.sent_currency, count(*)::int as count from transaction t
         where t.refund_reference is not null and t.refund_settled_at is null
           and exists (select from journal j
             where j.platform_id = t.platform_id and j.transaction_id = t.id and j.kind = 'suspension')
         group by t.sent_currency) as suspended) as suspense`;

/** The descriptions of the figures. A metric's name is `payments_database_` followed by the column. */
const meanings = {
  outbox_events: 'Events in the outbox that are not in the feed yet.',
  outbox_oldest_seconds: 'How long the oldest event has waited in the outbox.',
  orders_open: 'Orders to rails that have no outcome yet.',
  orders_overdue: 'Orders for which the rail should have been queried more than 30 seconds ago.',
  orders_oldest_overdue_seconds: 'How long the most overdue order to a rail has been due.',
  deliveries_pending: 'Webhook deliveries that are not finished.',
  deliveries_oldest_seconds: 'The age of the oldest unfinished webhook delivery.',
  quotes_overdue: 'Quotes that should have expired more than 30 seconds ago.',
  oldest_snapshot_seconds:
    'The age of the oldest transaction that prevents the removal of dead rows, because it has a snapshot, has written, or is prepared. Absent if gateway_work lacks pg_read_all_stats.',
  blocked_sessions: 'Sessions waiting for a lock that is held by a transaction open for two seconds or more.',
  slot_kept_bytes: 'How much WAL is retained by the replication slot that is farthest behind.',
  transaction_numbers_used_ratio:
    'The share of transaction ids used since the oldest one that is not frozen. When it is close to 1, the server refuses writes.',
  size_bytes: 'The size of the database on disk, without WAL.',
  restores_unmarked:
    'How many times the database was restored, or a standby promoted, since an operator last marked a restore.',
  reconciliation_differences: 'Open differences between the ledger and the providers.',
  deposits_unattributed: 'Deposits at providers that an operator must assign to an account.',
  provider_webhooks_oldest_overdue_seconds: 'How long the most overdue webhook from a provider has been due.',
  reconciliation_last_timestamp_seconds: 'When a comparison with a provider last finished; 0 if none has.',
  audit_last_timestamp_seconds: 'When an audit of the ledger (npm run ops -- audit) last finished; 0 if none has.',
  audit_full_last_timestamp_seconds:
    'When an audit of all rows (npm run ops -- audit --full) last finished; 0 if none has.',
  audit_broken_rules:
    "How many of the ledger's rules were broken at the last audit; 0 if none were, or if there has been no audit.",
  last_migration_timestamp_seconds: 'When the last migration was applied.',
} as const;

type Figures = Partial<Record<keyof typeof meanings, number | null>> & {
  readonly suspense?: readonly { readonly currency: string; readonly count: number }[];
};

/**
 * Creates the gauges for the database figures, and returns a function that reads them on a separate connection for each
 * scrape. If the database does not return some of them in time, they are absent and `payments_database_up` is 0.
 * @param database opened for background work, so that it sees all platforms
 */
export function databaseFigures(database: Database, registers: Registry[]): () => Promise<void> {
  const gauges = Object.entries(meanings).map(
    // `Object.entries` loses the type of the names.
    ([name, help]) =>
      [name as keyof typeof meanings, new Gauge({ name: `payments_database_${name}`, help, registers })] as const,
  );
  const suspense = new Gauge({
    name: 'payments_database_suspense_refunds',
    help: 'Refunds in suspense that await an operator, by currency.',
    labelNames: ['currency'],
    registers,
  });
  const up = new Gauge({
    name: 'payments_database_up',
    help: 'Whether all database figures could be read for this scrape: 1 or 0. If not, some or all of them are absent.',
    registers,
  });

  function show(figures: Figures = {}): void {
    for (const [name, gauge] of gauges) {
      const figure = figures[name] ?? null;
      if (figure !== null) gauge.set(figure);
    }
    for (const { currency, count } of figures.suspense ?? []) suspense.set({ currency }, count);
  }

  return async () => {
    for (const [, gauge] of gauges) gauge.remove();
    suspense.reset();
    const client = new DatabaseClient({
      ...database.connectionFor('metrics'),
      connectionTimeoutMillis: limitMs,
      query_timeout: limitMs,
    });
    try {
      await client.connect();
      await client.query(`set statement_timeout = ${limitMs}`);
      for (const figures of [serverFigures, tableFigures]) show((await client.query<Figures>(figures)).rows[0]);
      up.set(1);
    } catch {
      up.set(0);
    } finally {
      client.end().catch(() => undefined);
    }
  };
}

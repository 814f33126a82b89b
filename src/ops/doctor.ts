import pg from 'pg';
import { pino } from 'pino';
import { type Answer, listed } from '../apps/terminal/answer.ts';
import type { Program } from '../apps/terminal/program.ts';
import { unmarkedRestore } from '../domain/events/sequencer.ts';
import { type Database, openDatabase } from '../infra/database/database.ts';
import { verifyMigrations } from '../infra/database/migrations/migrate.ts';
import { refuseOwners } from '../infra/database/owners.ts';
import { openReplicas } from '../infra/database/replicas/replicas.ts';
import { statement } from '../infra/database/statement.ts';
import type { Config } from '../server/config.ts';
import { wordsOf } from '../server/print-error.ts';
import { missingKeys } from '../server/start/keys-in-use.ts';
import { directUrl, poolerOf } from '../server/start/prepare-database.ts';
import { findUnsafe } from '../server/start/unsafe-settings.ts';
import { type Settings, withSettings } from './tools.ts';

/** Adds the command that diagnoses the settings and the database. */
export function addDoctor(program: Program): void {
  program
    .command('doctor')
    .description(
      'check the settings and the database of an instance here; it changes nothing, and exits with 1 at a fault',
    )
    .action(withSettings(examine));
}

/** The result of a check. A fault stops an instance or its work; a warning needs the attention of an operator. */
type Finding = {
  readonly check: string;
  readonly result: 'ok' | 'warning' | 'fault';
  readonly detail: string;
};

const ok = (check: string, detail: string): Finding => ({ check, result: 'ok', detail });
const warning = (check: string, detail: string): Finding => ({ check, result: 'warning', detail });
const fault = (check: string, detail: string): Finding => ({ check, result: 'fault', detail });

async function examine({ config }: Settings): Promise<Answer> {
  const findings = [...safety(config), ...(await ofDatabase(config))];
  return { ...listed(findings, ''), exitCode: findings.some(({ result }) => result === 'fault') ? 1 : 0 };
}

function safety(config: Config): Finding[] {
  const findings = findUnsafe(config, process.env.NODE_TLS_REJECT_UNAUTHORIZED !== '0');
  if (findings.length === 0) return [ok('settings', 'nothing unsafe')];
  return findings.map(({ kind, fault: words }) =>
    config.ALLOW_UNSAFE.includes(kind) ? warning('settings', `${words} (allowed: ${kind})`) : fault('settings', words),
  );
}

async function ofDatabase(config: Config): Promise<Finding[]> {
  const url = directUrl(config);
  if (url === '') return [warning('database', 'DATABASE_URL is not set: the embedded database is used')];
  const role = config.ROLE === 'serve' ? 'gateway_serving' : 'gateway_work';
  const database = openDatabase({ url, role, poolSize: 1 });
  try {
    return [
      await login(database, config),
      await migrations(url),
      ...(await state(database, config, role)),
      ...(await throughPooler(config)),
      ...(await ofReplicas(database, config)),
    ];
  } catch (error) {
    return [fault('database', `it cannot be used: ${wordsOf(error)}`)];
  } finally {
    await database.close();
  }
}

/**
 * Reports for each replica whether it would get reads. If not, that is not a fault of the instance: the primary reads.
 */
async function ofReplicas(database: Database, config: Config): Promise<Finding[]> {
  const replicas = openReplicas(database, config, pino({ level: 'silent' }));
  if (!replicas) return [];
  try {
    await replicas.check();
    return replicas.all.map(({ number, trouble, lag }) =>
      trouble === undefined
        ? ok(`replica ${number}`, `it follows, ${lag?.bytes ?? 0} bytes behind`)
        : warning(`replica ${number}`, trouble),
    );
  } finally {
    await replicas.close();
  }
}

async function login(database: Database, config: Config): Promise<Finding> {
  const refusal = await refuseOwners(database).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof pg.DatabaseError || !(error instanceof Error)) throw error;
      return error.message;
    },
  );
  if (refusal === undefined) return ok('login', 'it owns nothing');
  return config.ALLOW_UNSAFE.includes('owner-login') ? warning('login', refusal) : fault('login', refusal);
}

function migrations(url: string): Promise<Finding> {
  return verifyMigrations(url).then(
    () => ok('migrations', 'all are applied'),
    (error: unknown) => fault('migrations', wordsOf(error)),
  );
}

async function throughPooler(config: Config): Promise<Finding[]> {
  try {
    const pooler = await poolerOf(config);
    if (!pooler) return [];
    return [
      ok(
        'pooler',
        pooler.prepares ? 'it prepares statements' : 'it has no prepared statements: each is planned every time',
      ),
    ];
  } catch (error) {
    return [fault('pooler', wordsOf(error))];
  }
}

interface State {
  readonly version: number;
  readonly writable: boolean;
  readonly role: string;
  readonly timezone: string;
  readonly clockAhead: number;
  readonly connections: number;
  readonly maxConnections: number;
  readonly oldestEventSeconds: number | null;
  readonly overdueOrders: number | null;
  readonly inSuspense: number | null;
  readonly oldestTransactionSeconds: number;
  readonly seesOthers: boolean;
  readonly isRestoreUnmarked: boolean | null;
}

/** Figures that only background work can see are null for an instance that only serves. */
const stateStatement = statement<State>(
  'doctor',
  `select current_setting('server_version_num')::int as version,
     not (pg_is_in_recovery() or current_setting('transaction_read_only')::boolean) as writable,
     current_user::text as role, current_setting('TimeZone') as timezone,
     extract(epoch from clock_timestamp() - $1::timestamptz)::float8 as clock_ahead,
     (select coalesce(sum(numbackends), 0)::int from pg_stat_database) as connections,
     current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as max_connections,
     (select coalesce(max(extract(epoch from clock_timestamp() - xact_start)), 0)::float8 from pg_stat_activity
      where datname = current_database() and backend_xmin is not null and pid <> pg_backend_pid()) as oldest_transaction_seconds,
     pg_has_role('pg_read_all_stats', 'usage') as sees_others,
     case when $2 then (select extract(epoch from clock_timestamp() - occurred_at)::float8 from outbox order by id limit 1) end
       as oldest_event_seconds,
     case when $2 then (select count(*)::int from rail_order where due_at < clock_timestamp() - interval '30 seconds') end
       as overdue_orders,
     case when $2 then (select count(*)::int from transaction
       where refund_reference is not null and refund_settled_at is null) end as in_suspense,
     case when $2 then exists (select from feed_epoch where marked_at is null) end as is_restore_unmarked`,
);

async function state(database: Database, config: Config, role: string): Promise<Finding[]> {
  const [found] = await stateStatement(database.pool, new Date(), config.ROLE !== 'serve');
  if (!found) throw new Error('doctor returned no row');
  const missing = await missingKeys(database, config);
  const needed = Math.ceil(config.DATABASE_POOL * 1.5) + connectionsBeside;
  const free = found.maxConnections - found.connections;
  return [
    found.version >= 150_000
      ? ok('version', `Postgres ${Math.floor(found.version / 10_000)}`)
      : fault('version', 'Postgres 15 or newer is needed'),
    found.writable ? ok('writable', 'yes') : fault('writable', 'it is a standby, or can only be read'),
    found.role === role && found.timezone === 'UTC'
      ? ok('session', `role ${found.role}, UTC`)
      : fault(
          'session',
          `role ${found.role}, ${found.timezone}: a pooler drops the settings of sessions; set DATABASE_DIRECT_URL`,
        ),
    Math.abs(found.clockAhead) < 2
      ? ok('clock', 'that of the database agrees with this one')
      : warning('clock', `that of the database is ${found.clockAhead.toFixed(1)} s ahead of this one`),
    free >= needed
      ? ok('connections', `${found.connections} of ${found.maxConnections} are taken; an instance has up to ${needed}`)
      : warning('connections', `${free} are free, and an instance has up to ${needed}`),
    missing.length === 0 ? ok('keys', 'all that are in use') : fault('keys', missing.join('; ')),
    ...ofWork(found),
  ];
}

/**
 * The connections of an instance besides its two pools: the feed and its replays, the sequencer, readiness, metrics.
 */
const connectionsBeside = 9;

function ofWork(found: State): Finding[] {
  const { oldestEventSeconds, overdueOrders, inSuspense, isRestoreUnmarked } = found;
  return [
    (oldestEventSeconds ?? 0) < 15
      ? ok('feed', 'it moves')
      : fault('feed', `an event has waited for ${Math.round(oldestEventSeconds ?? 0)} s: no instance numbers them`),
    overdueOrders
      ? warning('orders', `${overdueOrders} orders to rails are overdue: see "order list"`)
      : ok('orders', 'none is overdue'),
    inSuspense
      ? warning('suspense', `${inSuspense} refunds may await an operator: see "suspense list"`)
      : ok('suspense', 'nothing waits'),
    isRestoreUnmarked ? warning('restore', unmarkedRestore) : ok('restore', 'none is unmarked'),
    ofTransactions(found),
  ];
}

function ofTransactions({ oldestTransactionSeconds, seesOthers, role }: State): Finding {
  if (oldestTransactionSeconds >= 3_600) {
    const minutes = Math.round(oldestTransactionSeconds / 60);
    return warning('transactions', `one has been open for ${minutes} minutes and holds back vacuum`);
  }
  return seesOthers
    ? ok('transactions', 'none is old')
    : warning('transactions', `those of others cannot be seen: grant pg_read_all_stats to ${role}`);
}

import pg from 'pg';
import { blockersOf, lockSessions } from '../infra/database/blockers.ts';
import type { Database } from '../infra/database/database.ts';
import { OperatorError } from '../infra/database/faults.ts';
import { verifyMigrations } from '../infra/database/migrations/migrate.ts';
import { refuseOwners } from '../infra/database/owners.ts';
import { fieldName } from '../infra/database/rows.ts';
import type { CamelCased } from '../infra/database/statement.ts';
import type { Config } from '../server/config.ts';
import { messageForUser, wordsOf } from '../server/print-error.ts';
import { directUrl, poolerOf } from '../server/start/prepare-database.ts';

/** A check's verdict. A fault stops an instance or its background work, or loses data; a warning needs review. */
export type Verdict = readonly [result: 'ok' | 'warning' | 'fault' | 'skipped', detail: string];

export type Finding = { readonly check: string; readonly result: Verdict[0]; readonly detail: string };

export interface Patient {
  readonly config: Config;
  readonly database: Database;
  readonly role: 'gateway_serving' | 'gateway_work';
  readonly limits: Limits;
}

/** The maximum age of any transaction, and of one that blocks other sessions, in seconds. */
export type Limits = Readonly<Record<'transactionSeconds' | 'lockSeconds', number>>;

/** The result of a check: a fault, a single verdict, one verdict per finding, or none if the check does not apply. */
export type Verdicts = string | Verdict | readonly Verdict[];

export type Checks<Of> = Readonly<Record<string, (of: Of) => Verdicts | Promise<Verdicts>>>;

/** Creates a check from a statement that returns one row. */
export function oneRow<Row extends CamelCased<Row>>(
  text: string,
  verdictsOf: (row: Row, patient: Patient) => Verdicts,
  value?: () => unknown,
): (patient: Patient) => Promise<Verdicts> {
  return async (patient) => {
    const { rows } = await patient.database.pool.query<object>(text, value ? [value()] : []);
    const fields = Object.entries(rows[0] ?? {}).map(([name, of]) => [fieldName(name), of]);
    // As with other statements, the declared type of the row is not verified.
    return verdictsOf(Object.fromEntries(fields) as Row, patient);
  };
}

/** Returns the message of an error that a check reports; undefined if the check finds nothing. */
async function refusalOf(check: Promise<unknown>, isReported: (error: Error) => boolean): Promise<string | undefined> {
  try {
    await check;
    return undefined;
  } catch (error) {
    if (error instanceof Error && isReported(error)) return error.message;
    throw error;
  }
}

/** The checks that run first and decide whether the other checks are worth running. */
export const beginningChecks: Checks<Patient> = {
  async migrations({ config }) {
    const refusal = await refusalOf(verifyMigrations(directUrl(config)), (error) => error instanceof OperatorError);
    return refusal ?? ['ok', 'all are applied'];
  },
  async login({ database, config }) {
    const refusal = await refusalOf(refuseOwners(database), (error) => !(error instanceof pg.DatabaseError));
    if (refusal === undefined) return ['ok', 'it owns nothing'];
    return [[config.ALLOW_UNSAFE.includes('owner-login') ? 'warning' : 'fault', refusal]];
  },
};

/** The settings that a database session must have. A pooler may drop those that the service sets itself. */
const sessionSettings: Readonly<Record<string, RegExp>> = {
  TimeZone: /^UTC$/,
  DateStyle: /^ISO/,
  default_transaction_isolation: /^read committed$/,
  default_transaction_deferrable: /^off$/,
  session_replication_role: /^origin$/,
  row_security: /^on$/,
  standard_conforming_strings: /^on$/,
  transaction_timeout: /^(0|[1-9]\d{4,})$/,
  idle_session_timeout: /^(0|[1-9]\d{4,})$/,
};

const never = 'until the disk is full';

export const serverChecks: Checks<Patient> = {
  version: oneRow<{ version: number }>(`select current_setting('server_version_num')::int as version`, ({ version }) =>
    version >= 150_000
      ? ['ok', `Postgres ${Math.floor(version / 10_000)}`]
      : `Postgres 15 or newer is required, but this is ${Math.floor(version / 10_000)}`,
  ),
  encoding: oneRow<{ encoding: string }>(`select current_setting('server_encoding') as encoding`, ({ encoding }) =>
    encoding === 'UTF8' ? ['ok', encoding] : `the database has the encoding ${encoding}, but UTF8 is required`,
  ),
  writable: oneRow<{ standby: boolean; readOnly: boolean }>(
    `select pg_is_in_recovery() as standby, current_setting('transaction_read_only')::boolean as read_only`,
    ({ standby, readOnly }) => {
      if (standby) return 'it is a standby: name the primary in DATABASE_URL';
      return readOnly ? 'default_transaction_read_only is on: nothing can be written' : ['ok', 'yes'];
    },
  ),
  session: oneRow<{ role: string; settings: Readonly<Record<string, string>> }>(
    `select current_user::text as role, (select json_object_agg(name, setting) from pg_settings where name = any ($1)) as settings`,
    ({ role, settings }, patient) => {
      const wrong = Object.entries(settings)
        .filter(([name, value]) => !sessionSettings[name]?.test(value))
        .map(([name, value]) => `${name} is ${value}`);
      if (role !== patient.role) wrong.push(`the role is ${role}`);
      if (wrong.length === 0) return ['ok', `role ${role}, UTC`];
      return `${wrong.join(', ')}. Undo it (ALTER DATABASE … RESET, ALTER ROLE … RESET); if a pooler drops session settings, set DATABASE_DIRECT_URL`;
    },
    () => Object.keys(sessionSettings),
  ),
  roles: oneRow<{ mighty: string | null }>(
    `select string_agg(r.rolname, ', ' order by r.rolname) as mighty from pg_roles r
     where r.rolname in ('gateway_serving', 'gateway_work') and (r.rolsuper or r.rolbypassrls or r.rolcreaterole or exists (
       select from pg_auth_members m join pg_roles granted on granted.oid = m.roleid
       where m.member = r.oid and granted.rolname not in ('pg_read_all_stats', 'pg_read_all_settings', 'pg_stat_scan_tables', 'pg_monitor')) or exists (
       select from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and pg_has_role(r.oid, c.relowner, 'member')))`,
    ({ mighty }) =>
      mighty === null
        ? ['ok', "the service's roles have only the rights that they need"]
        : `more rights than the service needs: ${mighty}. No service role may have SUPERUSER, BYPASSRLS or CREATEROLE, own tables, or be a member of another role, except pg_read_all_stats`,
  ),
  durability: oneRow<{ off: string | null; missing: string }>(
    `select (select string_agg(name, ', ' order by name) from pg_settings
       where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off') as off,
       case when exists (select from pg_stat_replication where coalesce(sync_state, 'sync') in ('sync', 'quorum')) then ''
         else current_setting('synchronous_standby_names') end as missing`,
    ({ off, missing }) => {
      if (off !== null) return `${off} is off: a machine crash loses acknowledged payments. Set it to on`;
      return missing === ''
        ? ['ok', 'acknowledged commits survive a crash']
        : `no standby in synchronous_standby_names (${missing}) is connected, and all commits wait for one: start it, or remove it from the setting`;
    },
  ),
  autovacuum: oneRow<{ off: string | null; tables: string | null }>(
    `select (select string_agg(name, ', ' order by name) from pg_settings where name in ('autovacuum', 'track_counts') and setting = 'off') as off,
       (select string_agg(relname, ', ' order by relname) from pg_class
        where relnamespace = 'public'::regnamespace and 'autovacuum_enabled' = any (select lower(split_part(one, '=', 1)) from unnest(reloptions) as one where lower(split_part(one, '=', 2)) in ('false', 'off', 'no', '0'))) as tables`,
    ({ off, tables }) => {
      const what = [off && `${off} is off`, tables && `it is off for ${tables}`].filter(Boolean).join(', and ');
      return what === ''
        ? ['ok', 'on']
        : `${what}: dead rows are not removed, and the server stops when its transaction ids are used up. Set it to on`;
    },
  ),
  clock: oneRow<{ ahead: number }>(
    'select extract(epoch from clock_timestamp() - $1::timestamptz)::float8 as ahead',
    ({ ahead }) =>
      Math.abs(ahead) < 2
        ? ['ok', "the database's clock agrees with this machine's"]
        : [
            'warning',
            `the database's clock is ${Math.abs(ahead).toFixed(1)} s ${ahead < 0 ? 'behind' : 'ahead of'} this machine's: synchronize both with the same NTP servers`,
          ],
    () => new Date(),
  ),
  connections: oneRow<{ taken: number; most: number }>(
    `select (select coalesce(sum(numbackends), 0)::int from pg_stat_database) as taken,
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most`,
    ({ taken, most }, { config }) => {
      const needed = Math.ceil(config.DATABASE_POOL * 1.5) + connectionsBeside;
      return most - taken >= needed
        ? ['ok', `${taken} of ${most} are in use; an instance needs up to ${needed}`]
        : [
            'warning',
            `only ${most - taken} are free, but an instance needs up to ${needed}: lower DATABASE_POOL, or raise max_connections`,
          ];
    },
  ),
  'other sessions': oneRow<{ seesOthers: boolean; role: string }>(
    `select pg_has_role('pg_read_all_stats', 'usage') as sees_others, current_user::text as role`,
    ({ seesOthers, role }, patient) => {
      if (patient.role === 'gateway_serving') return [];
      return seesOthers
        ? ['ok', 'visible']
        : ['warning', `other logins' sessions are not visible: grant pg_read_all_stats to ${role}`];
    },
  ),
  transactions: oneRow<{ seconds: number; whose: string | null }>(
    `select coalesce(extract(epoch from clock_timestamp() - since), 0)::float8 as seconds, whose from (
       select xact_start as since, format('process %s of %s (%s)', pid, usename, coalesce(nullif(application_name, ''), 'no application name')) as whose
       from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
         and (backend_xmin is not null or backend_xid is not null)
       union all select prepared, format('the prepared transaction %L of %s', gid, owner) from pg_prepared_xacts where database = current_database()
       union all select null, null order by since limit 1) as oldest`,
    ({ seconds, whose }, { limits }) =>
      whose === null || seconds < limits.transactionSeconds
        ? ['ok', 'none is old']
        : [
            'warning',
            `${whose} has been open for ${Math.round(seconds / 60)} minutes; it holds locks and prevents dead rows from being removed: end it`,
          ],
  ),
  async locks({ database, limits }) {
    const sessions = await lockSessions(database.pool);
    const waiting = sessions.filter(({ blockedBy }) => blockedBy.length > 0).length;
    const roots = (await blockersOf(database.pool, sessions)).filter((one) => one.openSeconds >= limits.lockSeconds);
    if (roots.length === 0) return ['ok', 'no session is blocked for long'];
    const blockers = roots.map(({ name }) => name).join('; ');
    return [['warning', `waiting sessions: ${waiting}, blocked by ${blockers}. See "blocked"`]];
  },
  slots: oneRow<{ slots: string | null }>(
    `select string_agg(format('%s keeps %s of log', slot_name, pg_size_pretty(pg_wal_lsn_diff(
       case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end, restart_lsn))), '; ' order by slot_name) as slots
     from pg_replication_slots where not active and restart_lsn is not null`,
    ({ slots }) =>
      slots === null
        ? ['ok', 'each replication slot is in use']
        : [
            'warning',
            `no standby uses these slots: ${slots}, ${never}. Bring the standby back, or drop the slot (pg_drop_replication_slot)`,
          ],
  ),
  archive: oneRow<{ failing: string | null }>(
    `select (select last_failed_wal from pg_stat_archiver where last_failed_time > coalesce(last_archived_time, '-infinity')) as failing`,
    ({ failing }) =>
      failing === null
        ? ['ok', 'not failing']
        : [
            'warning',
            `archive_command fails for ${failing}: WAL is kept ${never}, and every restore ends before this file`,
          ],
  ),
  wraparound: oneRow<{ name: string; used: number }>(
    `select datname::text as name, greatest(age(datfrozenxid), mxid_age(datminmxid)) as used from pg_database order by used desc limit 1`,
    ({ name, used }) =>
      used < 1_000_000_000
        ? ['ok', `${Math.round(used / 21_000_000)} % of the transaction ids are used`]
        : `the database ${name} has used ${Math.round(used / 21_000_000)} % of its transaction ids: end old transactions, then VACUUM it`,
  ),
  async pooler({ config }) {
    try {
      const pooler = await poolerOf(config);
      if (!pooler) return [];
      return [
        'ok',
        pooler.prepares
          ? 'it supports prepared statements'
          : 'it does not support prepared statements: each statement is planned every time',
      ];
    } catch (error) {
      return messageForUser(error) ?? wordsOf(error);
    }
  },
};

/** An instance's connections outside its two pools: the feed and its replays, the sequencer, readiness and metrics. */
const connectionsBeside = 9;

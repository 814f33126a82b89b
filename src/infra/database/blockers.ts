import { type Queryable, statement, statementTexts } from './statement.ts';

export interface LockSession {
  readonly pid: number;
  /** The application name. For the service's own sessions, it contains the purpose, the machine and the process. */
  readonly application: string;
  readonly login: string | null;
  /** The backend type, such as `client backend`, `autovacuum worker` or `walsender`. */
  readonly kind: string;
  /** The state, such as `active` or `idle in transaction`. */
  readonly state: string | null;
  /** The current or last statement: its name if it is one of the service's own, otherwise the beginning of its text. */
  readonly statement: string;
  readonly openSeconds: number;
  /** The ids of the processes that the session is waiting for. 0 stands for a prepared transaction. */
  readonly blockedBy: readonly number[];
  /** The lock that the session is waiting for, and how many seconds it has waited. */
  readonly waitsFor: string | null;
  readonly waitSeconds: number | null;
  /** Whether the session has committed but must hold its locks until a synchronous standby confirms the commit. */
  readonly awaitsStandby: boolean;
}

interface Row extends Omit<LockSession, 'blockedBy' | 'statement'> {
  readonly blockedBy: readonly number[] | null;
  readonly query: string;
}

const sessionsStatement = statement<Row>(
  'lock_sessions',
  `with waiting as materialized (
     select l.pid, pg_blocking_pids(l.pid) as blocked_by, extract(epoch from clock_timestamp() - l.waitstart)::float8 as wait_seconds,
       l.mode || case when l.relation is null then ' on a row' ||
           coalesce((select ' of ' || t.relation::regclass from pg_locks t where t.pid = l.pid and t.locktype = 'tuple' and t.granted limit 1), '')
         when l.locktype = 'relation' then ' on ' || l.relation::regclass else format(' on a %s of %s', l.locktype, l.relation::regclass) end as waits_for
     from pg_locks l join pg_stat_activity s on s.pid = l.pid and s.datname = current_database()
     where not l.granted and l.pid <> pg_backend_pid())
   select a.pid, a.application_name as application, a.usename::text as login, coalesce(a.backend_type, case when a.usesysid is null then 'autovacuum worker' else 'client backend' end) as kind, a.state, coalesce(a.query, '') as query,
     greatest(0, extract(epoch from clock_timestamp() - coalesce(a.xact_start, a.state_change, a.backend_start)))::float8 as open_seconds,
     w.blocked_by, w.waits_for, w.wait_seconds, a.wait_event is not distinct from 'SyncRep' as awaits_standby
   from pg_stat_activity a left join waiting w on w.pid = a.pid
   where w.pid is not null or a.pid in (select unnest(blocked_by) from waiting)
   order by open_seconds desc, a.pid`,
);

/** A prepared transaction in this database. It has no process, and holds its locks until it is ended explicitly. */
export interface PreparedTransaction {
  readonly gid: string;
  readonly owner: string;
  readonly openSeconds: number;
  /** The names of the tables that it has locked, separated by commas. */
  readonly tables: string | null;
}

export const preparedTransactions = statement<PreparedTransaction>(
  'prepared_transactions',
  `select p.gid, p.owner, greatest(0, extract(epoch from clock_timestamp() - p.prepared))::float8 as open_seconds,
     (select string_agg(distinct l.relation::regclass::text, ', ') from pg_locks l join pg_class c on c.oid = l.relation and c.relkind in ('r', 'p')
      join pg_locks own on own.virtualtransaction = l.virtualtransaction and own.pid is null and own.transactionid = p.transaction
      where l.pid is null) as tables
   from pg_prepared_xacts p where p.database = current_database() order by p.prepared`,
);

/** The number of leading characters by which a statement is recognized: fewer than track_activity_query_size. */
const shownLength = 900;

/**
 * Returns the sessions that wait for locks and the sessions that block them. Seeing the statements of other logins
 * requires pg_read_all_stats.
 */
export async function lockSessions(on: Queryable): Promise<LockSession[]> {
  // Postgres shows only the beginning of a long statement.
  const names = new Map([...statementTexts()].map(([name, text]) => [text.slice(0, shownLength), name]));
  return (await sessionsStatement(on)).map(({ query, blockedBy, ...session }) => ({
    ...session,
    blockedBy: blockedBy ?? [],
    statement: names.get(query.slice(0, shownLength)) ?? shortened(query),
  }));
}

/** Returns the beginning of a statement on one line. A parameterized statement's text contains no values. */
function shortened(query: string): string {
  const line = query.replace(/\s+/g, ' ').trim();
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}

/** Describes a session, its login and the age of its transaction for a human reader. */
export function nameOf(session: LockSession): string {
  const { pid, application, login, kind, state, statement: text, openSeconds, awaitsStandby } = session;
  const who = kind === 'client backend' ? `${application || 'no application name'}, login ${login}` : kind;
  const doing = text === '' ? '' : `: ${state === 'active' || state === null ? 'runs' : `${state} after`} "${text}"`;
  const waiting = awaitsStandby ? ', and waits for a synchronous standby' : '';
  return `process ${pid} (${who}), whose transaction has been open for ${Math.round(openSeconds)} s${doing}${waiting}`;
}

/** Describes a prepared transaction. Postgres does not say which one a session is waiting for. */
export function nameOfPrepared({ gid, owner, openSeconds, tables }: PreparedTransaction): string {
  return `the prepared transaction '${gid}' of ${owner}, open for ${Math.round(openSeconds)} s, which has locked ${tables ?? 'no table'}`;
}

/** A root cause of waits: a session that is not waiting itself, or a prepared transaction. */
export interface Blocker {
  readonly id: string;
  readonly name: string;
  readonly openSeconds: number;
  /** Whether Postgres itself cancels it once it has blocked another session for deadlock_timeout. */
  readonly yields: boolean;
}

export async function blockersOf(on: Queryable, sessions: readonly LockSession[]): Promise<Blocker[]> {
  const prepared = sessions.some(({ blockedBy }) => blockedBy.includes(0)) ? await preparedTransactions(on) : [];
  return [
    ...rootsOf(sessions).map((root) => ({
      id: String(root.pid),
      name: nameOf(root),
      openSeconds: root.openSeconds,
      yields: root.kind === 'autovacuum worker' && !/to prevent wraparound/.test(root.statement),
    })),
    ...prepared.map((one) => ({ id: one.gid, name: nameOfPrepared(one), openSeconds: one.openSeconds, yields: false })),
  ];
}

/** Returns the sessions that block others without waiting themselves: the root causes of all waits. */
export function rootsOf(sessions: readonly LockSession[]): LockSession[] {
  return sessions.filter(({ blockedBy }) => blockedBy.length === 0);
}

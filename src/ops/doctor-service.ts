import { stepLock, unmarkedRestore } from '../domain/events/sequencer.ts';
import { listKeysInUse, missingKeys } from '../server/start/keys-in-use.ts';
import { type Checks, oneRow, type Patient, type Verdict, type Verdicts } from './doctor-server.ts';

const hidden: Verdict = [
  'skipped',
  'ROLE=serve may not read it: run the doctor with the settings of an instance that does background work',
];

/** Creates a check from a count that only background work can read. */
function counting(count: string, words: (count: number) => Verdict): (patient: Patient) => Promise<Verdicts> {
  const look = oneRow<{ count: number }>(`select count(*)::int as count from ${count}`, ({ count: found }) =>
    found === 0 ? ['ok', 'none'] : words(found),
  );
  return async (patient) => (patient.role === 'gateway_serving' ? hidden : look(patient));
}

const warning = (count: string, words: string) => counting(count, (found) => ['warning', `${found} ${words}`]);

const stalledFeed = oneRow<{ count: number; holder: number | null; program: string | null }>(
  `select count(*)::int as count, max(pid) as holder, max(format('%s, login %s', coalesce(nullif(application_name, ''), 'no application name'), usename)) as program
   from outbox left join (
     select a.pid, a.application_name, a.usename from pg_locks l join pg_stat_activity a using (pid)
     where l.locktype = 'advisory' and l.classid = 0 and l.objid = ${stepLock} and l.granted and a.datname = current_database()) as sequencer on true
   where occurred_at < clock_timestamp() - interval '15 seconds'`,
  ({ count, holder, program }) => {
    if (count === 0) return ['ok', 'none'];
    const holds = `Process ${holder} (${program}) holds the lock of the sequencer. To end it: select pg_terminate_backend(${holder})`;
    const detail = `${count} events have waited for 15 s or more: no instance sequences them`;
    return ['fault', holder === null ? detail : `${detail}. ${holds}`];
  },
);

export const serviceChecks: Checks<Patient> = {
  async keys({ database, config }) {
    const missing = missingKeys(await listKeysInUse(database), config);
    return missing.length === 0
      ? ['ok', 'this instance has all keys in use']
      : missing.map((words) => ['fault', words]);
  },
  feed: async (patient) => (patient.role === 'gateway_serving' ? hidden : stalledFeed(patient)),
  orders: warning(
    `rail_order where due_at < clock_timestamp() - interval '30 seconds'`,
    'orders to rails are overdue: see "order list"',
  ),
  suspense: warning(
    'transaction where refund_reference is not null and refund_settled_at is null',
    'refunds may await a decision: see "suspense list"',
  ),
  cases: warning('rail_case where closed_at is null', 'contradictions of rails are open: see "cases list"'),
  deposits: warning(
    `rail_deposit where status = 'UNATTRIBUTED'`,
    'deposits could not be credited: see "deposits list"',
  ),
  differences: warning(
    'reconciliation_difference where closed_at is null and gone_at is null',
    'differences with providers are open: see "reconcile list"',
  ),
  ledger: counting(
    '(select broken from audit_run order by id desc limit 1) as last_audit cross join unnest(broken)',
    (count) => ['fault', `the last audit found ${count} rules of the ledger broken: "audit" prints the rows`],
  ),
  restore: counting('feed_epoch where marked_at is null', () => ['warning', unmarkedRestore]),
};

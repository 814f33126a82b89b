import { pino } from 'pino';
import { type Answer, listed } from '../apps/terminal/answer.ts';
import { actionOf, type Program } from '../apps/terminal/program.ts';
import { oncePer } from '../core/once-per.ts';
import { stepLock, unmarkedRestore } from '../domain/events/sequencer.ts';
import { openDatabase } from '../infra/database/database.ts';
import { sqlState } from '../infra/database/faults.ts';
import { type Catalog, expectedCatalog, readCatalog } from '../infra/database/migrations/catalog.ts';
import { hasNewerMigrations } from '../infra/database/migrations/migrate.ts';
import { openReplicas } from '../infra/database/replicas/replicas.ts';
import { closeRails } from '../rails/load-rails.ts';
import { type Config, ConfigError, readConfig } from '../server/config.ts';
import { openPayments } from '../server/gateway.ts';
import { messageForUser, wordsOf } from '../server/print-error.ts';
import { listKeysInUse, missingKeys } from '../server/start/keys-in-use.ts';
import { directUrl } from '../server/start/prepare-database.ts';
import { reachDatabase } from '../server/start/reach-database.ts';
import { findUnsafe } from '../server/start/unsafe-settings.ts';
import type { Checks, Finding, Limits, Patient, Verdict, Verdicts } from './doctor-server.ts';
import { beginningChecks, oneRow, serverChecks } from './doctor-server.ts';

export function addDoctor(program: Program): void {
  program
    .command('doctor')
    .description(
      'check the settings and database of an instance on this machine, without changing anything; exit with 1 if there is a fault',
    )
    .action(
      actionOf(async ({ screen }): Promise<Answer> => {
        const findings = await examine(screen.environment);
        return { ...listed(findings, ''), exitCode: findings.some(({ result }) => result === 'fault') ? 1 : 0 };
      }),
    );
}

const usualLimits: Limits = { transactionSeconds: 1_800, lockSeconds: 5 };

const settingsChecks: Checks<Config> = {
  settings(config) {
    const findings = findUnsafe(config);
    if (findings.length === 0) return ['ok', 'nothing unsafe'];
    return findings.map(({ kind, fault }) =>
      config.ALLOW_UNSAFE.includes(kind) ? ['warning', `${fault} (allowed: ${kind})`] : ['fault', fault],
    );
  },
  // The largest private networks are 10.0.0.0/8 in IPv4 and fc00::/7 in IPv6.
  proxies: ({ TRUSTED_PROXIES: ranges }) =>
    ranges.some(([address, bits]) => bits < (address.kind() === 'ipv4' ? 8 : 7))
      ? 'TRUSTED_PROXIES trusts every address: clients can choose their address with X-Forwarded-For, and evade per-address limits. Name only your proxies'
      : ['ok', ranges.length === 0 ? 'no proxy is trusted' : `trusted ranges: ${ranges.length}`],
  'own keys'({ NODE_ENV, ROLE, SECRET_KEY, CLIENT_TOKEN_KEY }) {
    if (NODE_ENV !== 'production') return [];
    const missing: Verdict[] = [];
    if (!SECRET_KEY) {
      missing.push([
        ROLE === 'work' ? 'warning' : 'fault',
        'SECRET_KEY is not set: instances that serve requests do not start, and webhooks and rail connections cannot be used',
      ]);
    }
    if (!CLIENT_TOKEN_KEY) missing.push(['warning', 'CLIENT_TOKEN_KEY is not set: no client tokens can be created']);
    return missing.length > 0 ? missing : ['ok', 'both are set'];
  },
};

/** The checks. `facts` selects the facts that a check compares, and `danger` says what a difference may cause. */
const catalogKinds: Readonly<Record<string, readonly [facts: RegExp, danger: string]>> = {
  objects: [/^there\b/, 'the service cannot work without it'],
  rights: [/^right\b/, 'requests fail, or the restrictions in docs/database-roles.md do not hold'],
  'row security': [/^(policy|row-level)\b/, "platforms may see each other's data, or none at all"],
  triggers: [/^triggers?\b/, 'balances are not updated, events not written, or ledger rules not enforced'],
  functions: [/^(body|security)\b/, 'money moves by different rules'],
  columns: [/^columns\b/, 'statements fail, or store wrong data'],
  constraints: [/^constraint\b/, 'invalid rows can be stored, or valid ones cannot'],
  indexes: [/^(index|unique)\b/, 'reads are slow, or commands are refused'],
};

/** Compares the database with the catalog, once for all checks; undefined if a newer version migrated the database. */
const differencesOf = oncePer(async ({ database }: Patient) => {
  if (await hasNewerMigrations(database.pool)) return undefined;
  const expected = await expectedCatalog();
  const found: Catalog = await readCatalog(database.pool);
  const different = new Map<string, string[]>();
  const note = (fact: string, words: string) => {
    const kind = Object.keys(catalogKinds).find((one) => catalogKinds[one]?.[0].test(fact)) ?? 'objects';
    different.set(kind, [...(different.get(kind) ?? []), words]);
  };
  for (const [object, facts] of Object.entries(expected)) {
    const there = found[object];
    if (there === undefined) {
      note('there', `${object} is missing`);
      continue;
    }
    for (const fact of facts.filter((one) => !there.includes(one))) {
      const isHash = /^(body|columns) /.test(fact);
      note(fact, isHash ? `${object} differs in its ${fact.split(' ', 1)[0]}` : `${object} lacks the ${fact}`);
    }
    // An additional index is harmless to the service.
    for (const fact of there.filter((one) => !facts.includes(one)))
      if (!/^(body|columns|index) /.test(fact)) note(fact, `${object} has the additional ${fact}`);
  }
  return different;
});

/** The checks that compare what Postgres reports about tables and functions with what the migrations define. */
const catalogChecks: Checks<Patient> = Object.fromEntries(
  Object.entries(catalogKinds).map(([kind, [, danger]]) => [
    kind,
    async (patient: Patient): Promise<Verdicts> => {
      const different = await differencesOf(patient);
      if (different === undefined) return ['skipped', 'a newer version has migrated the database'];
      const words = different.get(kind) ?? [];
      if (words.length === 0) return ['ok', 'as the migrations define them'];
      const shown = [...words.slice(0, 5), ...(words.length > 5 ? [`and ${words.length - 5} more`] : [])].join('; ');
      return `${shown}: ${danger}. The database was changed by hand, or restored incompletely. Repair it as its owner: see "The database has been changed by hand" in docs/night.md`;
    },
  ]),
);

const hidden: Verdict = [
  'skipped',
  'ROLE=serve may not read it: run the doctor with the settings of an instance that does background work',
];

/** Creates a check from a count that only background work can read. */
function counting(count: string, words: (count: number) => Verdicts): (patient: Patient) => Promise<Verdicts> {
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
    const holds = `Process ${holder} (${program}) holds the sequencer's lock. To end it: select pg_terminate_backend(${holder})`;
    const detail = `${count} events have waited for 15 s or more: no instance is sequencing them`;
    return holder === null ? detail : `${detail}. ${holds}`;
  },
);

const serviceChecks: Checks<Patient> = {
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
  cases: warning('rail_case where closed_at is null', 'contradictory reports from rails are open: see "cases list"'),
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
    (count) => `the last audit found ${count} rules of the ledger broken: "audit" prints the rows`,
  ),
  restore: counting('feed_epoch where marked_at is null', () => ['warning', unmarkedRestore]),
};

const log = pino({ level: 'silent' });

const partChecks: Checks<Patient> = {
  async rails({ database, config }) {
    try {
      const { rails } = await openPayments(database, config, log);
      await closeRails(rails);
      return ['ok', config.RAILS ? 'all can be opened' : 'RAILS is not set: production platforms have none'];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return ['fault', `an instance cannot start: ${error.faults.join('; ')}`];
    }
  },
  async replicas({ database, config }) {
    const replicas = openReplicas(database, config, log);
    if (!replicas) return [];
    try {
      await replicas.check();
      // An unusable replica is only a warning, because the primary serves its reads.
      return replicas.all.map(({ number, trouble, lagBytes = 0 }) =>
        trouble === undefined
          ? ['ok', `number ${number} follows the primary, ${lagBytes} bytes behind`]
          : ['warning', `number ${number}: ${trouble}`],
      );
    } finally {
      await replicas.close();
    }
  },
};

const databaseChecks = { ...catalogChecks, ...serverChecks, ...serviceChecks, ...partChecks };

const allChecks = { ...settingsChecks, database: undefined, ...beginningChecks, ...databaseChecks };

export const checkNames = Object.keys(allChecks);

/** Runs all checks, without changing anything. */
export async function examine(
  environment: Readonly<Record<string, string | undefined>>,
  limits = usualLimits,
): Promise<Finding[]> {
  let config: Config;
  try {
    config = readConfig(environment);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [{ check: 'settings', result: 'fault', detail: error.message }];
  }
  return [...(await run(settingsChecks, config)), ...(await ofDatabase(config, limits))];
}

async function ofDatabase(config: Config, limits: Limits): Promise<Finding[]> {
  if (config.DATABASE_URL === undefined)
    return [{ check: 'database', result: 'warning', detail: 'DATABASE_URL is not set: the embedded database is used' }];
  const role = config.ROLE === 'serve' ? 'gateway_serving' : 'gateway_work';
  const database = openDatabase({ url: directUrl(config), role, poolSize: 1 });
  try {
    await reachDatabase(config, ['direct', 'pooled']);
    const patient: Patient = { config, database, role, limits };
    const beginning = [
      { check: 'database', result: 'ok' as const, detail: 'it answers' },
      ...(await run(beginningChecks, patient)),
    ];
    // Nothing else is worth checking if the tables do not match this program.
    const ends = beginning.some(({ check, result }) => result === 'fault' && check !== 'login');
    return ends ? beginning : [...beginning, ...(await run(databaseChecks, patient))];
  } catch (error) {
    return [{ check: 'database', result: 'fault', detail: messageForUser(error) ?? wordsOf(error) }];
  } finally {
    await database.close();
  }
}

/** The SQLSTATEs for objects that are missing or that the login cannot read. The catalog checks report such objects. */
const notThere = ['42501', '42P01', '42703', '42883'];

/** The SQLSTATE for a statement that exceeded `lock_timeout`. */
const lockNotAvailable = '55P03';

const isOne = (verdicts: Exclude<Verdicts, string>): verdicts is Verdict => typeof verdicts[0] === 'string';

function listOf(verdicts: Verdicts): readonly Verdict[] {
  if (typeof verdicts === 'string') return [['fault', verdicts]];
  return isOne(verdicts) ? [verdicts] : verdicts;
}

async function run<Of>(checks: Checks<Of>, of: Of): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [check, look] of Object.entries(checks)) {
    const verdicts = await Promise.resolve(look(of)).catch((error: unknown): Verdict => {
      if (sqlState(error) === lockNotAvailable) return ['warning', 'it waited too long for a lock: see "blocked"'];
      if (!notThere.includes(sqlState(error) ?? '')) throw error;
      return ['skipped', wordsOf(error)];
    });
    for (const [result, detail] of listOf(verdicts)) findings.push({ check, result, detail });
  }
  return findings;
}

import { pino } from 'pino';
import { type Answer, listed } from '../apps/terminal/answer.ts';
import { actionOf, type Program } from '../apps/terminal/program.ts';
import { openDatabase } from '../infra/database/database.ts';
import { sqlState } from '../infra/database/faults.ts';
import { openReplicas } from '../infra/database/replicas/replicas.ts';
import { closeRails } from '../rails/load-rails.ts';
import { type Config, ConfigError, readConfig } from '../server/config.ts';
import { openPayments } from '../server/gateway.ts';
import { messageForUser, wordsOf } from '../server/print-error.ts';
import { directUrl } from '../server/start/prepare-database.ts';
import { reachDatabase } from '../server/start/reach-database.ts';
import { findUnsafe } from '../server/start/unsafe-settings.ts';
import { catalogChecks } from './doctor-catalog.ts';
import type { Checks, Finding, Limits, Patient, Verdict, Verdicts } from './doctor-server.ts';
import { beginningChecks, serverChecks } from './doctor-server.ts';
import { serviceChecks } from './doctor-service.ts';

export function addDoctor(program: Program): void {
  program
    .command('doctor')
    .description(
      'check the settings and the database of an instance on this machine; changes nothing, and exits with 1 if it finds a fault',
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
    const findings = findUnsafe(config, process.env.NODE_TLS_REJECT_UNAUTHORIZED !== '0');
    if (findings.length === 0) return ['ok', 'nothing unsafe'];
    return findings.map(({ kind, fault }) =>
      config.ALLOW_UNSAFE.includes(kind) ? ['warning', `${fault} (allowed: ${kind})`] : ['fault', fault],
    );
  },
  // The largest private network is 10.0.0.0/8 in IPv4, and fc00::/7 in IPv6.
  proxies: ({ TRUSTED_PROXIES: ranges }) =>
    ranges.some(([address, bits]) => bits < (address.kind() === 'ipv4' ? 8 : 7))
      ? [
          'fault',
          'TRUSTED_PROXIES trusts every address: clients can choose their address with X-Forwarded-For, and evade limits by address. Name only your proxies',
        ]
      : ['ok', ranges.length === 0 ? 'no proxy is trusted' : `${ranges.length} ranges are trusted`],
  'own keys'({ NODE_ENV, ROLE, SECRET_KEY, CLIENT_TOKEN_KEY }) {
    if (NODE_ENV !== 'production') return [];
    const missing: Verdict[] = [];
    if (!SECRET_KEY) {
      missing.push([
        ROLE === 'work' ? 'warning' : 'fault',
        'SECRET_KEY is not set: an instance that serves does not start, and there are no webhooks and no rail connections',
      ]);
    }
    if (!CLIENT_TOKEN_KEY) missing.push(['warning', 'CLIENT_TOKEN_KEY is not set: no client tokens can be created']);
    return missing.length > 0 ? missing : ['ok', 'both are set'];
  },
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
      return ['fault', `an instance does not start: ${error.faults.join('; ')}`];
    }
  },
  async replicas({ database, config }) {
    const replicas = openReplicas(database, config, log);
    if (!replicas) return [];
    try {
      await replicas.check();
      // An unusable replica is only a warning, because the primary serves its reads.
      return replicas.all.map(({ number, trouble, lag }) =>
        trouble === undefined
          ? ['ok', `number ${number} follows, ${lag?.bytes ?? 0} bytes behind`]
          : ['warning', `number ${number}: ${trouble}`],
      );
    } finally {
      await replicas.close();
    }
  },
};

const databaseChecks = { ...catalogChecks, ...serverChecks, ...serviceChecks, ...partChecks };

export const checkNames = [
  ...Object.keys({ ...settingsChecks, database: undefined, ...beginningChecks, ...databaseChecks }),
];

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
    // Nothing else is worth checking if the tables do not match this program, or the login cannot be used.
    const ends = beginning.some(({ check, result }) => result === 'fault' && check !== 'login');
    return ends ? beginning : [...beginning, ...(await run(databaseChecks, patient))];
  } catch (error) {
    return [{ check: 'database', result: 'fault', detail: messageForUser(error) ?? wordsOf(error) }];
  } finally {
    await database.close();
  }
}

/** The SQLSTATEs of objects that do not exist or that the login cannot read. The catalog checks report them. */
const notThere = ['42501', '42P01', '42703', '42883'];

/** The SQLSTATE of a statement that reached `lock_timeout`. */
const lockNotAvailable = '55P03';

const isOne = (verdicts: Verdicts): verdicts is Verdict => typeof verdicts[0] === 'string';

async function run<Of>(checks: Checks<Of>, of: Of): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [check, look] of Object.entries(checks)) {
    const verdicts = await Promise.resolve(look(of)).catch((error: unknown): Verdict => {
      if (sqlState(error) === lockNotAvailable) return ['warning', 'it waited too long for a lock: see "blocked"'];
      if (!notThere.includes(sqlState(error) ?? '')) throw error;
      return ['skipped', wordsOf(error)];
    });
    const all = isOne(verdicts) ? [verdicts] : verdicts;
    for (const [result, detail] of all) findings.push({ check, result, detail });
  }
  return findings;
}

import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { withConnection } from '../../infra/database/advisory-lock.ts';
import { connectionConfig, type Database } from '../../infra/database/database.ts';
import { sqlState } from '../../infra/database/faults.ts';
import type { Prisma } from '../../infra/database/generated/client/client.ts';
import { statement } from '../../infra/database/statement.ts';
import { inTransaction, transactionOn } from '../../infra/database/transaction.ts';
import { ledgerRules } from './ledger-rules.ts';
import { type Chunk, findRowsSince, rowsSince } from './rows-since.ts';
import { allRows, type Rule } from './rule.ts';

export interface Breach {
  readonly rule: string;
  /** At most 20. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

export const auditRules = ledgerRules.length;

type Progress = (line: string) => void;

/** Checks all rows in one consistent snapshot, and stores nothing. @returns the broken rules */
export async function audit({ url }: Pick<Database, 'url'>): Promise<readonly Breach[]> {
  return onSnapshot(url, (client) => checkAllRows(client, () => undefined));
}

export interface AuditOptions {
  /** Whether to check all rows. By default, the audit continues from the last sound audit's checkpoint, if possible. */
  readonly full?: boolean | undefined;
  readonly replica?: string | undefined;
  /** How long to wait for a standby to catch up, in milliseconds. Only tests set it. */
  readonly replayMs?: number;
  readonly onProgress?: Progress;
}

/** The result of an audit. */
export type Audit = Awaited<ReturnType<typeof auditOnce>>;

/** The error for an audit that could not run on a standby; its message says why. */
export class ReplicaUnfit extends Error {}

/** The maximum number of times that an audit is attempted if the standby keeps canceling it. */
const attempts = 3;

/**
 * Checks the ledger, and stores the result on the primary. A sound audit becomes the checkpoint from which the next
 * audit continues. That audit then checks only later rows, and rows that may still change.
 * @throws ReplicaUnfit
 */
export async function runAudit(database: Database, options: AuditOptions = {}): Promise<Audit> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await auditOnce(database, options);
    } catch (error) {
      if (options.replica === undefined || !isReplayConflict(error)) throw error;
      if (attempt === attempts) {
        throw new ReplicaUnfit(
          `The replica has canceled the audit ${attempts} times, in order to replay changes from the primary. On the replica, set hot_standby_feedback = on, or max_standby_streaming_delay longer than an audit takes.`,
        );
      }
      options.onProgress?.('the replica canceled the audit in order to replay WAL; starting the audit again');
    }
  }
}

async function auditOnce(database: Database, options: AuditOptions) {
  const { full, replica, replayMs = 60_000, onProgress = () => undefined } = options;
  const [moment] = (
    await database.pool.query<Moment>('select clock_ms() as at, lsn::text, history from read_position()')
  ).rows;
  if (!moment) throw new Error('read_position returned no row');
  const reads = async (client: pg.Client) => {
    const checkpoint = await findCheckpoint(client);
    // Null if the audit can continue from the checkpoint, or if the caller has requested a full audit.
    const whyAll = full ? null : refusalOf(checkpoint, moment.history);
    // Null if the audit checks all rows.
    const coversFrom = full || whyAll ? null : checkpoint.covers_until;
    const breaches = await (coversFrom ? checkRowsSince(client, onProgress) : checkAllRows(client, onProgress));
    // The audit covers every commit acknowledged before `coversUntil`.
    const covers = { coversFrom, coversUntil: moment.at };
    const broken = breaches.map(({ rule }) => rule);
    const finished = { ...covers, rules: auditRules, broken, onReplica: replica !== undefined };
    let [isCheckpoint, storeError]: [boolean, unknown] = [false, undefined];
    try {
      isCheckpoint = await storeAudit(database, client, finished, checkpoint);
    } catch (error) {
      if (isReplayConflict(error)) throw error;
      // The result is returned even if it cannot be stored, for example because the disk is full.
      storeError = error;
    }
    return { breaches, ...covers, whyAll, isCheckpoint, storeError };
  };
  if (replica === undefined) return onSnapshot(database.url, reads);
  return onSnapshot(replica, reads, (client) => replay(client, moment, replayMs));
}

interface Moment {
  readonly lsn: string;
  readonly history: string | null;
  readonly at: Date;
}

async function replay(client: pg.Client, { lsn, history }: Moment, withinMs: number): Promise<void> {
  const until = performance.now() + withinMs;
  for (;;) {
    const { rows } = await client.query<{ done: boolean; follows: boolean }>(
      `select has_replayed($1::pg_lsn, $2) as done, has_replayed('0/0', $2) as follows`,
      [lsn, history],
    );
    if (rows[0]?.done) return;
    if (performance.now() > until) {
      throw new ReplicaUnfit(
        rows[0]?.follows
          ? `After ${withinMs / 1_000} s, the replica had not replayed everything committed before the audit began.`
          : 'This server is not a standby of the primary, or follows another timeline.',
      );
    }
    await delay(100);
  }
}

function isReplayConflict(error: unknown): boolean {
  return sqlState(error) === '40001' && error instanceof Error && error.message.includes('conflict with recovery');
}

/** Runs `work` in one snapshot, on its own connection, because it may take longer than other statements. */
async function onSnapshot<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
  first: (client: pg.Client) => Promise<void> = async () => undefined,
): Promise<T> {
  return withConnection(connectionConfig({ url, role: 'gateway_work', use: 'audit' }), async (client) => {
    await first(client);
    const within = async () => {
      await client.query('set local statement_timeout = 0');
      await client.query('set local idle_in_transaction_session_timeout = 0');
      // With the server's usual work_mem, grouping all rows would spill to disk.
      await client.query("set local work_mem = '128MB'");
      return work(client);
    };
    return transactionOn(client, within, { begin: 'begin isolation level repeatable read read only' });
  });
}

const offendersOf = (query: string) => `select * from (${query}) offenders limit 20`;

async function checkAllRows(client: pg.Client, onProgress: Progress): Promise<Breach[]> {
  const breaches: Breach[] = [];
  for (const [index, { rule, offenders }] of ledgerRules.entries()) {
    onProgress(`${index + 1} of ${auditRules}: ${rule}`);
    const { rows } = await client.query<Record<string, unknown>>(offendersOf(offenders(allRows)));
    if (rows.length > 0) breaches.push({ rule, rows });
  }
  return breaches;
}

async function checkRowsSince(client: pg.Client, onProgress: Progress): Promise<Breach[]> {
  const since = await findRowsSince(client);
  const found = new Map<string, Breach['rows']>(ledgerRules.map(({ rule }) => [rule, []]));
  const check = async ({ rule, offenders }: Rule, chunk?: Chunk) => {
    const rows = await since.run(offendersOf(offenders(rowsSince)), chunk);
    found.set(rule, [...(found.get(rule) ?? []), ...rows].slice(0, 20));
  };
  for (const rule of ledgerRules.filter(({ ofPayments }) => !ofPayments)) {
    onProgress(`since the checkpoint: ${rule.rule}`);
    await check(rule);
  }
  const ofPayments = ledgerRules.filter((rule) => rule.ofPayments);
  for await (const chunk of since.payments((done, all) => onProgress(`payments: ${done} of ${all}`))) {
    for (const rule of ofPayments) await check(rule, chunk);
  }
  return Array.from(found, ([rule, rows]) => ({ rule, rows })).filter(({ rows }) => rows.length > 0);
}

/** Identifies the version of the rules. If a rule has changed, old rows have not been checked against it. */
const rulesDigest = createHash('sha256')
  .update(JSON.stringify(ledgerRules.map(({ rule, offenders }) => [rule, offenders(allRows)])))
  .digest();

const found = `select c.run_id, c.covers_until, c.rules_digest, c.epoch_id, e.id as present_epoch_id, e.server as server,
    coalesce(cardinality(r.broken), 0) as broken
  from (select) one
  left join (select id as run_id, covers_until, rules_digest, epoch_id from audit_run
    where rules_digest is not null order by id desc limit 1) c on true
  left join (select id, server from feed_epoch order by id desc limit 1) e on true
  left join (select broken from audit_run order by id desc limit 1) r on true`;

interface Found {
  readonly run_id: string | null;
  readonly covers_until: Date | null;
  readonly rules_digest: Buffer | null;
  readonly epoch_id: number | null;
  readonly present_epoch_id: number | null;
  readonly server: string | null;
  readonly broken: number;
}

async function findCheckpoint(client: pg.Client): Promise<Found> {
  const { rows } = await client.query<Found>(found);
  const [row] = rows;
  if (!row) throw new Error('the checkpoint returned no row');
  return row;
}

/**
 * Returns why an audit cannot continue from the checkpoint; null if it can.
 * @param history the primary's history (read_position); null if the feed's epoch belongs to a different server
 */
function refusalOf(row: Found, history: string | null): string | null {
  if (row.run_id === null) return 'there is no checkpoint yet';
  if (row.broken > 0) return 'the last audit found broken rules';
  if (row.rules_digest === null || !rulesDigest.equals(row.rules_digest))
    return 'the rules have changed since the checkpoint';
  if (row.epoch_id !== row.present_epoch_id || (row.server !== null && history === null))
    return 'the database has been restored or a standby promoted since the checkpoint';
  return null;
}

/** The advisory lock that an audit holds while it stores its result ("audi" in ASCII). */
const checkpointLock = 0x61756469;

/**
 * Stores an audit on the primary and, if it was sound, makes its snapshot the checkpoint, in one transaction.
 * @param client the connection whose snapshot the audit has read
 * @returns whether this audit is now the checkpoint; false if it was not sound, or another audit has replaced `before`
 */
async function storeAudit(
  database: Database,
  client: pg.Client,
  finished: Pick<Prisma.AuditRunCreateInput, 'rules' | 'coversFrom' | 'coversUntil' | 'onReplica'> & {
    broken: string[];
  },
  before: Found,
) {
  return inTransaction(database, async ({ client: primary, prisma }) => {
    await primary.query('select pg_advisory_xact_lock($1)', [checkpointLock]);
    const newest = await prisma.auditRun.findFirst({ where: { rulesDigest: { not: null } }, orderBy: { id: 'desc' } });
    const isCheckpoint = finished.broken.length === 0 && (newest?.id ?? null) === before.run_id;
    const checkpoint = isCheckpoint ? { rulesDigest, epochId: before.present_epoch_id } : {};
    await prisma.auditRun.create({ data: { ...finished, ...checkpoint } });
    if (!isCheckpoint) return false;
    // No timeout, because the connection to the primary is idle while the next page is read.
    await primary.query('set local idle_in_transaction_session_timeout = 0');
    for await (const page of pagesOf(client, marks)) await storeMarks(primary, ...page);
    for await (const page of pagesOf(client, changedBalances)) await storeBalances(primary, ...page);
    return true;
  });
}

/** The point in each platform's data after which the next audit treats rows as new (rows-since.ts). */
const marks = `select p.id, coalesce(f.sequence, 0),
    (select uuid_v7_time(j.id) from journal j where j.platform_id = p.id order by j.id desc limit 1)
  from platform p left join feed_head f on f.platform_id = p.id`;
const storeMarks = statement<object>(
  'store_audit_marks',
  `insert into audit_mark (platform_id, sequence, journal_at)
   select * from unnest($1::uuid[], $2::bigint[], $3::timestamptz[])
   on conflict (platform_id) do update set sequence = excluded.sequence, journal_at = excluded.journal_at`,
);

const changedBalances = `select a.platform_id, a.id, a.version, a.posted
  from account a left join audit_balance b on b.platform_id = a.platform_id and b.account_id = a.id
  where a.kind = 'INTERNAL' and (a.version, a.posted) is distinct from (b.version, b.posted)`;
const storeBalances = statement<object>(
  'store_audit_balances',
  `insert into audit_balance (platform_id, account_id, version, posted)
   select * from unnest($1::uuid[], $2::uuid[], $3::int[], $4::bigint[])
   on conflict (platform_id, account_id) do update set version = excluded.version, posted = excluded.posted`,
);

const pageSize = 10_000;

async function* pagesOf(client: pg.Client, query: string): AsyncGenerator<unknown[][]> {
  await client.query(`declare pages cursor for ${query}`);
  for (;;) {
    const text = `fetch forward ${pageSize} from pages`;
    const { rows, fields } = await client.query<unknown[]>({ text, rowMode: 'array' });
    if (rows.length === 0) break;
    yield fields.map((_field, column) => rows.map((row) => row[column]));
  }
  await client.query('close pages');
}

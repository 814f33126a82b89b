import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { Database } from '../../infra/database/database.ts';
import { statement } from '../../infra/database/statement.ts';
import { inTransaction } from '../../infra/database/transaction.ts';
import { ledgerRules } from './ledger-rules.ts';
import { allRows } from './rule.ts';

/** The auditor's checkpoint, as seen in a snapshot of the database. */
export interface Checkpoint {
  /** The audit that wrote it; null if none has. */
  readonly runId: string | null;
  readonly coversUntil: Date | null;
  /** Why the next audit cannot continue from the checkpoint, as a sentence; null if it can. */
  readonly refusal: string | null;
  readonly epochId: number | null;
}

/** Identifies the rules, since old rows have not been checked against a changed rule. */
const rulesDigest = createHash('sha256')
  .update(JSON.stringify(ledgerRules.map(({ rule, offenders }) => [rule, offenders(allRows)])))
  .digest();

const found = `select c.run_id, c.covers_until, c.rules_digest, c.epoch_id, e.id as present_epoch_id, e.server as server,
    coalesce(cardinality(r.broken), 0) as broken
  from (select) one
  left join audit_checkpoint c on true
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

/**
 * Reads the checkpoint, and determines whether an audit can continue from it.
 * @param history the primary's history (read_position); null if its server differs from that of the feed's epoch
 */
export async function findCheckpoint(client: pg.Client, history: string | null): Promise<Checkpoint> {
  const { rows } = await client.query<Found>(found);
  const [row] = rows;
  if (!row) throw new Error('the checkpoint returned no row');
  return {
    runId: row.run_id,
    coversUntil: row.covers_until,
    epochId: row.present_epoch_id,
    refusal: refusalOf(row, history),
  };
}

function refusalOf(row: Found, history: string | null): string | null {
  if (row.run_id === null) return 'there is no checkpoint yet';
  if (row.broken > 0) return 'the last audit found broken rules';
  if (row.rules_digest === null || !rulesDigest.equals(row.rules_digest))
    return 'the rules have changed since the checkpoint';
  if (row.epoch_id !== row.present_epoch_id || (row.server !== null && history === null))
    return 'the database was restored since the checkpoint, or a standby promoted';
  return null;
}

export interface FinishedAudit {
  readonly rules: number;
  readonly broken: readonly string[];
  readonly coversFrom: Date | null;
  readonly coversUntil: Date;
  readonly onReplica: boolean;
}

/**
 * Stores an audit on the primary and, if it was sound, the checkpoint of its snapshot, in one transaction.
 * @param client the connection in whose snapshot the audit has read
 * @param before the checkpoint in that snapshot
 * @returns whether the checkpoint is now this audit's: false if another audit has written one in the meantime
 */
export async function storeAudit(database: Database, client: pg.Client, finished: FinishedAudit, before: Checkpoint) {
  return inTransaction(database, async ({ client: primary, prisma }) => {
    const { id } = await prisma.auditRun.create({ data: { ...finished, broken: [...finished.broken] } });
    if (finished.broken.length > 0 || !(await claim(primary, id, finished, before))) return false;
    // The primary's connection is idle while the next page is read.
    await primary.query('set local idle_in_transaction_session_timeout = 0');
    for await (const page of pagesOf(client, marks)) await storeMarks(primary, ...page);
    for await (const page of pagesOf(client, changedBalances)) await storeBalances(primary, ...page);
    return true;
  });
}

/** Moves the checkpoint to this audit, unless another audit has replaced the checkpoint that this one saw. */
async function claim(primary: pg.ClientBase, runId: string, { coversUntil }: FinishedAudit, before: Checkpoint) {
  const claimed = await storeCheckpoint(primary, runId, coversUntil, rulesDigest, before.epochId, before.runId);
  return claimed.length === 1;
}

const storeCheckpoint = statement<{ runId: string }>(
  'store_audit_checkpoint',
  `insert into audit_checkpoint (run_id, covers_until, rules_digest, epoch_id) values ($1, $2, $3, $4)
   on conflict (id) do update set run_id = excluded.run_id, covers_until = excluded.covers_until,
     rules_digest = excluded.rules_digest, epoch_id = excluded.epoch_id
   where audit_checkpoint.run_id is not distinct from $5
   returning run_id`,
);

/** Selects where the rows after this audit begin (rows-since.ts), per platform. */
const marks = `select p.id, coalesce(f.sequence, 0),
    (select uuid_v7_time(j.id) from journal j where j.platform_id = p.id order by j.id desc limit 1)
  from platform p left join feed_head f on f.platform_id = p.id`;
const storeMarks = statement<Record<never, never>>(
  'store_audit_marks',
  `insert into audit_mark (platform_id, sequence, journal_at)
   select * from unnest($1::uuid[], $2::bigint[], $3::timestamptz[])
   on conflict (platform_id) do update set sequence = excluded.sequence, journal_at = excluded.journal_at`,
);

const changedBalances = `select a.platform_id, a.id, a.version, a.posted
  from account a left join audit_balance b on b.platform_id = a.platform_id and b.account_id = a.id
  where a.kind = 'INTERNAL' and (a.version, a.posted) is distinct from (b.version, b.posted)`;
const storeBalances = statement<Record<never, never>>(
  'store_audit_balances',
  `insert into audit_balance (platform_id, account_id, version, posted)
   select * from unnest($1::uuid[], $2::uuid[], $3::int[], $4::bigint[])
   on conflict (platform_id, account_id) do update set version = excluded.version, posted = excluded.posted`,
);

/** The number of rows stored at a time. */
const pageSize = 10_000;

/** Reads the rows of a query in chunks, in a connection's current transaction, as one array per column. */
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

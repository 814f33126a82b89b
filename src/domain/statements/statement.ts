import type { Period } from '../../core/checks.ts';
import { accountNameIn } from '../../core/ids.ts';
import { Refusal } from '../../core/refusal.ts';
import type { Database } from '../../infra/database/database.ts';
import { statement } from '../../infra/database/statement.ts';
import type { Caller } from '../access/caller.ts';
import { forCaller, visibleRow } from '../access/visible.ts';
import { balanceAt, checkPeriod, versionBefore } from './period.ts';

/** An internal account's balances at both ends of a period, and the sums of the entries between, in smallest units. */
export interface StatementHead {
  readonly accountId: string;
  readonly customerId: string | null;
  readonly currency: string;
  readonly openingBalance: bigint;
  readonly closingBalance: bigint;
  /** The statement's entries have versions above this one. */
  readonly openingVersion: number;
  /** The statement's entries have versions up to this one. */
  readonly closingVersion: number;
  readonly creditCount: number;
  readonly creditSum: string;
  readonly debitCount: number;
  readonly debitSum: string;
  readonly madeAt: Date;
}

export interface StatementEntry {
  readonly version: number;
  readonly journalId: string;
  readonly leg: number;
  readonly kind: string;
  readonly occurredAt: Date;
  readonly amount: bigint;
  readonly balance: bigint;
  readonly transactionId: string | null;
  readonly reference: string | null;
}

const headStatement = forCaller(
  statement<StatementHead>(
    'statement_head',
    `select s.id as account_id, s.customer_id, s.currency, s.opening_version, s.closing_version,
       ${balanceAt('s', 's.opening_version')} as opening_balance, ${balanceAt('s', 's.closing_version')} as closing_balance,
       e.credit_count, e.credit_sum, e.debit_count, e.debit_sum, clock_timestamp() as made_at
     from (select a.platform_id, a.id, a.customer_id, a.currency, ${versionBefore('a', '$5::timestamptz')} as opening_version,
         ${versionBefore('a', '$6::timestamptz')} as closing_version
       from account a where ${visibleRow('account', 'a')} and a.id = $4 and a.kind = 'INTERNAL' offset 0) s,
     lateral (select count(*) filter (where p.amount > 0)::int as credit_count,
         coalesce(sum(p.amount) filter (where p.amount > 0), 0)::text as credit_sum,
         count(*) filter (where p.amount < 0)::int as debit_count,
         coalesce(-sum(p.amount) filter (where p.amount < 0), 0)::text as debit_sum
       from posting p where p.platform_id = s.platform_id and p.account_id = s.id
         and p.account_version > s.opening_version and p.account_version <= s.closing_version) e`,
  ),
);

/**
 * Reads the head of a statement from one snapshot.
 * @throws Refusal ACCOUNT_NOT_FOUND for an account that is external or not visible to the caller; INVALID_INPUT
 */
export async function readStatementHead(
  { pool }: Pick<Database, 'pool'>,
  caller: Caller,
  accountId: string,
  period: Period,
): Promise<StatementHead> {
  checkPeriod(period, ['to']);
  const name = accountNameIn(accountId);
  const [head] =
    name?.kind === 'INTERNAL' ? await headStatement(pool, caller, name.id, period.from, period.to) : [undefined];
  if (!head) throw new Refusal('ACCOUNT_NOT_FOUND', 'no such internal account', ['accountId']);
  return head;
}

const chunk = 500;

const entriesStatement = forCaller(
  statement<StatementEntry>(
    'statement_entries',
    `select p.account_version as version, p.journal_id, p.leg, j.kind, j.created_at as occurred_at, p.amount,
       p.balance_after as balance, t.id as transaction_id, t.reference
     from account a
     join posting p on p.platform_id = a.platform_id and p.account_id = a.id
     join journal j on j.platform_id = p.platform_id and j.id = p.journal_id
     left join transaction t on t.platform_id = j.platform_id and t.id = j.transaction_id and ${visibleRow('transaction', 't')}
     where ${visibleRow('account', 'a')} and a.id = $4 and p.account_version > $5 and p.account_version <= $6
     order by p.account_version limit ${chunk}`,
  ),
);

/**
 * Reads the entries of a statement in chunks, oldest first. Postings never change, and their versions decide which of
 * them belong to the statement, so all entries match the snapshot of the head.
 */
export async function* statementEntries(
  { pool }: Pick<Database, 'pool'>,
  caller: Caller,
  { accountId, openingVersion, closingVersion }: StatementHead,
): AsyncGenerator<StatementEntry[], void, undefined> {
  for (let after = openingVersion; ; ) {
    const entries = await entriesStatement(pool, caller, accountId, after, closingVersion);
    const last = entries.at(-1);
    if (!last) return;
    yield entries;
    if (entries.length < chunk) return;
    after = last.version;
  }
}

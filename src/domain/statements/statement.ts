import { hash } from 'node:crypto';
import { stringify } from 'csv-stringify/sync';
import XMLBuilder from 'fast-xml-builder';
import type { Period } from '../../core/checks.ts';
import { formatDecimal, requiredCurrency } from '../../core/currencies.ts';
import { accountNameIn, publicId } from '../../core/ids.ts';
import { invalid, Refusal } from '../../core/refusal.ts';
import type { Database } from '../../infra/database/database.ts';
import { statement } from '../../infra/database/statement.ts';
import type { Caller } from '../access/caller.ts';
import { forCaller, visibleRow } from '../access/visible.ts';

/** Returns the part of a period that had passed when its statement was created. Later balances are unknown. */
export function past({ from, to }: Period, { madeAt }: { readonly madeAt: Date }): Period {
  return { from: from < madeAt ? from : madeAt, to: to < madeAt ? to : madeAt };
}

/**
 * Returns SQL for the version of an internal account's last posting before `moment`. As a subquery, it is computed only
 * once, not for each row. `account` has the columns platform_id and id.
 */
export function versionBefore(account: string, moment: string): string {
  return `(select account_version_before(${account}.platform_id, ${account}.id, ${moment}))`;
}

/** Returns SQL for an internal account's balance at a version. `account` has the columns platform_id and id. */
export function balanceAt(account: string, version: string): string {
  return `coalesce((select p.balance_after from posting p where p.platform_id = ${account}.platform_id and p.account_id = ${account}.id
    and p.account_version <= ${version} order by p.account_version desc limit 1), 0)`;
}

/** An internal account's balances at both ends of a period, and the sums of its entries, in the smallest unit. */
interface StatementHead {
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

interface StatementEntry {
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

/** Reads a statement's head from one snapshot. @throws Refusal ACCOUNT_NOT_FOUND (also if external), INVALID_INPUT */
export async function readStatementHead(
  { pool }: Pick<Database, 'pool'>,
  caller: Caller,
  accountId: string,
  period: Period,
): Promise<StatementHead> {
  if (period.to < period.from) throw invalid('the period must not end before it begins', ['to']);
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
 * Reads a statement's entries in chunks, oldest first. Postings never change, and their versions determine which of
 * them belong to the statement, so all entries match the head's snapshot.
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

/**
 * Returns the function that writes a statement in the given format.
 * @throws Refusal INVALID_CURRENCY for camt.053, which requires a three-letter currency code (ISO 4217) and at most
 *   five decimals
 */
export function statementWriter(format: 'csv' | 'camt.053', { currency }: StatementHead) {
  if (format === 'csv') return statementCsv;
  if (/^[A-Z]{3}$/.test(currency) && requiredCurrency(currency).decimals <= 5) return statementCamt;
  throw new Refusal('INVALID_CURRENCY', `camt.053 cannot express amounts in ${currency}; use csv`, ['format']);
}

const columns = ['occurredAt', 'entryId', 'kind', 'transactionId', 'reference', 'amount', 'currency', 'balance'];

/**
 * Writes a statement as CSV (RFC 4180): the opening balance, every entry with the balance after it, and the closing
 * balance. Amounts are exact, in major units. No column contains free text, which a spreadsheet could interpret as a
 * formula.
 */
async function* statementCsv(head: StatementHead, period: Period, chunks: AsyncIterable<StatementEntry[]>) {
  const { decimals } = requiredCurrency(head.currency);
  const { from, to } = past(period, head);
  const { currency } = head;
  const lines = (records: readonly object[], header = false) =>
    stringify([...records], { columns, header, record_delimiter: 'windows' });
  const balanceLine = (at: Date, kind: string, amount: bigint) => {
    return { occurredAt: at.toISOString(), kind, currency, balance: formatDecimal(amount, decimals) };
  };
  yield lines([balanceLine(from, 'OPENING_BALANCE', head.openingBalance)], true);
  for await (const entries of chunks) {
    const records = entries.map(({ occurredAt, journalId, leg, kind, transactionId, reference, amount, balance }) => ({
      ...{ occurredAt: occurredAt.toISOString(), entryId: `${publicId('LedgerEntry', journalId)}.${leg}`, reference },
      ...{ kind: kind.toUpperCase(), transactionId: transactionId && publicId('Transaction', transactionId) },
      ...{ amount: formatDecimal(amount, decimals), currency, balance: formatDecimal(balance, decimals) },
    }));
    yield lines(records);
  }
  yield lines([balanceLine(to, 'CLOSING_BALANCE', head.closingBalance)]);
}

// ISO 20022, Bank to Customer Statement, camt.053.001.08. Object properties are in the order that the standard
// prescribes for the elements. Identifiers have at most 35 characters, so UUIDs are written without hyphens.

const namespace = 'urn:iso:std:iso:20022:tech:xsd:camt.053.001.08';
const builder = new XMLBuilder({ ignoreAttributes: false, attributeNamePrefix: '@' });

const compact = (uuid: string) => uuid.replaceAll('-', '');

/** The kinds of journals that reverse an earlier debit or credit. Their entries are marked as reversals. */
const reversals: ReadonlySet<string> = new Set(['refund', 'return', 'resumption']);

/** Writes a statement as a camt.053 document. Identical contents produce identical ids. */
async function* statementCamt(head: StatementHead, period: Period, chunks: AsyncIterable<StatementEntry[]>) {
  const { currency, madeAt } = head;
  const contents = [head.accountId, period.from.toISOString(), period.to.toISOString(), head.closingVersion].join(' ');
  const id = hash('sha256', contents).slice(0, 32);
  const { from, to } = past(period, head);
  const balance = (code: 'OPBD' | 'CLBD' | 'ITBD', amount: bigint, at: Date) => {
    return { Tp: { CdOrPrtry: { Cd: code } }, ...camtMoney(amount, currency), Dt: { DtTm: at.toISOString() } };
  };
  const { decimals } = requiredCurrency(currency);
  const sum = (count: number, amount: string) => {
    return { NbOfNtries: String(count), Sum: formatDecimal(BigInt(amount), decimals) };
  };
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="${namespace}"><BkToCstmrStmt>`;
  yield builder.build({ GrpHdr: { MsgId: id, CreDtTm: madeAt.toISOString() } });
  yield '<Stmt>';
  yield builder.build({
    Id: id,
    CreDtTm: madeAt.toISOString(),
    FrToDt: { FrDtTm: from.toISOString(), ToDtTm: to.toISOString() },
    Acct: { Id: { Othr: { Id: compact(head.accountId) } }, Ccy: currency },
    // If the period is not over, the last balance is an interim balance.
    Bal: [
      balance('OPBD', head.openingBalance, from),
      balance(to < period.to ? 'ITBD' : 'CLBD', head.closingBalance, to),
    ],
    TxsSummry: {
      TtlCdtNtries: sum(head.creditCount, head.creditSum),
      TtlDbtNtries: sum(head.debitCount, head.debitSum),
    },
  });
  for await (const entries of chunks) yield builder.build({ Ntry: entries.map((entry) => camtEntry(entry, currency)) });
  yield '</Stmt></BkToCstmrStmt></Document>\n';
}

/** Converts an amount to an unsigned amount and a direction. */
function camtMoney(amount: bigint, currency: string) {
  const absolute = amount < 0n ? -amount : amount;
  return {
    Amt: { '@Ccy': currency, '#text': formatDecimal(absolute, requiredCurrency(currency).decimals) },
    CdtDbtInd: amount < 0n ? 'DBIT' : 'CRDT',
  };
}

function camtEntry(
  { version, journalId, leg, kind, occurredAt, amount, transactionId, reference }: StatementEntry,
  currency: string,
) {
  const at = { DtTm: occurredAt.toISOString() };
  const refs = transactionId && { ...(reference && { EndToEndId: reference }), TxId: compact(transactionId) };
  return {
    NtryRef: String(version),
    ...camtMoney(amount, currency),
    ...(reversals.has(kind) && { RvslInd: 'true' }),
    Sts: { Cd: 'BOOK' },
    BookgDt: at,
    ValDt: at,
    // The reference has at most 35 characters: 32 for the id, a dot, and the leg's number.
    AcctSvcrRef: `${compact(journalId)}.${leg}`,
    BkTxCd: { Prtry: { Cd: kind.toUpperCase() } },
    ...(refs && { NtryDtls: { TxDtls: { Refs: refs } } }),
  };
}

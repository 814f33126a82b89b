import type pg from 'pg';
import { DatabaseClient } from '../database/connections/hosts.ts';
import { connectionConfig, type Database } from '../database/database.ts';
import { transactionOn } from '../database/transaction.ts';
import { ledgerRules } from './ledger-rules.ts';

/** A broken rule of the ledger. */
export interface Breach {
  /** The rule, in words. */
  readonly rule: string;
  /** The rows that break it, at most 20 of them. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/**
 * Checks all rows of the ledger against its rules, in one consistent snapshot of the database. Uses a connection of its
 * own, because it may take longer than any other statement is allowed to.
 * @param onRule called with the words of each rule before it is checked
 * @returns the broken rules with their rows; none for a sound ledger
 */
export async function audit(
  { url }: Pick<Database, 'url'>,
  onRule: (rule: string) => void = () => undefined,
): Promise<Breach[]> {
  const client = new DatabaseClient(connectionConfig({ url, role: 'gateway_work', use: 'audit' }));
  await client.connect();
  try {
    return await transactionOn(client, () => findBreaches(client, onRule), {
      begin: 'begin isolation level repeatable read read only',
    });
  } finally {
    await client.end();
  }
}

async function findBreaches(client: pg.Client, onRule: (rule: string) => void): Promise<Breach[]> {
  await client.query('set local statement_timeout = 0');
  // Grouping all rows spills to disk with the usual work_mem of a server.
  await client.query("set local work_mem = '128MB'");
  const breaches: Breach[] = [];
  for (const { rule, offenders } of ledgerRules) {
    onRule(rule);
    const { rows } = await client.query<Record<string, unknown>>(`select * from (${offenders}) offenders limit 20`);
    if (rows.length > 0) breaches.push({ rule, rows });
  }
  return breaches;
}

/** The number of rules that an audit checks. */
export const auditRules = ledgerRules.length;

/** Notes in the database that an audit has finished, and which rules it found broken: metrics of all instances show the last one. */
export async function recordAudit({ prisma }: Pick<Database, 'prisma'>, breaches: readonly Breach[]): Promise<void> {
  await prisma.auditRun.create({ data: { rules: auditRules, broken: breaches.map(({ rule }) => rule) } });
}

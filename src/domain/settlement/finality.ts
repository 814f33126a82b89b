import { asPlatform } from '../../infra/database/connections/platform-scope.ts';
import type { Database } from '../../infra/database/database.ts';
import type { QuoteStatus, Transaction, TransactionStatus } from '../../infra/database/generated/client/client.ts';
import { statement } from '../../infra/database/statement.ts';

export interface Finality {
  readonly version: number;
  /** Whether the transaction can no longer change (prisma/functions/events/is_final.sql). */
  readonly isFinal: boolean;
  /** The time until the rail is queried again, in milliseconds; null if it will not be. */
  readonly dueInMs: number | null;
}

const finalityStatement = statement<Finality>(
  'transaction_finality',
  `select t.version,
     is_final(t.platform_id, t.id, t.status, t.version),
     ceil(extract(epoch from o.due_at - clock_timestamp()) * 1000)::float8 as due_in_ms
   from transaction t,
     lateral (select min(due_at) as due_at from rail_order r where r.platform_id = t.platform_id and r.transaction_id = t.id) o
   where t.platform_id = $1 and t.id = $2`,
);

/** Checks whether a transaction can still change. Returns undefined if there is no such transaction. */
export async function finalityOf({ pool }: Pick<Database, 'pool'>, platformId: string, transactionId: string) {
  const [finality] = await asPlatform(platformId, () => finalityStatement(pool, platformId, transactionId));
  return finality;
}

/** Returns whether a row is the final version of its transaction. */
export async function isFinal(
  database: Pick<Database, 'pool'>,
  { platformId, id, version }: Pick<Transaction, 'platformId' | 'id' | 'version'>,
): Promise<boolean> {
  const finality = await finalityOf(database, platformId, id);
  return finality?.isFinal === true && finality.version === version;
}

/** The terminal statuses of a transaction, as in the database's `is_terminal`. COMPLETED may still become REFUNDED. */
export const terminalTransactionStatuses: ReadonlySet<TransactionStatus> = new Set([
  'COMPLETED',
  'REJECTED',
  'FAILED',
  'REFUNDED',
  'EXPIRED',
]);

/** The terminal statuses of a quote, as listed in the database's `announce_quote`. */
export const terminalQuoteStatuses: ReadonlySet<QuoteStatus> = new Set(['COMPLETED', 'FAILED', 'EXPIRED']);

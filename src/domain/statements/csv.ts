import { stringify } from 'csv-stringify/sync';
import type { Period } from '../../core/checks.ts';
import { formatDecimal, requiredCurrency } from '../../core/currencies.ts';
import { publicId } from '../../core/ids.ts';
import { past } from './period.ts';
import type { StatementEntry, StatementHead } from './statement.ts';

const columns = ['occurredAt', 'entryId', 'kind', 'transactionId', 'reference', 'amount', 'currency', 'balance'];

/**
 * Writes a statement as CSV (RFC 4180): the opening balance, every entry with the balance after it, and the closing
 * balance. Amounts are exact, in major units. No column contains free text, which a spreadsheet could interpret as a
 * formula.
 */
export async function* statementCsv(
  head: StatementHead,
  period: Period,
  chunks: AsyncIterable<StatementEntry[]>,
): AsyncGenerator<string, void, undefined> {
  const { decimals } = requiredCurrency(head.currency);
  const { from, to } = past(period, head);
  const lines = (rows: readonly (readonly (string | null)[])[]) =>
    stringify(rows as (string | null)[][], { record_delimiter: 'windows' });
  const balance = (at: Date, kind: string, amount: bigint) => [
    at.toISOString(),
    null,
    kind,
    null,
    null,
    null,
    head.currency,
    formatDecimal(amount, decimals),
  ];
  yield lines([columns, balance(from, 'OPENING_BALANCE', head.openingBalance)]);
  for await (const entries of chunks) {
    yield lines(
      entries.map((entry) => [
        entry.occurredAt.toISOString(),
        `${publicId('LedgerEntry', entry.journalId)}.${entry.leg}`,
        entry.kind.toUpperCase(),
        entry.transactionId && publicId('Transaction', entry.transactionId),
        entry.reference,
        formatDecimal(entry.amount, decimals),
        head.currency,
        formatDecimal(entry.balance, decimals),
      ]),
    );
  }
  yield lines([balance(to, 'CLOSING_BALANCE', head.closingBalance)]);
}

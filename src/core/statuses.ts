import type { QuoteStatus, TransactionStatus } from '../infra/database/generated/client/client.ts';

/** The final statuses of a transaction, as in `is_terminal` of the database. (COMPLETED may still become REFUNDED.) */
export const terminalTransactionStatuses: ReadonlySet<TransactionStatus> = new Set([
  'COMPLETED',
  'REJECTED',
  'FAILED',
  'REFUNDED',
  'EXPIRED',
]);

/** The final statuses of a quote, as `announce_quote` lists them in the database. */
export const terminalQuoteStatuses: ReadonlySet<QuoteStatus> = new Set(['COMPLETED', 'FAILED', 'EXPIRED']);

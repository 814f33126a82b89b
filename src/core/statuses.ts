import type { QuoteStatus, TransactionStatus } from '../database/generated/client/client.ts';

/** Statuses in which a payment has come to its end, as `is_terminal` says in the database. (COMPLETED may still become REFUNDED.) */
export const terminalTransactionStatuses: ReadonlySet<TransactionStatus> = new Set([
  'COMPLETED',
  'REJECTED',
  'FAILED',
  'REFUNDED',
  'EXPIRED',
]);

/** Statuses in which a quote has come to its end, as `announce_quote` says in the database. */
export const terminalQuoteStatuses: ReadonlySet<QuoteStatus> = new Set(['COMPLETED', 'FAILED', 'EXPIRED']);

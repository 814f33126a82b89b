import type { QuoteStatus, TransactionStatus } from '../infra/database/generated/client/client.ts';

/** The final statuses of a transaction, as in the database's `is_terminal`. (COMPLETED may still become REFUNDED.) */
export const terminalTransactionStatuses: ReadonlySet<TransactionStatus> = new Set([
  'COMPLETED',
  'REJECTED',
  'FAILED',
  'REFUNDED',
  'EXPIRED',
]);

/** The final statuses of a quote, as listed in the database's `announce_quote`. */
export const terminalQuoteStatuses: ReadonlySet<QuoteStatus> = new Set(['COMPLETED', 'FAILED', 'EXPIRED']);

import type { Quote } from '../../infra/database/rows.ts';
import type { Plan, QuoteMove } from '../ledger/plan.ts';

/**
 * Plans that a quote which was not executed ends as EXPIRED, with its transaction. `expiry`: only before or only after its
 * expiry, by the clock of the database.
 */
export function quoteEnd(
  quote: Pick<Quote, 'id' | 'transactionId'>,
  reason: string,
  expiry: NonNullable<QuoteMove['expiry']>,
): Pick<Plan, 'quotes' | 'transactions'> {
  const end = { from: ['PENDING'], to: 'EXPIRED', reason } as const;
  return {
    quotes: [{ id: quote.id, ...end, expiry }],
    transactions: [{ id: quote.transactionId, ...end, set: { failureReason: 'QUOTE_EXPIRED' } }],
  };
}

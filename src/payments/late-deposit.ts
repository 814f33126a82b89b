import type { Quote } from '../database/rows.ts';
import type { Plan } from '../ledger/plan.ts';
import { deposit } from './movements.ts';
import { Refusal } from './refusal.ts';

/**
 * The plan for money that comes after its quote's expiry: nothing is converted, the whole amount (smallest units of the
 * sending currency) goes to the customer's account of that currency, under the payment that it was meant for, so that its
 * ledger entries show it. A payment that has not been marked expired yet fails with QUOTE_EXPIRED. One that has been stays
 * EXPIRED, whose failureReason says the same: EXPIRED is terminal, its streams have ended, and no status follows it.
 * @throws Refusal CONFLICT when the quote was paid before
 */
export function lateDeposit(
  quote: Quote,
  late: { readonly amount: bigint; readonly accountId: string; readonly paidBefore: boolean },
): Plan {
  const reason = `${late.amount} arrived after the quote's expiry; the money is in the customer's ${quote.sendingCurrency} account`;
  const journals = [deposit(late.accountId, quote.sendingCurrency, late.amount, quote.transactionId)];
  if (quote.status === 'EXPIRED') {
    if (late.paidBefore) {
      throw new Refusal('CONFLICT', 'a deposit for this quote has already arrived', {
        field: 'quoteId',
        status: quote.status,
      });
    }
    return { journals };
  }
  return {
    quotes: [{ id: quote.id, from: ['PENDING'], to: 'FAILED', expiry: 'after', reason }],
    transactions: [
      { id: quote.transactionId, from: ['PENDING'], to: 'FAILED', reason, set: { failureReason: 'QUOTE_EXPIRED' } },
    ],
    journals,
  };
}

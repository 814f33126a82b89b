import type { Quote } from '../../database/rows.ts';
import type { Alternative, Journal } from '../../ledger/plan.ts';

/**
 * What becomes of a deposit that comes after its quote's expiry: nothing is converted, the money goes to the customer's account
 * of the sending currency, under the payment that it was meant for. A payment that has not been marked EXPIRED yet fails with
 * QUOTE_EXPIRED. One that has been stays EXPIRED, since that is terminal and its streams have ended; it takes one deposit. Any
 * further one is refused with CONFLICT.
 * @param arrived the deposit's journal, to the customer's account
 * @param amount all that arrived, in smallest units of the sending currency
 */
export function lateDeposit(quote: Quote, arrived: Journal, amount: bigint): Alternative {
  const reason = `${amount} arrived after the quote's expiry; the money is in the customer's ${quote.sendingCurrency} account`;
  return {
    // The plan before it was refused by the clock, so only the status is asked for: a clock that is set back changes nothing.
    quotes: [{ id: quote.id, from: ['PENDING'], to: 'FAILED', reason }],
    transactions: [
      { id: quote.transactionId, from: ['PENDING'], to: 'FAILED', reason, set: { failureReason: 'QUOTE_EXPIRED' } },
    ],
    journals: [arrived],
    otherwise: { expired: [{ id: quote.id }], journals: [arrived] },
  };
}

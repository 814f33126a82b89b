import type { Quote } from '../../database/rows.ts';
import type { Alternative, Journal } from '../../ledger/plan.ts';

/**
 * Plans what happens with a deposit after its quote's expiry. Nothing is converted: the money goes to the customer's
 * account in the sending currency, under the payment that it was meant for. A payment that is not marked EXPIRED yet
 * fails with QUOTE_EXPIRED. One that is marked stays EXPIRED, because that is terminal and its streams have ended; it
 * takes one deposit. Any further deposit is refused with CONFLICT.
 * @param arrived the journal of the deposit, to the customer's account
 * @param amount all that arrived, in smallest units of the sending currency
 */
export function planLateDeposit(quote: Quote, arrived: Journal, amount: bigint): Alternative {
  const reason = `${amount} arrived after the quote's expiry; the money is in the customer's ${quote.sendingCurrency} account`;
  return {
    // The clock has refused the plan before this one, so this one checks only the status: setting the clock back
    // changes nothing.
    quotes: [{ id: quote.id, from: ['PENDING'], to: 'FAILED', reason }],
    transactions: [
      { id: quote.transactionId, from: ['PENDING'], to: 'FAILED', reason, set: { failureReason: 'QUOTE_EXPIRED' } },
    ],
    journals: [arrived],
    otherwise: { expired: [{ id: quote.id }], journals: [arrived] },
  };
}

import { uuidOf } from '../../core/ids.ts';
import { type Expecting, pathsIn, Refusal } from '../../core/refusal.ts';
import { statement } from '../../infra/database/statement.ts';
import { forCaller, visibleRow } from '../access/visible.ts';
import { command } from '../commands/command.ts';
import { quoteEnd } from './expiry.ts';

const at = pathsIn<{ readonly quoteId: string }>();

const cancellableStatement = forCaller(
  statement<{ id: string; transactionId: string }>(
    'cancellable_quote',
    `select q.id, q.transaction_id from quote q where ${visibleRow('quote', 'q')} and q.id = $4`,
  ),
);

/**
 * Cancels a quote that has been neither executed nor paid: it is EXPIRED at once, as is its transaction (decision 67).
 * A deposit that arrives afterwards is credited, as it is after an expiry.
 * @throws Refusal QUOTE_NOT_FOUND, QUOTE_EXPIRED (also if it was cancelled before), CONFLICT (executed or paid),
 *   IDEMPOTENCY_MISMATCH
 */
export const cancelQuote = command((payments, caller, input: { readonly quoteId: string } & Expecting) => ({
  operation: 'cancelQuote',
  readsOnly: true,
  type: 'Quote',
  plan: async () => {
    const uuid = uuidOf(input.quoteId, 'Quote');
    const [quote] = uuid ? await cancellableStatement(payments.database.pool, caller, uuid) : [];
    if (!quote) throw new Refusal('QUOTE_NOT_FOUND', 'no such quote', at('quoteId'));
    return { ...quoteEnd(quote, 'cancelled before it was executed or funded', 'before'), result: quote.id };
  },
  path: at('quoteId'),
  conflict: { reason: 'only a quote that is PENDING can be cancelled' },
}));

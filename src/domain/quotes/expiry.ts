import { boundedCache } from '../../core/bounded-cache.ts';
import type { Quote } from '../../infra/database/rows.ts';
import { statement } from '../../infra/database/statement.ts';
import type { Payments } from '../commands/command.ts';
import { commitGroups, type PlanRefusal } from '../ledger/commit.ts';
import type { Plan, QuoteMove } from '../ledger/plan.ts';

const expiredStatement = statement<{ platformId: string; id: string; transactionId: string }>(
  'expired_quotes',
  // The subquery reads the clock once. If the clock were read for each row, Postgres could not use the index.
  `select platform_id, id, transaction_id from quote
   where status = 'PENDING' and expires_at <= (select clock_timestamp()) order by expires_at limit $1`,
);

const nextExpiryStatement = statement<{ waitMs: number }>(
  'next_quote_expiry',
  `select greatest(0, extract(epoch from expires_at - clock_timestamp()) * 1000)::float8 as wait_ms
   from quote where status = 'PENDING' order by expires_at limit 1`,
);

/** Quotes for which a failure to expire them has been logged. Further failures are not. */
const loggedQuotes = boundedCache<true>(10_000);

/** Returns the number of milliseconds until the next open quote expires; undefined if no quote is open. */
export async function nextQuoteExpiry(payments: Payments): Promise<number | undefined> {
  const [row] = await nextExpiryStatement(payments.database.pool);
  return row?.waitMs;
}

/**
 * Marks up to `limit` quotes as EXPIRED after their expiry, along with their transactions. The row lock decides a race
 * with an execution: whichever holds it first wins, and the other is refused.
 * @returns how many quotes were found, and how many of them expired now
 */
export async function expireQuotes(payments: Payments, limit: number) {
  const expired = await expiredStatement(payments.database.pool, limit);
  const reason = 'the quote expired before it was executed or funded';
  const logFailure = (facts: object, position: number) => {
    const quote = expired[position]?.id ?? '';
    if (loggedQuotes.has(quote)) return;
    loggedQuotes.set(quote, true);
    payments.log.error({ ...facts, quote }, 'could not expire a quote; will retry');
  };
  const refusals = await commitGroups(
    payments.database,
    expired.map((quote) => [{ platformId: quote.platformId, plan: quoteEnd(quote, reason, 'after') }]),
    (error, position) => logFailure({ err: error }, position),
  );
  // The quote may be expired already: by another process, or by this one if the answer to its commit was lost.
  const isDone = (refusal: PlanRefusal | null | undefined) => refusal === null || refusal?.code === 'QUOTE_EXPIRED';
  for (const [position, refusal] of refusals.entries())
    if (refusal && !isDone(refusal)) logFailure({ refusal }, position);
  return { found: expired.length, done: refusals.filter(isDone).length };
}

/** Plans the end of an unexecuted quote and its transaction as EXPIRED, valid only before or only after its expiry. */
export function quoteEnd(
  quote: Pick<Quote, 'id' | 'transactionId'>,
  reason: string,
  expiry: NonNullable<QuoteMove['expiry']>,
): Pick<Plan, 'quotes' | 'transactions'> {
  const { id, transactionId } = quote;
  const end = { to: 'EXPIRED', reason } as const;
  const set = { failureReason: 'QUOTE_EXPIRED' } as const;
  return {
    quotes: [{ id, from: ['PENDING'], ...end, expiry }],
    // The transaction is CREATED if its payment by deposit was never approved.
    transactions: [{ id: transactionId, from: ['PENDING', 'CREATED'], ...end, set }],
  };
}
